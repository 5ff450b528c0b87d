use crate::error::{call, Error};
use crate::ffi;
use std::ffi::CString;
use std::os::raw::{c_char, c_int};
use std::ptr;

/// The treatment of special tokens that a text contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Special<'a> {
    /// Fails, so untrusted text cannot inject special tokens.
    #[default]
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

/// Options for encoding.
///
/// ```
/// use pretok::{EncodeOptions, Special, Tokenizer};
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let options = EncodeOptions { add_special_tokens: true, ..EncodeOptions::default() };
/// assert_eq!(tokenizer.encode_with("hello", &options)?, [0, 9]);
/// let options = EncodeOptions { special: Special::Only(&["<s>"]), ..EncodeOptions::default() };
/// assert_eq!(tokenizer.encode_with("<s>hello", &options)?, [0, 9]);
/// # Ok::<(), pretok::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EncodeOptions<'a> {
    /// The treatment of special tokens that a text contains.
    pub special: Special<'a>,
    /// Adds the ids that the file puts before and after a text.
    pub add_special_tokens: bool,
    /// The text continues another text: models that put a space before a text, such as Llama 2,
    /// put none before this text.
    pub continuation: bool,
    /// The probability with which each merge is left out at random, from 0 to 1 (BPE dropout).
    /// Needs [`LoadOptions::dropout`]. Spans, segments, streams and sessions fail with it.
    pub dropout: f64,
    /// The seed of the random draws. The ids of a text depend on it, and on the index of the text
    /// in its batch.
    pub seed: u64,
}

/// Options for loading. For a member that is `None`, empty or 0, the file decides.
///
/// ```
/// use pretok::{LoadOptions, Tokenizer};
///
/// let options = LoadOptions { special_tokens: &[("<end>", 10)], ..LoadOptions::default() };
/// let tokenizer = Tokenizer::from_bytes_with(pretok::EXAMPLE, &options)?;
/// assert_eq!(tokenizer.token_id("<end>")?, 10);
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
    /// The name of the split if neither the file nor `preset` names one, as in old GGUF files.
    pub default_preset: Option<&'a str>,
    /// Prepares the tokenizer for [`EncodeOptions::dropout`], which takes more time and memory.
    pub dropout: bool,
}

/// Options for decoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeOptions<'a> {
    /// Omits special tokens.
    pub skip_special: bool,
    /// The ids continue an earlier text, such as a prompt: the first space stays.
    pub continuation: bool,
    /// Removes spaces before punctuation, as transformers does if `clean_up_tokenization_spaces`
    /// is true.
    pub clean_up: bool,
    /// Strings that end the text, which may span tokens. They are not part of the text.
    pub stop: &'a [&'a str],
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
        let default_preset = optional(self.default_preset, "default_preset")?;
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
            default_preset: pointer(&default_preset),
            dropout: self.dropout,
        })
    }
}

/// Returns the address and the size of each text.
pub(crate) fn pointers<T: AsRef<[u8]>>(texts: &[T]) -> (Vec<*const c_char>, Vec<usize>) {
    texts.iter().map(|text| (text.as_ref().as_ptr().cast::<c_char>(), text.as_ref().len())).unzip()
}

/// A set of special tokens for the options of C. Null if the options need none.
pub(crate) struct SpecialSet(pub(crate) *mut ffi::Handle);

// SAFETY: a set is immutable, and any thread may free it.
unsafe impl Send for SpecialSet {}
unsafe impl Sync for SpecialSet {}

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
                let (data, sizes) = pointers(texts);
                // SAFETY: the lists have `texts.len()` members, valid during the call.
                call(|error| unsafe {
                    let (data, sizes) = (data.as_ptr(), sizes.as_ptr());
                    let result = &mut set.0;
                    ffi::pretok_special_set_new(tokenizer, data, sizes, texts.len(), result, error)
                })?;
                0
            }
        };
        let options = ffi::RawEncodeOptions {
            struct_size: std::mem::size_of::<ffi::RawEncodeOptions>(),
            special,
            allowed: set.0,
            add_special_tokens: self.add_special_tokens,
            continuation: self.continuation,
            dropout: self.dropout,
            seed: self.seed,
        };
        Ok((options, set))
    }
}

impl DecodeOptions<'_> {
    /// Calls `make` with these options.
    pub(crate) fn with<T>(
        &self,
        make: impl FnOnce(&ffi::RawDecodeOptions) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (stop, sizes) = pointers(self.stop);
        make(&ffi::RawDecodeOptions {
            struct_size: std::mem::size_of::<ffi::RawDecodeOptions>(),
            skip_special: self.skip_special,
            continuation: self.continuation,
            clean_up: self.clean_up,
            stop: stop.as_ptr(),
            stop_sizes: sizes.as_ptr(),
            stop_count: stop.len(),
        })
    }
}
