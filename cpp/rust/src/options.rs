use crate::error::{check, Error};
use crate::ffi;
use std::ffi::CString;
use std::os::raw::{c_char, c_int};
use std::ptr;

/// The treatment of special tokens that a text contains.
///
/// ```
/// use pretok::{EncodeOptions, Special, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let options = EncodeOptions { special: Special::Only(&["<s>"]), ..Default::default() };
/// assert_eq!(tokenizer.encode_with("<s>hello", &options)?, [0, 9]);
/// # Ok::<(), pretok::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special<'a> {
    /// Fails, so untrusted text cannot inject special tokens.
    Raise,
    /// Encodes special tokens as ordinary text.
    Text,
    /// Encodes special tokens as their ids.
    Allow,
    /// Encodes all added tokens as ordinary text, also those that are not special.
    Plain,
    /// Encodes these special tokens as their ids, and all others as ordinary text.
    Only(&'a [&'a str]),
}

impl Default for Special<'_> {
    fn default() -> Self {
        Special::Raise
    }
}

/// Options for encoding.
///
/// ```
/// use pretok::{EncodeOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let options = EncodeOptions { add_special_tokens: true, ..EncodeOptions::default() };
/// assert_eq!(tokenizer.encode_with("hello", &options)?, [0, 9]);
/// # Ok::<(), pretok::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodeOptions<'a> {
    /// The treatment of special tokens that a text contains.
    pub special: Special<'a>,
    /// Adds the ids that the file puts before and after a text.
    pub add_special_tokens: bool,
    /// The text continues another text: models that put a space before a text, such as Llama 2,
    /// put none before this text.
    pub continuation: bool,
}

/// Options for loading. For a member that is `None`, empty or 0, the file decides.
///
/// ```no_run
/// use pretok::{LoadOptions, Tokenizer};
///
/// let options = LoadOptions {
///     preset: Some("cl100k"),
///     special_tokens: &[("<|endoftext|>", 100257)],
///     ..LoadOptions::default()
/// };
/// let tokenizer = Tokenizer::from_file_with("cl100k_base.tiktoken", &options)?;
/// # Ok::<(), pretok::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions<'a> {
    /// The name of the split, which rank files of tiktoken need: see [`presets`](crate::presets).
    pub preset: Option<&'a str>,
    /// The Unicode version of the split, such as "16.0".
    pub unicode: Option<&'a str>,
    /// Normalizes text to NFC, for models that need it if the file does not say so.
    pub nfc: bool,
    /// Special tokens in addition to those of the file.
    pub special_tokens: &'a [(&'a str, u32)],
    /// The maximum size of all caches; 0 means 128 MiB, and 1 keeps no cache between calls.
    pub cache_bytes: usize,
}

/// Returns `text` with a final NUL.
pub(crate) fn c_string(text: &str, name: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::invalid(format!("{name} contains a NUL character")))
}

fn optional(text: Option<&str>, name: &str) -> Result<Option<CString>, Error> {
    text.map(|text| c_string(text, name)).transpose()
}

impl LoadOptions<'_> {
    /// Calls `load` with these options.
    pub(crate) fn with<T>(
        &self,
        load: impl FnOnce(&ffi::RawLoadOptions) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let pointer = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |t| t.as_ptr());
        let preset = optional(self.preset, "preset")?;
        let unicode = optional(self.unicode, "unicode")?;
        let tokens: Vec<ffi::RawSpecialToken> = self
            .special_tokens
            .iter()
            .map(|(text, id)| ffi::RawSpecialToken {
                text: text.as_ptr().cast::<c_char>(),
                size: text.len(),
                id: *id,
            })
            .collect();
        const NFC: &[u8] = b"NFC\0";
        load(&ffi::RawLoadOptions {
            struct_size: std::mem::size_of::<ffi::RawLoadOptions>(),
            preset: pointer(&preset),
            unicode: pointer(&unicode),
            normalizer: if self.nfc { NFC.as_ptr().cast() } else { ptr::null() },
            special_tokens: tokens.as_ptr(),
            special_token_count: tokens.len(),
            pre_tokenizer: ptr::null(),
            cache_bytes: self.cache_bytes,
        })
    }
}

/// A set of special tokens for the options of C. Null if the options need none.
pub(crate) struct SpecialSet(*mut ffi::Handle);

// SAFETY: a set is immutable, and any thread may free it.
unsafe impl Send for SpecialSet {}

impl Drop for SpecialSet {
    fn drop(&mut self) {
        // SAFETY: the handle is null or owned.
        unsafe { ffi::pretok_special_set_free(self.0) }
    }
}

impl EncodeOptions<'_> {
    /// Returns the options of C, and the set that they refer to. `tokenizer` must be valid.
    pub(crate) fn raw(
        &self,
        tokenizer: *const ffi::Handle,
    ) -> Result<(ffi::RawEncodeOptions, SpecialSet), Error> {
        let mut set = SpecialSet(ptr::null_mut());
        let special: c_int = match self.special {
            Special::Raise => 0,
            Special::Text => 1,
            Special::Allow => 2,
            Special::Plain => 3,
            Special::Only(texts) => {
                let data: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr().cast()).collect();
                let sizes: Vec<usize> = texts.iter().map(|text| text.len()).collect();
                let mut error = ffi::RawError::new();
                // SAFETY: the lists have `texts.len()` members, valid during the call.
                let status = unsafe {
                    ffi::pretok_special_set_new(
                        tokenizer,
                        data.as_ptr(),
                        sizes.as_ptr(),
                        texts.len(),
                        &mut set.0,
                        &mut error,
                    )
                };
                check(status, &error)?;
                0
            }
        };
        let options = ffi::RawEncodeOptions {
            struct_size: std::mem::size_of::<ffi::RawEncodeOptions>(),
            special,
            allowed: set.0,
            add_special_tokens: self.add_special_tokens,
            continuation: self.continuation,
        };
        Ok((options, set))
    }
}
