use crate::error::{call, Error};
use crate::ffi::{self, RawFacts, RawVocabulary};
use crate::tokenizer::{view, Tokenizer};
use std::os::raw::{c_char, c_int};
use std::{fmt, mem, ptr, str};

/// The type of a token, as in GGUF files.
///
/// If the file has no types, a special token is `Control`, another added token `UserDefined`, a
/// fallback token `Byte`, the unknown token `Unknown`, and any other token `Normal`.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenType {
    Undefined,
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl TokenType {
    fn of(number: c_int) -> TokenType {
        match number {
            1 => TokenType::Normal,
            2 => TokenType::Unknown,
            3 => TokenType::Control,
            4 => TokenType::UserDefined,
            5 => TokenType::Unused,
            6 => TokenType::Byte,
            _ => TokenType::Undefined,
        }
    }
}

/// The kind of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelKind {
    /// Tokens are bytes: byte-level BPE.
    Bytes,
    /// Tokens are text, decoded as SentencePiece does.
    SentencePiece,
    /// Tokens are text, decoded as a tokenizer.json says.
    Text,
}

/// The role of a token, for [`TokenFacts::role`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Before a text.
    Bos,
    /// After a text.
    Eos,
    /// For text without a token.
    Unk,
    /// Fills short texts of a batch.
    Pad,
    /// Separates texts.
    Sep,
    /// Stands for a masked token.
    Mask,
    /// The end of a turn.
    Eot,
    /// The end of a message.
    Eom,
    /// Fill in the middle: before the prefix.
    FimPrefix,
    /// Fill in the middle: before the suffix.
    FimSuffix,
    /// Fill in the middle: before the part to fill in.
    FimMiddle,
    /// Fill in the middle: padding.
    FimPad,
    /// Fill in the middle: before the name of a repository.
    FimRepo,
    /// Fill in the middle: before a file.
    FimSep,
}

/// What a file states about its tokens: [`Tokenizer::facts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenFacts<'a> {
    roles: [u32; ffi::ROLES],
    /// `add_special_tokens` puts the BOS token before a text.
    pub add_bos: bool,
    /// `add_special_tokens` puts the EOS token after a text.
    pub add_eos: bool,
    /// The ids that end a generation, ascending.
    pub end_ids: &'a [u32],
    /// The chat template, in Jinja.
    pub chat_template: Option<&'a str>,
    /// The size of the longest token in rendered bytes.
    pub max_token_bytes: usize,
}

impl TokenFacts<'_> {
    /// Returns the id of a role, or `None` if no token has it.
    pub fn role(&self, role: Role) -> Option<u32> {
        let id = self.roles[role as usize];
        (id != ffi::NO_ID).then_some(id)
    }
}

/// The rendered bytes of all tokens, without a copy, such as for a trie:
/// [`Tokenizer::vocabulary`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Vocabulary<'a> {
    /// The rendered bytes of all tokens.
    pub bytes: &'a [u8],
    /// The position of the bytes of each id, and at last the size of `bytes`.
    pub offsets: &'a [u32],
    /// The ids of all tokens in the order of their bytes; equal bytes in the order of ids.
    pub sorted: &'a [u32],
    types: &'a [u8],
}

impl fmt::Debug for Vocabulary<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Vocabulary").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'a> Vocabulary<'a> {
    /// Returns the number of ids: the largest id plus one.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the rendered bytes of an id; an id without a token has none.
    ///
    /// # Panics
    ///
    /// If `id` is not below `len()`.
    pub fn token(&self, id: u32) -> &'a [u8] {
        let id = id as usize;
        &self.bytes[self.offsets[id] as usize..self.offsets[id + 1] as usize]
    }

    /// Returns the type of an id; an id without a token has `Undefined`.
    ///
    /// # Panics
    ///
    /// If `id` is not below `len()`.
    pub fn token_type(&self, id: u32) -> TokenType {
        TokenType::of(self.types[id as usize].into())
    }
}

/// # Tokens
impl Tokenizer {
    /// Returns the largest id plus one.
    pub fn vocab_size(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_vocab_size(self.handle) }
    }

    /// Returns the kind of the model.
    pub fn kind(&self) -> ModelKind {
        // SAFETY: the handle is valid.
        match unsafe { ffi::pretok_tokenizer_kind(self.handle) } {
            0 => ModelKind::Bytes,
            1 => ModelKind::SentencePiece,
            _ => ModelKind::Text,
        }
    }

    /// Returns the dropout of a tokenizer.json, or 0. No call uses it by itself.
    pub fn dropout(&self) -> f64 {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_tokenizer_dropout(self.handle) }
    }

    /// Returns the bytes of a token as the file stores them.
    ///
    /// ```
    /// use pretok::{Role, TokenType, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.token_bytes(8)?, b"hell");
    /// assert_eq!(tokenizer.token_id("hell")?, 8);
    /// assert_eq!(tokenizer.token_bytes(99).unwrap_err().kind(), pretok::ErrorKind::UnknownId);
    /// assert_eq!(tokenizer.token_type(0)?, TokenType::Control);
    /// assert_eq!(tokenizer.facts()?.role(Role::Bos), None); // a tokenizer.json has no roles
    ///
    /// let vocabulary = tokenizer.vocabulary()?; // all tokens at once
    /// let sorted: Vec<_> = vocabulary.sorted.iter().map(|id| vocabulary.token(*id)).collect();
    /// assert_eq!(sorted[..4], [&b" "[..], b"<s>", b"e", b"h"]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn token_bytes(&self, id: u32) -> Result<&[u8], Error> {
        // SAFETY: the function fits.
        unsafe { self.bytes_by(ffi::pretok_token_bytes, id) }
    }

    /// Returns the bytes that a token adds in the middle of a decoded text: a space for the mark
    /// U+2581 of a SentencePiece model, and one byte for a fallback token such as `<0x0A>`.
    pub fn rendered_bytes(&self, id: u32) -> Result<&[u8], Error> {
        // SAFETY: the function fits.
        unsafe { self.bytes_by(ffi::pretok_rendered_bytes, id) }
    }

    /// Returns the bytes of a token that `function` gives.
    ///
    /// # Safety
    ///
    /// The bytes must be valid until the tokenizer is freed.
    unsafe fn bytes_by(
        &self,
        function: unsafe extern "C" fn(
            *const ffi::Handle,
            u32,
            *mut *const c_char,
            *mut usize,
            *mut ffi::RawError,
        ) -> c_int,
        id: u32,
    ) -> Result<&[u8], Error> {
        let (mut bytes, mut size) = (ptr::null(), 0);
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { function(self.handle, id, &mut bytes, &mut size, error) })?;
        // SAFETY: as required of the caller.
        Ok(unsafe { view(bytes.cast(), size) })
    }

    /// Returns the id of the token with these bytes. If there are several, prefers an added token,
    /// and then the lowest id.
    pub fn token_id(&self, bytes: impl AsRef<[u8]>) -> Result<u32, Error> {
        let bytes = bytes.as_ref();
        let mut id = 0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe {
            let data = bytes.as_ptr().cast();
            ffi::pretok_token_id(self.handle, data, bytes.len(), &mut id, error)
        })?;
        Ok(id)
    }

    /// Returns the type of a token.
    pub fn token_type(&self, id: u32) -> Result<TokenType, Error> {
        let mut number = 0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_token_type_of(self.handle, id, &mut number, error) })?;
        Ok(TokenType::of(number))
    }

    /// Returns the score of a token. If the file has no scores, and tokens are bytes, it is minus
    /// the rank of the first merge that makes the token; otherwise 0.
    pub fn score(&self, id: u32) -> Result<f32, Error> {
        let mut score = 0.0;
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_token_score(self.handle, id, &mut score, error) })?;
        Ok(score)
    }

    /// Returns whether `id` is the id of a special token.
    pub fn is_special(&self, id: u32) -> bool {
        // SAFETY: the handle is valid.
        unsafe { ffi::pretok_is_special(self.handle, id) }
    }

    /// Returns what the file states about its tokens: roles, end ids, the chat template.
    pub fn facts(&self) -> Result<TokenFacts<'_>, Error> {
        // SAFETY: numbers, flags and null pointers are valid if all bytes are 0.
        let mut raw: RawFacts = unsafe { mem::zeroed() };
        raw.struct_size = mem::size_of::<RawFacts>();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_token_facts_of(self.handle, &mut raw, error) })?;
        let template = if raw.chat_template.is_null() {
            None
        } else {
            // SAFETY: the template is valid until the tokenizer is freed.
            let bytes = unsafe { view(raw.chat_template.cast(), raw.chat_template_size) };
            str::from_utf8(bytes).ok()
        };
        Ok(TokenFacts {
            roles: raw.roles,
            add_bos: raw.add_bos,
            add_eos: raw.add_eos,
            // SAFETY: the ids are valid until the tokenizer is freed.
            end_ids: unsafe { view(raw.end_ids, raw.end_id_count) },
            chat_template: template,
            max_token_bytes: raw.max_token_bytes,
        })
    }

    /// Returns the rendered bytes of all tokens, and their order, without a copy.
    pub fn vocabulary(&self) -> Result<Vocabulary<'_>, Error> {
        // SAFETY: numbers and null pointers are valid if all bytes are 0.
        let mut raw: RawVocabulary = unsafe { mem::zeroed() };
        raw.struct_size = mem::size_of::<RawVocabulary>();
        // SAFETY: all pointers are valid during the call.
        call(|error| unsafe { ffi::pretok_vocabulary_of(self.handle, &mut raw, error) })?;
        // SAFETY: all arrays are valid until the tokenizer is freed.
        unsafe {
            let offsets = view(raw.offsets, raw.count + 1);
            Ok(Vocabulary {
                bytes: view(raw.bytes.cast(), offsets[raw.count] as usize),
                offsets,
                sorted: view(raw.sorted, raw.sorted_count),
                types: view(raw.types, raw.count),
            })
        }
    }
}
