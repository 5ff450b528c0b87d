//! Converts text to the token ids of LLMs and back, without a regex engine.
//!
//! A [`Tokenizer`] reads rank files of tiktoken, tokenizer.json, `.model` files of SentencePiece,
//! the metadata of GGUF files, and `.pretok` files. Its ids are those of tiktoken, tokenizers,
//! sentencepiece and llama.cpp. The crate compiles the C++ library of pretok, and has no
//! dependencies.
//!
//! ```
//! use pretok::{EncodeOptions, Special, Tokenizer};
//!
//! # fn main() -> Result<(), pretok::Error> {
//! let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?; // or from_file("tokenizer.json")
//! let ids = tokenizer.encode("hello hello")?;
//! assert_eq!(ids, [9, 5, 9]);
//! assert_eq!(tokenizer.decode(&ids)?, "hello hello");
//!
//! // By default, a special token in a text is an error, so no text can inject one.
//! let error = tokenizer.encode("hello <s>").unwrap_err();
//! assert_eq!((error.kind(), error.position()), (pretok::ErrorKind::SpecialToken, 6));
//! let options = EncodeOptions { special: Special::Allow, ..EncodeOptions::default() };
//! assert_eq!(tokenizer.encode_with("<s>hello", &options)?, [0, 9]);
//!
//! assert!(pretok::presets().any(|name| name == "o200k"));
//! assert!(pretok::version().starts_with("0.1."));
//! # Ok(())
//! # }
//! ```
//!
//! Text is anything that is `AsRef<[u8]>`: `str`, `String`, or bytes of UTF-8. Offsets are in
//! bytes.
#![deny(missing_docs)]
#![warn(unsafe_op_in_unsafe_fn)]

mod decode;
mod encode;
mod error;
mod ffi;
mod options;
mod prompts;
mod session;
mod streams;
mod tokenizer;
mod tokens;

pub use error::{Error, ErrorKind};
pub use options::{DecodeOptions, EncodeOptions, LoadOptions, Special};
pub use prompts::{PromptCache, PromptIds, PromptStatistics};
pub use session::{Patch, Session};
pub use streams::{DecodeStream, EncodeStream};
pub use tokenizer::Tokenizer;
pub use tokens::{ModelKind, Role, TokenFacts, TokenType, Vocabulary};

/// A tokenizer.json with ten tokens, for examples and tests.
pub const EXAMPLE: &[u8] = include_bytes!("example.json");

/// Returns the version of the C++ library, such as "0.1.0".
pub fn version() -> &'static str {
    // SAFETY: the function returns a NUL-terminated ASCII text that is never freed.
    unsafe { std::ffi::CStr::from_ptr(ffi::pretok_version()) }.to_str().unwrap_or("")
}

/// Returns the names of the built-in presets, which say how a model splits text.
pub fn presets() -> impl Iterator<Item = &'static str> {
    // SAFETY: these functions have no preconditions.
    let count = unsafe { ffi::pretok_preset_count() };
    (0..count).filter_map(|index| {
        // SAFETY: `index` is in range, so the result is a NUL-terminated text, never freed.
        unsafe { std::ffi::CStr::from_ptr(ffi::pretok_preset_name(index)) }.to_str().ok()
    })
}
