use crate::error::{call, Error};
use crate::ffi::{self, Handle};
use crate::options::{DecodeOptions, SpecialSet};
use crate::tokenizer::{view, Tokenizer};
use std::marker::PhantomData;
use std::os::raw::c_char;
use std::{fmt, ptr, str};

/// Encodes a text in chunks, which may end anywhere, even within a character. The ids of all calls
/// together are those of the whole text.
///
/// [`Tokenizer::encode_stream`] makes a stream.
///
/// ```
/// use pretok::{EncodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let mut stream = tokenizer.encode_stream(&EncodeOptions::default())?;
/// let mut ids = stream.feed("hel")?.to_vec();
/// ids.extend(stream.feed("lo")?);
/// ids.extend(stream.finish()?);
/// assert_eq!(ids, [9]);
/// # Ok::<(), pretok::Error>(())
/// ```
///
/// A tokenizer outlives its streams:
///
/// ```compile_fail
/// use pretok::{EncodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE).unwrap();
/// let mut stream = tokenizer.encode_stream(&EncodeOptions::default()).unwrap();
/// drop(tokenizer);
/// stream.feed("hello").unwrap();
/// ```
pub struct EncodeStream<'a> {
    handle: *mut Handle, // owned; freed before the set
    _set: SpecialSet,
    _tokenizer: PhantomData<&'a Tokenizer>,
}

// SAFETY: one thread at a time may use a stream.
unsafe impl Send for EncodeStream<'_> {}

impl Drop for EncodeStream<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned.
        unsafe { ffi::pretok_encode_stream_free(self.handle) }
    }
}

impl fmt::Debug for EncodeStream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EncodeStream").finish_non_exhaustive()
    }
}

impl<'a> EncodeStream<'a> {
    /// Makes a stream for `tokenizer`, which must be valid for `'a`.
    pub(crate) fn new(
        tokenizer: *const Handle,
        options: &ffi::RawEncodeOptions,
        set: SpecialSet,
    ) -> Result<EncodeStream<'a>, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_encode_stream_new(tokenizer, options, &mut handle, error)
        })?;
        Ok(EncodeStream { handle, _set: set, _tokenizer: PhantomData })
    }

    /// Appends a chunk, and returns the ids that the chunk completes. An error leaves the stream
    /// unchanged.
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>) -> Result<&[u32], Error> {
        let chunk = chunk.as_ref();
        let (mut ids, mut count) = (ptr::null(), 0);
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            let (data, size) = (chunk.as_ptr().cast(), chunk.len());
            ffi::pretok_encode_stream_feed(self.handle, data, size, &mut ids, &mut count, error)
        })?;
        // SAFETY: the ids are valid until the next call, which needs the borrow to end.
        Ok(unsafe { view(ids, count) })
    }

    /// Ends the text, and returns its last ids.
    pub fn finish(self) -> Result<Vec<u32>, Error> {
        let (mut ids, mut count) = (ptr::null(), 0);
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_encode_stream_finish(self.handle, &mut ids, &mut count, error)
        })?;
        // SAFETY: the ids are valid until the stream is freed.
        Ok(unsafe { view(ids, count) }.to_vec())
    }
}

/// Decodes a stream of ids to text, as soon as it is complete UTF-8. U+FFFD replaces invalid
/// sequences.
///
/// [`Tokenizer::decode_stream`] makes a stream.
///
/// ```
/// use pretok::{DecodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let options = DecodeOptions { stop: &["o h"], ..DecodeOptions::default() };
/// let mut stream = tokenizer.decode_stream(&options)?;
/// assert_eq!(stream.feed(&[8])?, "hell");
/// let mut beam = stream.clone();
/// assert_eq!(beam.feed(&[4, 5, 6])?, ""); // "o h" is a stop string
/// assert_eq!(beam.stopped(), Some(0));
///
/// assert_eq!(stream.feed(&[4, 4])?, "o"); // the last "o" may begin the stop string
/// assert_eq!(stream.rewind(2)?, 1); // removes ids, and thereby one byte of the text
/// assert_eq!(stream.feed(&[1])?, "h");
/// assert_eq!(stream.finish()?, "");
/// # Ok::<(), pretok::Error>(())
/// ```
pub struct DecodeStream<'a> {
    handle: *mut Handle, // owned
    _tokenizer: PhantomData<&'a Tokenizer>,
}

// SAFETY: one thread at a time may use a stream.
unsafe impl Send for DecodeStream<'_> {}

impl Drop for DecodeStream<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned.
        unsafe { ffi::pretok_decode_stream_free(self.handle) }
    }
}

impl fmt::Debug for DecodeStream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecodeStream").finish_non_exhaustive()
    }
}

/// Returns the text of a decode stream.
///
/// # Safety
///
/// `size` bytes must be valid for the lifetime of the result.
unsafe fn text_of<'a>(data: *const c_char, size: usize) -> &'a str {
    // SAFETY: as required of the caller. The library returns valid UTF-8.
    unsafe { str::from_utf8(view(data.cast(), size)).expect("pretok decodes to UTF-8") }
}

impl<'a> DecodeStream<'a> {
    /// Makes a stream for `tokenizer`, which must be valid for `'a`.
    pub(crate) fn new(
        tokenizer: *const Handle,
        options: &DecodeOptions<'_>,
    ) -> Result<DecodeStream<'a>, Error> {
        options.with(|raw| {
            let mut handle = ptr::null_mut();
            // SAFETY: all pointers are valid during the call. The stream copies the options.
            call(|error| unsafe {
                ffi::pretok_decode_stream_with(tokenizer, raw, &mut handle, error)
            })?;
            Ok(DecodeStream { handle, _tokenizer: PhantomData })
        })
    }

    /// Appends ids, and returns the text that they complete. An error leaves the stream unchanged.
    ///
    /// After a stop string, the stream ignores the later ids of the call, and further calls fail
    /// with [`ErrorKind::Finished`](crate::ErrorKind::Finished).
    pub fn feed(&mut self, ids: &[u32]) -> Result<&str, Error> {
        let (mut text, mut size) = (ptr::null(), 0);
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            let (ids, count) = (ids.as_ptr(), ids.len());
            ffi::pretok_decode_stream_feed(self.handle, ids, count, &mut text, &mut size, error)
        })?;
        // SAFETY: the text is valid until the next call, which needs the borrow to end.
        Ok(unsafe { text_of(text, size) })
    }

    /// Removes the last `count` ids, such as rejected drafts. Returns the number of bytes at the
    /// end of all text so far that are no longer part of it.
    pub fn rewind(&mut self, count: usize) -> Result<usize, Error> {
        let mut removed = 0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_decode_stream_rewind(self.handle, count, &mut removed, error)
        })?;
        Ok(removed)
    }

    /// Removes all ids. The options stay.
    pub fn reset(&mut self) -> Result<(), Error> {
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_decode_stream_reset(self.handle, error) })
    }

    /// Returns the index of the stop string that has ended the text.
    pub fn stopped(&self) -> Option<usize> {
        // SAFETY: the handle is valid.
        let index = unsafe { ffi::pretok_decode_stream_stopped(self.handle) };
        (index != ffi::NO_STOP).then_some(index)
    }

    /// Returns the number of ids that the stream has got, without rewound and ignored ones.
    pub fn id_count(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_decode_stream_size(self.handle) }
    }

    /// Ends the stream, and returns the text of the bytes that are left.
    pub fn finish(self) -> Result<String, Error> {
        let (mut text, mut size) = (ptr::null(), 0);
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_decode_stream_finish(self.handle, &mut text, &mut size, error)
        })?;
        // SAFETY: the text is valid until the stream is freed.
        Ok(unsafe { text_of(text, size) }.to_owned())
    }
}

impl Clone for DecodeStream<'_> {
    /// Copies a stream, such as for a beam.
    ///
    /// # Panics
    ///
    /// If there is not enough memory.
    fn clone(&self) -> Self {
        let mut handle = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_decode_stream_clone(self.handle, &mut handle, error) })
            .expect("there is enough memory for a stream");
        DecodeStream { handle, _tokenizer: PhantomData }
    }
}
