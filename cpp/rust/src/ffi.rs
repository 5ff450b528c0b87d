//! The functions and structs of `pretok.h` that the crate uses. `pretok.h` documents them.

use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct Handle {
    _private: [u8; 0],
}

#[repr(C)]
pub struct RawError {
    pub status: c_int,
    pub position: usize,
    pub message: [c_char; 240],
}

#[repr(C)]
pub struct RawSpecialToken {
    pub text: *const c_char,
    pub size: usize,
    pub id: u32,
}

#[repr(C)]
pub struct RawLoadOptions {
    pub struct_size: usize,
    pub preset: *const c_char,
    pub unicode: *const c_char,
    pub normalizer: *const c_char,
    pub special_tokens: *const RawSpecialToken,
    pub special_token_count: usize,
    pub pre_tokenizer: *const c_void,
    pub cache_bytes: usize,
}

#[repr(C)]
pub struct RawEncodeOptions {
    pub struct_size: usize,
    pub special: c_int,
    pub allowed: *const Handle,
    pub add_special_tokens: bool,
    pub continuation: bool,
}

extern "C" {
    pub fn pretok_version() -> *const c_char;
    pub fn pretok_preset_count() -> usize;
    pub fn pretok_preset_name(index: usize) -> *const c_char;

    pub fn pretok_tokenizer_from_file(
        path: *const c_char,
        options: *const RawLoadOptions,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_tokenizer_from_memory(
        data: *const c_void,
        size: usize,
        options: *const RawLoadOptions,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_tokenizer_free(tokenizer: *mut Handle);
    pub fn pretok_tokenizer_cache_bytes(tokenizer: *const Handle) -> usize;
    pub fn pretok_tokenizer_trim(tokenizer: *const Handle);
    pub fn pretok_tokenizer_preset(tokenizer: *const Handle) -> *const c_char;
    pub fn pretok_vocab_size(tokenizer: *const Handle) -> usize;
    pub fn pretok_token_bytes(
        tokenizer: *const Handle,
        id: u32,
        bytes: *mut *const c_char,
        size: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_token_id(
        tokenizer: *const Handle,
        bytes: *const c_char,
        size: usize,
        id: *mut u32,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_is_special(tokenizer: *const Handle, id: u32) -> bool;

    pub fn pretok_special_set_new(
        tokenizer: *const Handle,
        texts: *const *const c_char,
        sizes: *const usize,
        count: usize,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_special_set_free(set: *mut Handle);

    pub fn pretok_encode(
        tokenizer: *const Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        ids: *mut u32,
        capacity: usize,
        count: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_encode_bound(tokenizer: *const Handle, size: usize) -> usize;
    pub fn pretok_encode_new(
        tokenizer: *const Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        ids: *mut *mut u32,
        count: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_encode_batch_new(
        tokenizer: *const Handle,
        texts: *const *const c_char,
        sizes: *const usize,
        text_count: usize,
        options: *const RawEncodeOptions,
        threads: u32,
        ids: *mut *mut u32,
        ends: *mut usize,
        failed_text: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_ids_free(ids: *mut u32);
    pub fn pretok_count(
        tokenizer: *const Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        count: *mut usize,
        error: *mut RawError,
    ) -> c_int;

    pub fn pretok_encode_stream_new(
        tokenizer: *const Handle,
        options: *const RawEncodeOptions,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_encode_stream_feed(
        stream: *mut Handle,
        chunk: *const c_char,
        size: usize,
        ids: *mut *const u32,
        count: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_encode_stream_finish(
        stream: *mut Handle,
        ids: *mut *const u32,
        count: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_encode_stream_free(stream: *mut Handle);

    pub fn pretok_decode(
        tokenizer: *const Handle,
        ids: *const u32,
        id_count: usize,
        skip_special: bool,
        bytes: *mut c_char,
        capacity: usize,
        size: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_new(
        tokenizer: *const Handle,
        skip_special: bool,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_feed(
        stream: *mut Handle,
        ids: *const u32,
        count: usize,
        text: *mut *const c_char,
        size: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_finish(
        stream: *mut Handle,
        text: *mut *const c_char,
        size: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_free(stream: *mut Handle);
}
