//! The functions and structs of `pretok.h` that the crate uses. `pretok.h` documents them.

use std::os::raw::{c_char, c_int, c_uint, c_void};

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
    pub default_preset: *const c_char,
    pub dropout: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawEncodeOptions {
    pub struct_size: usize,
    pub special: c_int,
    pub allowed: *const Handle,
    pub add_special_tokens: bool,
    pub continuation: bool,
    pub dropout: f64,
    pub seed: u64,
}

#[repr(C)]
pub struct RawDecodeOptions {
    pub struct_size: usize,
    pub skip_special: bool,
    pub continuation: bool,
    pub clean_up: bool,
    pub stop: *const *const c_char,
    pub stop_sizes: *const usize,
    pub stop_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawSpan {
    pub start: usize,
    pub end: usize,
}

#[repr(C)]
pub struct RawPatch {
    pub keep: usize,
    pub tail: usize,
    pub ids: *const u32,
    pub count: usize,
}

#[repr(C)]
pub struct RawReuse {
    pub prefix: usize,
    pub total: usize,
}

#[repr(C)]
#[derive(Default)]
pub struct RawPromptStatistics {
    pub struct_size: usize,
    pub calls: u64,
    pub bytes: u64,
    pub bytes_reused: u64,
    pub ids: u64,
    pub ids_reused: u64,
    pub chunks: u64,
    pub bytes_held: u64,
    pub evicted: u64,
}

pub const ROLES: usize = 14;
pub const NO_ID: u32 = u32::MAX;
pub const NO_STOP: usize = usize::MAX;

#[repr(C)]
pub struct RawFacts {
    pub struct_size: usize,
    pub roles: [u32; ROLES],
    pub add_bos: bool,
    pub add_eos: bool,
    pub end_ids: *const u32,
    pub end_id_count: usize,
    pub chat_template: *const c_char,
    pub chat_template_size: usize,
    pub max_token_bytes: usize,
}

#[repr(C)]
pub struct RawVocabulary {
    pub struct_size: usize,
    pub count: usize,
    pub bytes: *const c_char,
    pub offsets: *const u32,
    pub types: *const u8,
    pub sorted: *const u32,
    pub sorted_count: usize,
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

    pub fn pretok_tokenizer_kind(tokenizer: *const Handle) -> c_int;
    pub fn pretok_tokenizer_dropout(tokenizer: *const Handle) -> f64;
    pub fn pretok_token_type_of(
        tokenizer: *const Handle,
        id: u32,
        kind: *mut c_int,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_rendered_bytes(
        tokenizer: *const Handle,
        id: u32,
        bytes: *mut *const c_char,
        size: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_token_score(
        tokenizer: *const Handle,
        id: u32,
        score: *mut f32,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_token_facts_of(
        tokenizer: *const Handle,
        result: *mut RawFacts,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_vocabulary_of(
        tokenizer: *const Handle,
        result: *mut RawVocabulary,
        error: *mut RawError,
    ) -> c_int;

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
    pub fn pretok_encode_spans(
        tokenizer: *const Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        ids: *mut u32,
        spans: *mut RawSpan,
        capacity: usize,
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

    pub fn pretok_decode_batch(
        tokenizer: *const Handle,
        ids: *const u32,
        id_offsets: *const usize,
        count: usize,
        skip_special: bool,
        threads: c_uint,
        bytes: *mut *mut c_char,
        byte_offsets: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_bytes_free(bytes: *mut c_char);

    pub fn pretok_decode_stream_with(
        tokenizer: *const Handle,
        options: *const RawDecodeOptions,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_clone(
        stream: *const Handle,
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
    pub fn pretok_decode_stream_reset(stream: *mut Handle, error: *mut RawError) -> c_int;
    pub fn pretok_decode_stream_rewind(
        stream: *mut Handle,
        count: usize,
        removed: *mut usize,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_decode_stream_stopped(stream: *const Handle) -> usize;
    pub fn pretok_decode_stream_size(stream: *const Handle) -> usize;
    pub fn pretok_decode_stream_free(stream: *mut Handle);

    pub fn pretok_session_new(
        tokenizer: *const Handle,
        options: *const RawEncodeOptions,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_append(
        session: *mut Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        patch: *mut RawPatch,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_peek(
        session: *mut Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        patch: *mut RawPatch,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_update(
        session: *mut Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        patch: *mut RawPatch,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_replace(
        session: *mut Handle,
        start: usize,
        end: usize,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        patch: *mut RawPatch,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_extend(
        session: *mut Handle,
        ids: *const u32,
        count: usize,
        patch: *mut RawPatch,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_fork(
        session: *const Handle,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_spans(
        session: *const Handle,
        first: usize,
        last: usize,
        spans: *mut RawSpan,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_session_drop_text(session: *mut Handle);
    pub fn pretok_session_ids(session: *const Handle, count: *mut usize) -> *const u32;
    pub fn pretok_session_text(session: *const Handle, size: *mut usize) -> *const c_char;
    pub fn pretok_session_stable(session: *const Handle) -> usize;
    pub fn pretok_session_free(session: *mut Handle);

    pub fn pretok_prompt_cache_new(
        tokenizer: *const Handle,
        max_bytes: usize,
        result: *mut *mut Handle,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_prompt_cache_encode(
        cache: *mut Handle,
        text: *const c_char,
        size: usize,
        options: *const RawEncodeOptions,
        salt: *const c_char,
        salt_size: usize,
        ids: *mut u32,
        capacity: usize,
        count: *mut usize,
        reuse: *mut RawReuse,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_prompt_cache_statistics(
        cache: *const Handle,
        result: *mut RawPromptStatistics,
        error: *mut RawError,
    ) -> c_int;
    pub fn pretok_prompt_cache_clear(cache: *mut Handle);
    pub fn pretok_prompt_cache_free(cache: *mut Handle);
}
