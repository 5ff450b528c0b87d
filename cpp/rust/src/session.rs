use crate::error::{call, Error};
use crate::ffi::{self, Handle};
use crate::options::{EncodeOptions, Special, SpecialSet};
use crate::tokenizer::{view, Tokenizer};
use std::marker::PhantomData;
use std::sync::Arc;
use std::{fmt, ptr};

/// Says how a call has changed the ids of a [`Session`]: the first `keep` and the last `tail` ids
/// stay, and `ids` come between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch<'a> {
    /// The number of first ids that stay, as large as possible.
    pub keep: usize,
    /// The number of last ids that stay.
    pub tail: usize,
    /// The new ids between them.
    pub ids: &'a [u32],
}

/// A text that changes, and its ids. After each call the ids are those of the whole text, but a
/// change encodes only the text near it.
///
/// [`Tokenizer::session`] makes a session. Positions count bytes. An error leaves a session
/// unchanged; the position of an error counts from the start of the whole text.
///
/// ```
/// use pretok::{EncodeOptions, Special, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let mut session = tokenizer.session(&EncodeOptions::default())?;
/// session.append("hello hell")?;
/// let patch = session.append("o")?;
/// assert_eq!((patch.keep, patch.ids), (2, &[9][..]));
/// assert_eq!(session.ids(), tokenizer.encode("hello hello")?);
///
/// // Ids that a model made stay as they are.
/// let mut branch = session.fork()?;
/// branch.extend(&[8, 4])?;
/// assert_eq!((branch.ids(), branch.text()), (&[9, 5, 9, 8, 4][..], &b"hello hellohello"[..]));
///
/// session.replace(0, 6, "")?;
/// session.set_special(Special::Allow)?;
/// session.append("<s>")?;
/// assert_eq!((session.ids(), session.text()), (&[9, 0][..], &b"hello<s>"[..]));
/// # Ok::<(), pretok::Error>(())
/// ```
///
/// A tokenizer outlives its sessions, and a patch ends with the next call:
///
/// ```compile_fail
/// use pretok::{EncodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE).unwrap();
/// let mut session = tokenizer.session(&EncodeOptions::default()).unwrap();
/// let patch = session.append("hello").unwrap();
/// session.append("hello").unwrap();
/// assert_eq!(patch.keep, 0);
/// ```
pub struct Session<'a> {
    handle: *mut Handle, // owned; freed before the sets
    tokenizer: *const Handle,
    options: ffi::RawEncodeOptions, // of the next text
    sets: Vec<Arc<NamedSet>>,
    _tokenizer: PhantomData<&'a Tokenizer>,
}

/// A set with its texts. Texts with the same set are one text, so equal sets must be one.
struct NamedSet {
    texts: Vec<String>,
    set: SpecialSet,
}

// SAFETY: one thread at a time may use a session, and its sets are immutable.
unsafe impl Send for Session<'_> {}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned.
        unsafe { ffi::pretok_session_free(self.handle) }
    }
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").field("ids", &self.ids().len()).finish_non_exhaustive()
    }
}

impl Tokenizer {
    /// Makes a session with an empty text. Its options are those of all texts;
    /// `add_special_tokens` is an error.
    pub fn session(&self, options: &EncodeOptions<'_>) -> Result<Session<'_>, Error> {
        let (raw, _set) = EncodeOptions { special: Special::Raise, ..*options }.raw(self.handle)?;
        let mut handle = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_session_new(self.handle, &raw, &mut handle, error) })?;
        let mut session = Session {
            handle,
            tokenizer: self.handle,
            options: ffi::RawEncodeOptions { continuation: false, ..raw },
            sets: Vec::new(),
            _tokenizer: PhantomData,
        };
        session.set_special(options.special)?;
        Ok(session)
    }
}

impl<'a> Session<'a> {
    /// Sets the treatment of special tokens in the texts of later calls. Neighboring texts with
    /// the same treatment are one text; no token crosses to text with another treatment.
    pub fn set_special(&mut self, special: Special<'_>) -> Result<(), Error> {
        let options = EncodeOptions { special, ..EncodeOptions::default() };
        let Special::Only(texts) = special else {
            self.options = options.raw(self.tokenizer)?.0;
            return Ok(());
        };
        let mut texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        texts.sort();
        texts.dedup();
        let (mut raw, set) = options.raw(self.tokenizer)?;
        match self.sets.iter().find(|known| known.texts == texts) {
            Some(known) => raw.allowed = known.set.0,
            None => self.sets.push(Arc::new(NamedSet { texts, set })),
        }
        self.options = raw;
        Ok(())
    }

    /// Adds a text at the end.
    pub fn append(&mut self, text: impl AsRef<[u8]>) -> Result<Patch<'_>, Error> {
        let text = text.as_ref();
        // SAFETY: all pointers are valid during the call.
        self.changed(|session, options, patch, error| unsafe {
            let data = text.as_ptr().cast();
            ffi::pretok_session_append(session, data, text.len(), options, patch, error)
        })
    }

    /// Returns the patch of [`append`](Session::append), without a change.
    pub fn peek(&mut self, text: impl AsRef<[u8]>) -> Result<Patch<'_>, Error> {
        let text = text.as_ref();
        // SAFETY: all pointers are valid during the call.
        self.changed(|session, options, patch, error| unsafe {
            let data = text.as_ptr().cast();
            ffi::pretok_session_peek(session, data, text.len(), options, patch, error)
        })
    }

    /// Changes the whole text. Encodes all but the longest common start and end.
    pub fn update(&mut self, text: impl AsRef<[u8]>) -> Result<Patch<'_>, Error> {
        let text = text.as_ref();
        // SAFETY: all pointers are valid during the call.
        self.changed(|session, options, patch, error| unsafe {
            let data = text.as_ptr().cast();
            ffi::pretok_session_update(session, data, text.len(), options, patch, error)
        })
    }

    /// Replaces the bytes from `start` to `end`, excluded.
    pub fn replace(
        &mut self,
        start: usize,
        end: usize,
        text: impl AsRef<[u8]>,
    ) -> Result<Patch<'_>, Error> {
        let text = text.as_ref();
        // SAFETY: all pointers are valid during the call, which checks the range.
        self.changed(|session, options, patch, error| unsafe {
            let data = text.as_ptr().cast();
            ffi::pretok_session_replace(
                session,
                start,
                end,
                data,
                text.len(),
                options,
                patch,
                error,
            )
        })
    }

    /// Removes the bytes from `size` on.
    pub fn truncate(&mut self, size: usize) -> Result<Patch<'_>, Error> {
        self.replace(size, self.text().len().max(size), "")
    }

    /// Adds ids that a model made. They are never encoded, and nothing merges with them. The text
    /// after them is encoded as text that continues.
    pub fn extend(&mut self, ids: &[u32]) -> Result<Patch<'_>, Error> {
        // SAFETY: all pointers are valid during the call.
        self.changed(|session, _, patch, error| unsafe {
            ffi::pretok_session_extend(session, ids.as_ptr(), ids.len(), patch, error)
        })
    }

    /// Makes an independent copy, in linear time.
    pub fn fork(&self) -> Result<Session<'a>, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_session_fork(self.handle, &mut handle, error) })?;
        let (tokenizer, sets) = (self.tokenizer, self.sets.clone());
        Ok(Session { handle, tokenizer, options: self.options, sets, _tokenizer: PhantomData })
    }

    /// Drops the text that no append changes, now and after each later call. The session then
    /// takes about 4 bytes per id. Only `append`, `peek`, `extend` and `fork` are possible
    /// afterwards, and `text` returns the end that is left.
    pub fn drop_text(&mut self) {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_session_drop_text(self.handle) }
    }

    /// Returns the ids.
    pub fn ids(&self) -> &[u32] {
        let mut count = 0;
        // SAFETY: the ids are valid until the next change, which needs the borrow to end.
        unsafe { view(ffi::pretok_session_ids(self.handle, &mut count), count) }
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: the text is valid until the next change, which needs the borrow to end.
        unsafe { view(ffi::pretok_session_text(self.handle, &mut size).cast(), size) }
    }

    /// Returns the number of first ids that stay, whatever text is appended.
    pub fn stable(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_session_stable(self.handle) }
    }

    /// Returns the spans in the text of the ids from `first` to `last`, excluded, in bytes.
    pub fn spans(&self, first: usize, last: usize) -> Result<Vec<std::ops::Range<usize>>, Error> {
        let mut spans = vec![ffi::RawSpan { start: 0, end: 0 }; last.saturating_sub(first)];
        // SAFETY: there is room for all spans. The call checks the range.
        call(|error| unsafe {
            ffi::pretok_session_spans(self.handle, first, last, spans.as_mut_ptr(), error)
        })?;
        Ok(spans.iter().map(|span| span.start..span.end).collect())
    }

    fn changed(
        &mut self,
        change: impl FnOnce(
            *mut Handle,
            &ffi::RawEncodeOptions,
            &mut ffi::RawPatch,
            &mut ffi::RawError,
        ) -> std::os::raw::c_int,
    ) -> Result<Patch<'_>, Error> {
        let mut patch = ffi::RawPatch { keep: 0, tail: 0, ids: ptr::null(), count: 0 };
        call(|error| change(self.handle, &self.options, &mut patch, error))?;
        // SAFETY: the ids are valid until the next call, which needs the borrow to end.
        let ids = unsafe { view(patch.ids, patch.count) };
        Ok(Patch { keep: patch.keep, tail: patch.tail, ids })
    }
}
