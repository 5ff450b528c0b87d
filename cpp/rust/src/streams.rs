use crate::error::{check, Error};
use crate::ffi::{self, Handle, RawError};
use crate::options::SpecialSet;
use crate::tokenizer::{view, Tokenizer};
use std::marker::PhantomData;
use std::os::raw::c_char;
use std::{fmt, ptr, str};

/// Encodes a text in chunks, which may end anywhere, even within a character. The ids of all calls
/// together are those of the whole text.
///
/// [`Tokenizer::encode_stream`] makes a stream. A tokenizer outlives its streams:
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
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status =
            unsafe { ffi::pretok_encode_stream_new(tokenizer, options, &mut handle, &mut error) };
        check(status, &error)?;
        Ok(EncodeStream { handle, _set: set, _tokenizer: PhantomData })
    }

    /// Appends a chunk, and returns the ids that the chunk completes. An error leaves the stream
    /// unchanged.
    ///
    /// ```
    /// # use pretok::{EncodeOptions, Tokenizer};
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let mut stream = tokenizer.encode_stream(&EncodeOptions::default())?;
    /// let first = stream.feed("hello ")?.len();
    /// assert_eq!(first + stream.feed("h")?.len() + stream.finish()?.len(), 3);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>) -> Result<&[u32], Error> {
        let chunk = chunk.as_ref();
        let mut ids = ptr::null();
        let mut count = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            let data: *const c_char = chunk.as_ptr().cast();
            let size = chunk.len();
            ffi::pretok_encode_stream_feed(
                self.handle,
                data,
                size,
                &mut ids,
                &mut count,
                &mut error,
            )
        };
        check(status, &error)?;
        // SAFETY: the ids are valid until the next call, which needs the borrow to end.
        Ok(unsafe { view(ids, count) })
    }

    /// Ends the text, and returns its last ids.
    ///
    /// ```
    /// # use pretok::{EncodeOptions, Tokenizer};
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.encode_stream(&EncodeOptions::default())?.finish()?, []);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn finish(self) -> Result<Vec<u32>, Error> {
        let mut ids = ptr::null();
        let mut count = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            ffi::pretok_encode_stream_finish(self.handle, &mut ids, &mut count, &mut error)
        };
        check(status, &error)?;
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
/// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let mut stream = tokenizer.decode_stream(false)?;
/// assert_eq!(stream.feed(&[9])?, "hello");
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
        skip_special: bool,
    ) -> Result<DecodeStream<'a>, Error> {
        let mut handle = ptr::null_mut();
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            ffi::pretok_decode_stream_new(tokenizer, skip_special, &mut handle, &mut error)
        };
        check(status, &error)?;
        Ok(DecodeStream { handle, _tokenizer: PhantomData })
    }

    /// Appends ids, and returns the text that they complete. An error leaves the stream unchanged.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let mut stream = tokenizer.decode_stream(false)?;
    /// assert_eq!(stream.feed(&[9, 77]).unwrap_err().position(), 1);
    /// assert_eq!(stream.feed(&[9, 5])?, "hello ");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn feed(&mut self, ids: &[u32]) -> Result<&str, Error> {
        let mut text = ptr::null();
        let mut size = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            let count = ids.len();
            let ids = ids.as_ptr();
            ffi::pretok_decode_stream_feed(
                self.handle,
                ids,
                count,
                &mut text,
                &mut size,
                &mut error,
            )
        };
        check(status, &error)?;
        // SAFETY: the text is valid until the next call, which needs the borrow to end.
        Ok(unsafe { text_of(text, size) })
    }

    /// Ends the stream, and returns the text of the bytes that are left.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.decode_stream(false)?.finish()?, "");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn finish(self) -> Result<String, Error> {
        let mut text = ptr::null();
        let mut size = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            ffi::pretok_decode_stream_finish(self.handle, &mut text, &mut size, &mut error)
        };
        check(status, &error)?;
        // SAFETY: the text is valid until the stream is freed.
        Ok(unsafe { text_of(text, size) }.to_owned())
    }
}
