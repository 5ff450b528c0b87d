use crate::error::{call, Error};
use crate::ffi::{self, Handle};
use crate::options::EncodeOptions;
use crate::tokenizer::Tokenizer;
use std::{fmt, ptr};

/// The ids of a text from a [`PromptCache`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptIds {
    /// The ids.
    pub ids: Vec<u32>,
    /// The number of ids before the first that was not in the cache.
    pub reused_prefix: usize,
    /// The number of ids of the text that were in the cache.
    pub reused: usize,
}

/// The numbers of a [`PromptCache`]. `bytes` and `ids` count the texts of all calls that did not
/// fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PromptStatistics {
    pub calls: u64,
    pub bytes: u64,
    pub bytes_reused: u64,
    pub ids: u64,
    pub ids_reused: u64,
    /// The chunks that the cache holds now.
    pub chunks: u64,
    /// The bytes that the cache holds now.
    pub bytes_held: u64,
    /// The chunks that were dropped to make room.
    pub evicted: u64,
}

/// Encodes texts that have parts in common with earlier texts, and copies the ids of these parts.
/// The ids are always those of [`Tokenizer::encode_with`]. Threads may share a cache.
///
/// ```
/// use pretok::{EncodeOptions, PromptCache, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let cache = PromptCache::new(&tokenizer, 1 << 24)?;
/// let prompt = "hello ".repeat(2000);
/// let options = EncodeOptions::default();
/// assert_eq!(cache.encode(&prompt, &options, "")?.reused, 0);
/// let found = cache.encode(&prompt, &options, "")?;
/// assert_eq!(found.ids, tokenizer.encode(&prompt)?);
/// assert!(found.reused > 1000);
/// assert_eq!(cache.encode(&prompt, &options, "another tenant")?.reused, 0);
/// assert!(cache.statistics().bytes_held <= 1 << 24);
/// # Ok::<(), pretok::Error>(())
/// ```
pub struct PromptCache<'a> {
    handle: *mut Handle, // owned
    tokenizer: &'a Tokenizer,
}

// SAFETY: threads may share the handle.
unsafe impl Send for PromptCache<'_> {}
// SAFETY: threads may share the handle.
unsafe impl Sync for PromptCache<'_> {}

impl Drop for PromptCache<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned.
        unsafe { ffi::pretok_prompt_cache_free(self.handle) }
    }
}

impl fmt::Debug for PromptCache<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("PromptCache").field(&self.statistics()).finish()
    }
}

impl<'a> PromptCache<'a> {
    /// Makes an empty cache of at most `max_bytes` bytes.
    pub fn new(tokenizer: &'a Tokenizer, max_bytes: usize) -> Result<PromptCache<'a>, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            ffi::pretok_prompt_cache_new(tokenizer.handle, max_bytes, &mut handle, error)
        })?;
        Ok(PromptCache { handle, tokenizer })
    }

    /// Encodes a text. Texts share parts only if their salts are equal: the time of a call shows
    /// whether its parts were in the cache.
    pub fn encode(
        &self,
        text: impl AsRef<[u8]>,
        options: &EncodeOptions<'_>,
        salt: impl AsRef<[u8]>,
    ) -> Result<PromptIds, Error> {
        let (text, salt) = (text.as_ref(), salt.as_ref());
        let (raw, _set) = options.raw(self.tokenizer.handle)?;
        let (mut count, mut reuse) = (0, ffi::RawReuse { prefix: 0, total: 0 });
        let mut fill = |ids: *mut u32, capacity: usize, reuse: *mut ffi::RawReuse| {
            // SAFETY: all pointers are valid during the call.
            call(|error| unsafe {
                ffi::pretok_prompt_cache_encode(
                    self.handle,
                    text.as_ptr().cast(),
                    text.len(),
                    &raw,
                    salt.as_ptr().cast(),
                    salt.len(),
                    ids,
                    capacity,
                    &mut count,
                    reuse,
                    error,
                )
            })?;
            Ok::<usize, Error>(count)
        };
        // The first call counts the ids and keeps them, so the second one copies most of them.
        let capacity = fill(ptr::null_mut(), 0, &mut reuse)?;
        let mut ids = Vec::with_capacity(capacity);
        let count = fill(ids.as_mut_ptr(), capacity, ptr::null_mut())?;
        // SAFETY: the call has set `count` ids.
        unsafe { ids.set_len(count) };
        Ok(PromptIds { ids, reused_prefix: reuse.prefix, reused: reuse.total })
    }

    /// Returns the numbers of this cache.
    pub fn statistics(&self) -> PromptStatistics {
        let mut raw = ffi::RawPromptStatistics {
            struct_size: std::mem::size_of::<ffi::RawPromptStatistics>(),
            ..Default::default()
        };
        // SAFETY: all pointers are valid during the call, which cannot fail.
        unsafe { ffi::pretok_prompt_cache_statistics(self.handle, &mut raw, ptr::null_mut()) };
        PromptStatistics {
            calls: raw.calls,
            bytes: raw.bytes,
            bytes_reused: raw.bytes_reused,
            ids: raw.ids,
            ids_reused: raw.ids_reused,
            chunks: raw.chunks,
            bytes_held: raw.bytes_held,
            evicted: raw.evicted,
        }
    }

    /// Drops all chunks.
    pub fn clear(&self) {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_prompt_cache_clear(self.handle) }
    }
}
