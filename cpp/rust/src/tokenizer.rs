use crate::error::{check, Error};
use crate::ffi::{self, Handle, RawError};
use crate::options::{c_string, EncodeOptions, LoadOptions};
use crate::streams::{DecodeStream, EncodeStream};
use std::ffi::CStr;
use std::os::raw::c_char;
use std::path::Path;
use std::{fmt, ptr, slice};

/// Encodes text to ids and decodes ids.
///
/// A `Tokenizer` is immutable. Any number of threads may share it without locks.
///
/// ```
/// use pretok::Tokenizer;
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let counts: Vec<_> = std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| tokenizer.count("hello"))).collect();
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
/// });
/// assert_eq!(counts, [Ok(1), Ok(1), Ok(1), Ok(1)]);
/// # Ok::<(), pretok::Error>(())
/// ```
pub struct Tokenizer {
    handle: *mut Handle, // owned, not null
}

// SAFETY: pretok.h says that any number of threads may share a tokenizer.
unsafe impl Send for Tokenizer {}
unsafe impl Sync for Tokenizer {}

impl Drop for Tokenizer {
    fn drop(&mut self) {
        // SAFETY: the handle is owned. Streams borrow the tokenizer, so none is left.
        unsafe { ffi::pretok_tokenizer_free(self.handle) }
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tokenizer")
            .field("preset", &self.preset())
            .field("vocab_size", &self.vocab_size())
            .finish()
    }
}

/// Frees the ids of a C function.
struct Ids(*mut u32);

impl Drop for Ids {
    fn drop(&mut self) {
        // SAFETY: the pointer is null or from a function that returns ids to free.
        unsafe { ffi::pretok_ids_free(self.0) }
    }
}

impl Tokenizer {
    /// Loads a tokenizer from a file. The content decides the format.
    ///
    /// ```no_run
    /// let tokenizer = pretok::Tokenizer::from_file("tokenizer.json")?;
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn from_file(path: impl AsRef<Path>) -> Result<Tokenizer, Error> {
        Tokenizer::from_file_with(path, &LoadOptions::default())
    }

    /// Loads a tokenizer from a file, with options.
    ///
    /// ```no_run
    /// use pretok::{LoadOptions, Tokenizer};
    ///
    /// let options = LoadOptions { preset: Some("o200k"), ..LoadOptions::default() };
    /// let tokenizer = Tokenizer::from_file_with("o200k_base.tiktoken", &options)?;
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn from_file_with(
        path: impl AsRef<Path>,
        options: &LoadOptions<'_>,
    ) -> Result<Tokenizer, Error> {
        let path = path.as_ref().to_str();
        let path = path.ok_or_else(|| Error::invalid("expected a path in UTF-8"))?;
        let path = c_string(path, "the path")?;
        options.with(|raw| {
            let mut handle = ptr::null_mut();
            let mut error = RawError::new();
            // SAFETY: all pointers are valid during the call.
            let status = unsafe {
                ffi::pretok_tokenizer_from_file(path.as_ptr(), raw, &mut handle, &mut error)
            };
            check(status, &error).map(|()| Tokenizer { handle })
        })
    }

    /// Loads a tokenizer from the bytes of a file.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.encode("hello")?, [9]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn from_bytes(data: impl AsRef<[u8]>) -> Result<Tokenizer, Error> {
        Tokenizer::from_bytes_with(data, &LoadOptions::default())
    }

    /// Loads a tokenizer from the bytes of a file, with options.
    ///
    /// ```
    /// use pretok::{LoadOptions, Tokenizer};
    ///
    /// let options = LoadOptions { cache_bytes: 1 << 20, ..LoadOptions::default() };
    /// let tokenizer = Tokenizer::from_bytes_with(pretok::EXAMPLE, &options)?;
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn from_bytes_with(
        data: impl AsRef<[u8]>,
        options: &LoadOptions<'_>,
    ) -> Result<Tokenizer, Error> {
        let data = data.as_ref();
        options.with(|raw| {
            let mut handle = ptr::null_mut();
            let mut error = RawError::new();
            // SAFETY: all pointers are valid during the call.
            let status = unsafe {
                ffi::pretok_tokenizer_from_memory(
                    data.as_ptr().cast(),
                    data.len(),
                    raw,
                    &mut handle,
                    &mut error,
                )
            };
            check(status, &error).map(|()| Tokenizer { handle })
        })
    }

    /// Returns the name of the preset that splits text; "" for a split that has no name.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.preset(), "");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn preset(&self) -> &str {
        // SAFETY: the text is NUL-terminated, and valid until the tokenizer is freed.
        let name = unsafe { CStr::from_ptr(ffi::pretok_tokenizer_preset(self.handle)) };
        name.to_str().unwrap_or("")
    }

    /// Returns the largest id plus one.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.vocab_size(), 10);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn vocab_size(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_vocab_size(self.handle) }
    }

    /// Returns the bytes of a token.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.token_bytes(8)?, b"hell");
    /// assert_eq!(tokenizer.token_bytes(99).unwrap_err().kind(), pretok::ErrorKind::UnknownId);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn token_bytes(&self, id: u32) -> Result<&[u8], Error> {
        let mut bytes = ptr::null();
        let mut size = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status =
            unsafe { ffi::pretok_token_bytes(self.handle, id, &mut bytes, &mut size, &mut error) };
        check(status, &error)?;
        // SAFETY: the bytes are valid until the tokenizer is freed.
        Ok(unsafe { view(bytes.cast(), size) })
    }

    /// Returns the id of the token with these bytes. If there are several, prefers an added token,
    /// and then the lowest id.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.token_id("<s>")?, 0);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn token_id(&self, bytes: impl AsRef<[u8]>) -> Result<u32, Error> {
        let bytes = bytes.as_ref();
        let mut id = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            let data: *const c_char = bytes.as_ptr().cast();
            ffi::pretok_token_id(self.handle, data, bytes.len(), &mut id, &mut error)
        };
        check(status, &error).map(|()| id)
    }

    /// Returns whether `id` is the id of a special token.
    ///
    /// ```
    /// assert!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.is_special(0));
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn is_special(&self, id: u32) -> bool {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_is_special(self.handle, id) }
    }

    /// Encodes a text with the default options: a special token in the text is an error.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.encode("hello")?, [9]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Vec<u32>, Error> {
        self.encode_with(text, &EncodeOptions::default())
    }

    /// Encodes a text. Takes linear time for usual text, and n log n in the worst case.
    ///
    /// ```
    /// use pretok::{EncodeOptions, Special, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let options = EncodeOptions { special: Special::Allow, ..EncodeOptions::default() };
    /// assert_eq!(tokenizer.encode_with("hello<s>", &options)?, [9, 0]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn encode_with(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
    ) -> Result<Vec<u32>, Error> {
        const SHORT: usize = 2048;
        let text = text.as_ref();
        let data: *const c_char = text.as_ptr().cast();
        let (raw, _set) = options.raw(self.handle)?;
        let mut count = 0;
        let mut error = RawError::new();
        // SAFETY: the handle is valid.
        let bound = unsafe { ffi::pretok_encode_bound(self.handle, text.len()) };
        if bound <= SHORT {
            let mut ids = Vec::with_capacity(bound);
            // SAFETY: the vector has room for `bound` ids, and the call sets `count` of them.
            let status = unsafe {
                let to = ids.as_mut_ptr();
                let options = &raw;
                let size = text.len();
                let status = ffi::pretok_encode(
                    self.handle,
                    data,
                    size,
                    options,
                    to,
                    bound,
                    &mut count,
                    &mut error,
                );
                ids.set_len(if status == 0 { count } else { 0 });
                status
            };
            return check(status, &error).map(|()| ids);
        }
        let mut ids = Ids(ptr::null_mut());
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            let to = &mut ids.0;
            ffi::pretok_encode_new(self.handle, data, text.len(), &raw, to, &mut count, &mut error)
        };
        check(status, &error)?;
        // SAFETY: the array has `count` ids until it is freed.
        Ok(unsafe { view(ids.0, count) }.to_vec())
    }

    /// Encodes several texts on up to `threads` threads; 0 means one per processor.
    ///
    /// ```
    /// use pretok::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let ids = tokenizer.encode_batch(&["hello", "", "he"], &EncodeOptions::default(), 0)?;
    /// assert_eq!(ids, [vec![9], vec![], vec![6]]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn encode_batch<T: AsRef<[u8]>>(
        &self,
        texts: &[T],
        options: &EncodeOptions<'_>,
        threads: u32,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let data: Vec<*const c_char> = texts.iter().map(|t| t.as_ref().as_ptr().cast()).collect();
        let sizes: Vec<usize> = texts.iter().map(|text| text.as_ref().len()).collect();
        let mut ends = vec![0; texts.len()];
        let mut failed = usize::MAX;
        let (raw, _set) = options.raw(self.handle)?;
        let mut ids = Ids(ptr::null_mut());
        let mut error = RawError::new();
        // SAFETY: the lists have `texts.len()` members, valid during the call.
        let status = unsafe {
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
                &mut error,
            )
        };
        check(status, &error).map_err(|error| match failed {
            usize::MAX => error,
            text => error.of_text(text),
        })?;
        // SAFETY: the array has the ids of all texts until it is freed.
        let all = unsafe { view(ids.0, ends.last().copied().unwrap_or(0)) };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(starts.zip(&ends).map(|(start, end)| all[start..*end].to_vec()).collect())
    }

    /// Returns the number of ids of a text, without storing them.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.count("hello hello")?, 3);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn count(&self, text: impl AsRef<[u8]>) -> Result<usize, Error> {
        self.count_with(text, &EncodeOptions::default())
    }

    /// Returns the number of ids of a text, with options.
    ///
    /// ```
    /// use pretok::{EncodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let options = EncodeOptions { add_special_tokens: true, ..EncodeOptions::default() };
    /// assert_eq!(tokenizer.count_with("hello", &options)?, 2);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn count_with(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
    ) -> Result<usize, Error> {
        let text = text.as_ref();
        let (raw, _set) = options.raw(self.handle)?;
        let mut count = 0;
        let mut error = RawError::new();
        // SAFETY: all pointers are valid during the call.
        let status = unsafe {
            let data: *const c_char = text.as_ptr().cast();
            ffi::pretok_count(self.handle, data, text.len(), &raw, &mut count, &mut error)
        };
        check(status, &error).map(|()| count)
    }

    /// Decodes ids to a text. U+FFFD replaces invalid UTF-8.
    ///
    /// ```
    /// assert_eq!(pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?.decode(&[6, 7, 4])?, "hello");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        let mut stream = self.decode_stream(false)?;
        let mut text = stream.feed(ids)?.to_owned();
        text += &stream.finish()?;
        Ok(text)
    }

    /// Decodes ids to bytes, which may be invalid UTF-8. If `skip_special`, omits special tokens.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.decode_bytes(&[0, 9], true)?, b"hello");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn decode_bytes(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>, Error> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut size = 0;
        // The first call computes the size.
        for to in [false, true] {
            bytes.reserve_exact(size);
            let mut error = RawError::new();
            // SAFETY: the vector has room for `size` bytes, and the second call sets all of them.
            let status = unsafe {
                ffi::pretok_decode(
                    self.handle,
                    ids.as_ptr(),
                    ids.len(),
                    skip_special,
                    if to { bytes.as_mut_ptr().cast() } else { ptr::null_mut() },
                    size,
                    &mut size,
                    &mut error,
                )
            };
            check(status, &error)?;
        }
        // SAFETY: the second call has set `size` bytes.
        unsafe { bytes.set_len(size) };
        Ok(bytes)
    }

    /// Makes a stream that encodes a text in chunks.
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
    pub fn encode_stream(&self, options: &EncodeOptions<'_>) -> Result<EncodeStream<'_>, Error> {
        let (raw, set) = options.raw(self.handle)?;
        EncodeStream::new(self.handle, &raw, set)
    }

    /// Makes a stream that decodes ids to text. If `skip_special`, omits special tokens.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// let mut stream = tokenizer.decode_stream(true)?;
    /// assert_eq!(stream.feed(&[0, 6])?, "he");
    /// assert_eq!(stream.feed(&[7, 4])?, "llo");
    /// assert_eq!(stream.finish()?, "");
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn decode_stream(&self, skip_special: bool) -> Result<DecodeStream<'_>, Error> {
        DecodeStream::new(self.handle, skip_special)
    }

    /// Returns the number of bytes that the caches hold now.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert!(tokenizer.cache_bytes() <= 128 << 20);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn cache_bytes(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_tokenizer_cache_bytes(self.handle) }
    }

    /// Frees all unused caches.
    ///
    /// ```
    /// let tokenizer = pretok::Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// tokenizer.trim();
    /// assert_eq!(tokenizer.cache_bytes(), 0);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn trim(&self) {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_tokenizer_trim(self.handle) }
    }
}

/// Returns the values at `data`, which may be null if `count` is 0.
///
/// # Safety
///
/// Otherwise `count` values must be valid for the lifetime of the result.
pub(crate) unsafe fn view<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: as required of the caller.
    unsafe { slice::from_raw_parts(data, count) }
}
