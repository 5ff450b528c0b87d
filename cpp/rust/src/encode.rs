use crate::error::{call, Error};
use crate::ffi;
use crate::options::{pointers, EncodeOptions};
use crate::streams::EncodeStream;
use crate::tokenizer::{view, Tokenizer};
use std::ops::Range;
use std::os::raw::c_char;
use std::ptr;

/// Frees the ids of a C function.
struct Ids(*mut u32);

impl Drop for Ids {
    fn drop(&mut self) {
        // SAFETY: the pointer is null or from a function that returns ids to free.
        unsafe { ffi::pretok_ids_free(self.0) }
    }
}

/// # Encoding
impl Tokenizer {
    /// Encodes a text with the default options: a special token in the text is an error.
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Vec<u32>, Error> {
        self.encode_with(text, &EncodeOptions::default())
    }

    /// Encodes a text. Takes linear time for usual text, and n log n in the worst case.
    pub fn encode_with(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
    ) -> Result<Vec<u32>, Error> {
        const SHORT: usize = 2048;
        let text = text.as_ref();
        let data: *const c_char = text.as_ptr().cast();
        let (raw, _set) = options.raw(self.handle)?;
        let (handle, size, mut count) = (self.handle, text.len(), 0);
        // SAFETY: the handle is valid.
        let bound = unsafe { ffi::pretok_encode_bound(handle, size) };
        if bound <= SHORT {
            let mut ids = Vec::with_capacity(bound);
            let to = ids.as_mut_ptr();
            // SAFETY: the vector has room for `bound` ids.
            call(|error| unsafe {
                ffi::pretok_encode(handle, data, size, &raw, to, bound, &mut count, error)
            })?;
            // SAFETY: the call has set `count` ids.
            unsafe { ids.set_len(count) };
            return Ok(ids);
        }
        let mut ids = Ids(ptr::null_mut());
        let to = &mut ids.0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_encode_new(handle, data, size, &raw, to, &mut count, error)
        })?;
        // SAFETY: the array has `count` ids until it is freed.
        Ok(unsafe { view(ids.0, count) }.to_vec())
    }

    /// Encodes a text, and returns its ids and the bytes of the text that each id stands for.
    ///
    /// The ranges refer to the text before normalization. Tokens that share a character have
    /// ranges that overlap. Ids before and after the text have empty ranges.
    ///
    /// ```
    /// use pretok::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let (ids, spans) = tokenizer.encode_spans("hello he", &EncodeOptions::default())?;
    /// assert_eq!(ids, [9, 5, 6]);
    /// assert_eq!(spans, [0..5, 5..6, 6..8]);
    ///
    /// let texts = ["hello", "", "he"];
    /// let threads = 0; // one per processor
    /// let ids = tokenizer.encode_batch(&texts, &EncodeOptions::default(), threads)?;
    /// assert_eq!(ids, [vec![9], vec![], vec![6]]);
    /// assert_eq!(tokenizer.count("hello he")?, 3);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn encode_spans(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
    ) -> Result<(Vec<u32>, Vec<Range<usize>>), Error> {
        let text = text.as_ref();
        let mut count = self.count_with(text, options)?;
        let (raw, _set) = options.raw(self.handle)?;
        let mut ids = vec![0; count];
        let mut spans = vec![ffi::RawSpan { start: 0, end: 0 }; count];
        // SAFETY: both vectors have room for `count` values.
        call(|error| unsafe {
            ffi::pretok_encode_spans(
                self.handle,
                text.as_ptr().cast(),
                text.len(),
                &raw,
                ids.as_mut_ptr(),
                spans.as_mut_ptr(),
                ids.len(),
                &mut count,
                error,
            )
        })?;
        Ok((ids, spans.iter().map(|span| span.start..span.end).collect()))
    }

    /// Encodes several texts on up to `threads` threads; 0 means one per processor.
    pub fn encode_batch<T: AsRef<[u8]>>(
        &self,
        texts: &[T],
        options: &EncodeOptions<'_>,
        threads: u32,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let (data, sizes) = pointers(texts);
        let mut ends = vec![0; texts.len()];
        let mut failed = usize::MAX;
        let (raw, _set) = options.raw(self.handle)?;
        let mut ids = Ids(ptr::null_mut());
        // SAFETY: the lists have `texts.len()` members, valid during the call.
        call(|error| unsafe {
            ffi::pretok_encode_batch_new(
                self.handle,
                data.as_ptr(),
                sizes.as_ptr(),
                texts.len(),
                &raw,
                threads,
                &mut ids.0,
                ends.as_mut_ptr(),
                &mut failed,
                error,
            )
        })
        .map_err(|error| match failed {
            usize::MAX => error,
            text => error.of_text(text),
        })?;
        // SAFETY: the array has the ids of all texts until it is freed.
        let all = unsafe { view(ids.0, ends.last().copied().unwrap_or(0)) };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(starts.zip(&ends).map(|(start, end)| all[start..*end].to_vec()).collect())
    }

    /// Returns the number of ids of a text, without storing them.
    pub fn count(&self, text: impl AsRef<[u8]>) -> Result<usize, Error> {
        self.count_with(text, &EncodeOptions::default())
    }

    /// Returns the number of ids of a text, with options.
    pub fn count_with(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
    ) -> Result<usize, Error> {
        let text = text.as_ref();
        let (raw, _set) = options.raw(self.handle)?;
        let mut count = 0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            let data = text.as_ptr().cast();
            ffi::pretok_count(self.handle, data, text.len(), &raw, &mut count, error)
        })?;
        Ok(count)
    }

    /// Makes a stream that encodes a text in chunks.
    pub fn encode_stream(&self, options: &EncodeOptions<'_>) -> Result<EncodeStream<'_>, Error> {
        let (raw, set) = options.raw(self.handle)?;
        EncodeStream::new(self.handle, &raw, set)
    }
}
