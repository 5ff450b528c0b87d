use crate::error::{call, Error};
use crate::ffi::{self, Handle};
use crate::options::{c_string, LoadOptions};
use std::ffi::CStr;
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
/// tokenizer.trim();
/// assert_eq!(tokenizer.cache_bytes(), 0);
/// # Ok::<(), pretok::Error>(())
/// ```
pub struct Tokenizer {
    pub(crate) handle: *mut Handle, // owned, not null
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

/// # Loading
impl Tokenizer {
    /// Loads a tokenizer from a file. The content decides the format.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Tokenizer, Error> {
        Tokenizer::from_file_with(path, &LoadOptions::default())
    }

    /// Loads a tokenizer from a file, with options.
    pub fn from_file_with(
        path: impl AsRef<Path>,
        options: &LoadOptions<'_>,
    ) -> Result<Tokenizer, Error> {
        let path = path.as_ref().to_str();
        let path = path.ok_or_else(|| Error::invalid("expected a path in UTF-8"))?;
        let path = c_string(path, "the path")?;
        options.with(|raw| {
            let mut handle = ptr::null_mut();
            // SAFETY: all pointers are valid during the call.
            call(|error| unsafe {
                ffi::pretok_tokenizer_from_file(path.as_ptr(), raw, &mut handle, error)
            })?;
            Ok(Tokenizer { handle })
        })
    }

    /// Loads a tokenizer from the bytes of a file.
    pub fn from_bytes(data: impl AsRef<[u8]>) -> Result<Tokenizer, Error> {
        Tokenizer::from_bytes_with(data, &LoadOptions::default())
    }

    /// Loads a tokenizer from the bytes of a file, with options.
    pub fn from_bytes_with(
        data: impl AsRef<[u8]>,
        options: &LoadOptions<'_>,
    ) -> Result<Tokenizer, Error> {
        let data = data.as_ref();
        options.with(|raw| {
            let mut handle = ptr::null_mut();
            // SAFETY: all pointers are valid during the call.
            call(|error| unsafe {
                let (data, size) = (data.as_ptr().cast(), data.len());
                ffi::pretok_tokenizer_from_memory(data, size, raw, &mut handle, error)
            })?;
            Ok(Tokenizer { handle })
        })
    }

    /// Returns the name of the preset that splits text; "" for a split that has no name.
    pub fn preset(&self) -> &str {
        // SAFETY: the text is NUL-terminated, and valid until the tokenizer is freed.
        let name = unsafe { CStr::from_ptr(ffi::pretok_tokenizer_preset(self.handle)) };
        name.to_str().unwrap_or("")
    }

    /// Returns the number of bytes that the caches hold now.
    pub fn cache_bytes(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_tokenizer_cache_bytes(self.handle) }
    }

    /// Frees all unused caches.
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
