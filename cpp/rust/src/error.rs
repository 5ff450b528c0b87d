use crate::ffi::RawError;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_int;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is not enough memory.
    OutOfMemory,
    /// An argument has an invalid value.
    InvalidArgument,
    /// No preset, Unicode version or token has this name.
    UnknownName,
    /// The file cannot be read.
    CannotRead,
    /// The file is damaged or not valid.
    Malformed,
    /// The file is valid, but needs a feature that is missing.
    Unsupported,
    /// The text has a special token that the options refuse.
    SpecialToken,
    /// No token has this id.
    UnknownId,
    /// The preset drops text, so decoding would lose it.
    RemovesText,
    /// The stream is finished.
    Finished,
    /// The vocabulary has no token for a byte.
    NoToken,
    /// A bug in the library; please report it.
    Internal,
}

/// The error of a call. The message says what was expected, what the library got, and what to do.
///
/// ```
/// use pretok::{EncodeOptions, ErrorKind, Tokenizer};
///
/// let error = Tokenizer::from_bytes(b"PK\x03\x04").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unsupported);
/// assert_eq!(error.to_string(), "this is a zip archive, such as a checkpoint of a model");
///
/// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
/// let error = tokenizer.encode_batch(&["he", "hello <s>"], &EncodeOptions::default(), 1);
/// let error = error.unwrap_err();
/// assert_eq!((error.text_index(), error.position()), (Some(1), 6));
/// # Ok::<(), pretok::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    position: usize,
    text: Option<usize>,
    message: String,
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the byte offset in the text, for `SpecialToken` and `NoToken`, or the index of the
    /// id, for `UnknownId`; otherwise 0. For a stream, counts from the start of the text.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the index of the text that [`encode_batch`](crate::Tokenizer::encode_batch) could
    /// not encode.
    pub fn text_index(&self) -> Option<usize> {
        self.text
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        let kind = ErrorKind::InvalidArgument;
        Error { kind, position: 0, text: None, message: message.into() }
    }

    pub(crate) fn of_text(mut self, text: usize) -> Error {
        self.text = Some(text);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Calls a C function with room for its error, and returns the error.
pub(crate) fn call(function: impl FnOnce(&mut RawError) -> c_int) -> Result<(), Error> {
    let mut error = RawError { status: 0, position: 0, message: [0; 240] };
    let status = function(&mut error);
    check(status, &error)
}

/// Returns the error of a call with this status, or `Ok` for `PRETOK_OK`.
fn check(status: c_int, error: &RawError) -> Result<(), Error> {
    let kind = match status {
        0 => return Ok(()),
        1 => ErrorKind::OutOfMemory,
        2 => ErrorKind::InvalidArgument,
        4 => ErrorKind::UnknownName,
        5 => ErrorKind::CannotRead,
        6 => ErrorKind::Malformed,
        7 => ErrorKind::Unsupported,
        8 => ErrorKind::SpecialToken,
        9 => ErrorKind::UnknownId,
        10 => ErrorKind::RemovesText,
        11 => ErrorKind::Finished,
        12 => ErrorKind::NoToken,
        _ => ErrorKind::Internal,
    };
    // SAFETY: a message is NUL-terminated.
    let message = unsafe { CStr::from_ptr(error.message.as_ptr()) };
    Err(Error {
        kind,
        position: error.position,
        text: None,
        message: message.to_string_lossy().into_owned(),
    })
}
