/* pretok for C: text to token ids and back, without Python and without a regex engine.
 *
 * Handles are opaque. Streams belong to one thread at a time. All other handles are immutable,
 * and any number of threads may share them. The library initializes its global state once: the
 * instruction sets of the processor, the random key of hash tables, and the environment
 * variable PRETOK_HUGE_PAGES (0 disables huge pages). The library prints nothing, never aborts,
 * and lets no exception escape.
 *
 * Text is UTF-8. Unless a model says otherwise, invalid bytes are encoded like other bytes, and
 * decode to themselves. Sizes and positions are in bytes. Text needs no final NUL and may
 * contain NULs.
 *
 * A function that can fail returns a pretok_status. The last argument of the function receives
 * the error and may be NULL. Functions that free a handle accept NULL.
 *
 * Some functions write their results to a buffer of the caller, which has room for `capacity`
 * elements. `count` (or `size`) receives the number of elements of the result. If the buffer is
 * NULL, only this number is computed. If the buffer is too small, the status is
 * PRETOK_TOO_SMALL, and only the number is written. After any other error the contents of the
 * buffer are unspecified. All other output arguments are written only if the status is
 * PRETOK_OK. */
#ifndef PRETOK_H
#define PRETOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(PRETOK_SHARED) && defined(_WIN32)
#ifdef PRETOK_BUILDING
#define PRETOK_API __declspec(dllexport)
#else
#define PRETOK_API __declspec(dllimport)
#endif
#elif defined(PRETOK_SHARED) && defined(__GNUC__)
#define PRETOK_API __attribute__((visibility("default")))
#else
#define PRETOK_API
#endif

#ifdef __cplusplus
#define PRETOK_NOEXCEPT noexcept
extern "C" {
#else
#define PRETOK_NOEXCEPT
#endif

/* The version of the interface in this header. It increases with each change that breaks
 * programs compiled with an older header. pretok_abi_version() returns the version of the
 * interface of the linked library. */
#define PRETOK_ABI_VERSION 1
PRETOK_API uint32_t pretok_abi_version(void) PRETOK_NOEXCEPT;
/* The version of the library, such as "0.1.0". */
PRETOK_API const char *pretok_version(void) PRETOK_NOEXCEPT;

typedef enum pretok_status {
  PRETOK_OK = 0,
  PRETOK_OUT_OF_MEMORY = 1,
  PRETOK_INVALID_ARGUMENT = 2, /* an argument is NULL or has an unknown value */
  PRETOK_TOO_SMALL = 3,        /* the buffer is too small; `count` has the needed capacity */
  PRETOK_UNKNOWN_NAME = 4,     /* no preset, Unicode version or token has this name */
  PRETOK_CANNOT_READ = 5,      /* the file cannot be read; the message has the reason */
  PRETOK_MALFORMED = 6,        /* a file or program is damaged or not valid */
  PRETOK_UNSUPPORTED = 7,      /* the file is valid, but needs a feature that is missing */
  PRETOK_SPECIAL_TOKEN = 8,    /* the text has a special token that the options refuse */
  PRETOK_UNKNOWN_ID = 9,       /* no token has this id */
  PRETOK_REMOVES_TEXT = 10,    /* the preset drops text, so decoding would lose it */
  PRETOK_FINISHED = 11,        /* the stream is finished */
  PRETOK_NO_TOKEN = 12,        /* the vocabulary has no token for a byte */
  PRETOK_INTERNAL = 13         /* a bug in the library; please report it */
} pretok_status;

/* An error. The message says what was expected, what the library got, and what to do. */
typedef struct pretok_error {
  pretok_status status;
  size_t position;   /* for PRETOK_SPECIAL_TOKEN and PRETOK_NO_TOKEN: an offset in the text (in
                        all of it, for a stream); for PRETOK_UNKNOWN_ID: an index in the `ids`
                        of the call; else 0 */
  char message[240]; /* UTF-8, NUL-terminated, truncated if too long */
} pretok_error;

/* ---- Pre-tokens ---------------------------------------------------------------------- */

typedef struct pretok_pre_tokenizer pretok_pre_tokenizer;

/* A half-open range of bytes: start <= i < end. */
typedef struct pretok_span {
  size_t start;
  size_t end;
} pretok_span;

/* The number of built-in presets. */
PRETOK_API size_t pretok_preset_count(void) PRETOK_NOEXCEPT;
/* The name of a built-in preset; NULL if `index` is out of range. */
PRETOK_API const char *pretok_preset_name(size_t index) PRETOK_NOEXCEPT;

/* Makes the pre-tokenizer of a built-in preset. `name` is its name or an alias. `unicode` is a
 * Unicode version such as "16.0"; NULL selects the version of the preset. Fails with
 * PRETOK_UNKNOWN_NAME if the name or the version is unknown. */
PRETOK_API pretok_status pretok_pre_tokenizer_named(const char *name, const char *unicode,
                                                    pretok_pre_tokenizer **result,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* Makes the pre-tokenizer of a custom preset, from the words and the Unicode version that
 * `pretok program NAME` writes. Fails with PRETOK_MALFORMED if the words are not a program, and
 * with PRETOK_UNKNOWN_NAME if the version is unknown. */
PRETOK_API pretok_status pretok_pre_tokenizer_from_program(const uint32_t *words, size_t count,
                                                           const char *unicode,
                                                           pretok_pre_tokenizer **result,
                                                           pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_pre_tokenizer_free(pretok_pre_tokenizer *) PRETOK_NOEXCEPT;

/* Splits a text into pre-tokens, in order. The spans have no gaps between them, unless the
 * preset drops text. Linear time. */
PRETOK_API pretok_status pretok_spans(const pretok_pre_tokenizer *, const char *text,
                                      size_t size, pretok_span *spans, size_t capacity,
                                      size_t *count, pretok_error *error) PRETOK_NOEXCEPT;

/* ---- Tokenizers ---------------------------------------------------------------------- */

typedef struct pretok_tokenizer pretok_tokenizer;

typedef struct pretok_special_token {
  const char *text; /* UTF-8 */
  size_t size;
  uint32_t id;
} pretok_special_token;

/* Set struct_size to sizeof(pretok_load_options). For a member that is 0, the value in the file
 * applies. If the file has none, the default applies. If the tokens of the model are text, not
 * bytes (as in a .model of SentencePiece), the file alone says how to split and normalize:
 * `preset`, `unicode`, `normalizer` and `pre_tokenizer` must be NULL. */
typedef struct pretok_load_options {
  size_t struct_size;
  const char *preset;     /* the name of the pre-tokenizer; necessary for tiktoken rank files */
  const char *unicode;    /* the Unicode version of the preset */
  const char *normalizer; /* "NFC"; for models that need it if the file does not say so, such as
                             GGUF files */
  const pretok_special_token *special_tokens; /* added to the special tokens of the file */
  size_t special_token_count;
  const pretok_pre_tokenizer *pre_tokenizer; /* if not NULL, `preset` and `unicode`
                                                must be NULL; copied */
  size_t cache_bytes; /* the maximum size of all caches (pretok_tokenizer_cache_limit); 0 means
                         128 MiB; with 1, no cache is kept between calls */
  const char *default_preset; /* the name of the pre-tokenizer if neither the file nor `preset`
                                 names one; "default" splits like llama.cpp's default */
  bool dropout; /* prepares the tokenizer for the encode option `dropout`, which takes more time
                   and memory */
} pretok_load_options;

/* Loads a tokenizer from a file. The content decides the format: a tiktoken rank file, a GGUF
 * file (only the tokenizer section is read), a .pretok file written by Python's Tokenizer.save,
 * a .model of SentencePiece, or a tokenizer.json.
 * `options` may be NULL. `path` is UTF-8 and names a regular file. */
PRETOK_API pretok_status pretok_tokenizer_from_file(const char *path,
                                                    const pretok_load_options *options,
                                                    pretok_tokenizer **result,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* Loads a tokenizer from the bytes of a file. The bytes are not used after the call. */
PRETOK_API pretok_status pretok_tokenizer_from_memory(const void *data, size_t size,
                                                      const pretok_load_options *options,
                                                      pretok_tokenizer **result,
                                                      pretok_error *error) PRETOK_NOEXCEPT;

/* The types of GGUF, with the numbers of this format. */
typedef enum pretok_gguf_type {
  PRETOK_GGUF_UINT8 = 0,
  PRETOK_GGUF_INT8 = 1,
  PRETOK_GGUF_UINT16 = 2,
  PRETOK_GGUF_INT16 = 3,
  PRETOK_GGUF_UINT32 = 4,
  PRETOK_GGUF_INT32 = 5,
  PRETOK_GGUF_FLOAT32 = 6,
  PRETOK_GGUF_BOOL = 7, /* one byte, 0 or 1 */
  PRETOK_GGUF_STRING = 8,
  PRETOK_GGUF_UINT64 = 10,
  PRETOK_GGUF_INT64 = 11,
  PRETOK_GGUF_FLOAT64 = 12
} pretok_gguf_type;

/* A value of the metadata of a GGUF file. */
typedef struct pretok_gguf_value {
  const char *key;       /* such as "tokenizer.ggml.tokens"; NUL-terminated */
  pretok_gguf_type type; /* of the value, or of the elements of the array */
  bool is_array;
  size_t count;        /* of the elements; 1 if the value is not an array */
  const void *data;    /* the numbers; for strings, an array of `const char *` */
  const size_t *sizes; /* of the strings in bytes; NULL if they are NUL-terminated */
} pretok_gguf_value;

/* Loads a tokenizer from values that an engine has read from its own GGUF file: the tokens,
 * merges, types, scores and flags. Needs the keys that begin with "tokenizer." and the key
 * "general.name", and skips all others. The result is that of pretok_tokenizer_from_file. The
 * values are not used after the call. */
PRETOK_API pretok_status pretok_tokenizer_from_gguf_values(const pretok_gguf_value *values,
                                                           size_t count,
                                                           const pretok_load_options *options,
                                                           pretok_tokenizer **result,
                                                           pretok_error *error) PRETOK_NOEXCEPT;
/* Frees a tokenizer. Free the streams and special sets of the tokenizer first. */
PRETOK_API void pretok_tokenizer_free(pretok_tokenizer *) PRETOK_NOEXCEPT;

/* Encoding keeps caches between calls. Each running call takes one cache. All caches of a
 * tokenizer together hold at most pretok_tokenizer_cache_limit bytes. Each running call may
 * hold 256 KiB more if the limit is reached. */
PRETOK_API size_t pretok_tokenizer_cache_limit(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* The number of bytes that the caches hold now. */
PRETOK_API size_t pretok_tokenizer_cache_bytes(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* Frees all unused caches. Any thread may call it at any time. */
PRETOK_API void pretok_tokenizer_trim(const pretok_tokenizer *) PRETOK_NOEXCEPT;

/* The name of the preset; "" for a custom pre-tokenizer. Valid until the tokenizer is freed. */
PRETOK_API const char *pretok_tokenizer_preset(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* The largest id plus one. */
PRETOK_API size_t pretok_vocab_size(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* The bytes of a token. Valid until the tokenizer is freed. Fails with PRETOK_UNKNOWN_ID if no
 * token has `id`. */
PRETOK_API pretok_status pretok_token_bytes(const pretok_tokenizer *, uint32_t id,
                                            const char **bytes, size_t *size,
                                            pretok_error *error) PRETOK_NOEXCEPT;
/* Finds the id of a token by its bytes. If several tokens have these bytes, returns the id of
 * an added token, or else the lowest id. Prefers other tokens to fallback tokens such as
 * <0x0A>. Fails with PRETOK_UNKNOWN_NAME if no token has these bytes. The first call builds an
 * index; all later calls take time only for the bytes. */
PRETOK_API pretok_status pretok_token_id(const pretok_tokenizer *, const char *bytes,
                                         size_t size, uint32_t *id,
                                         pretok_error *error) PRETOK_NOEXCEPT;
/* Returns whether `id` is the id of a special token. */
PRETOK_API bool pretok_is_special(const pretok_tokenizer *, uint32_t id) PRETOK_NOEXCEPT;

/* ---- What samplers ask ----------------------------------------------------------------- */

/* Facts about tokens come from the file. A fact that the file does not state is absent, or
 * follows from the tokens as described. No fact changes ids or texts. */

/* The id of a role that no token has. */
#define PRETOK_NO_ID ((uint32_t)0xFFFFFFFF)

/* The kind of a model. */
typedef enum pretok_model_kind {
  PRETOK_KIND_BYTES = 0,         /* tokens are bytes: byte-level BPE */
  PRETOK_KIND_SENTENCEPIECE = 1, /* tokens are text, decoded as SentencePiece does */
  PRETOK_KIND_TEXT = 2           /* tokens are text, decoded as a tokenizer.json says */
} pretok_model_kind;
PRETOK_API pretok_model_kind pretok_tokenizer_kind(const pretok_tokenizer *) PRETOK_NOEXCEPT;

/* The dropout of a tokenizer.json, or 0. No call uses it by itself: pass it as the encode
 * option `dropout` to encode as Hugging Face's tokenizers do with this file. */
PRETOK_API double pretok_tokenizer_dropout(const pretok_tokenizer *) PRETOK_NOEXCEPT;

/* The type of a token, with the numbers of GGUF files. If the file has no types, a special
 * token is CONTROL, another added token USER_DEFINED, a fallback token BYTE, the unknown token
 * UNKNOWN, and any other token NORMAL. */
typedef enum pretok_token_type {
  PRETOK_TYPE_UNDEFINED = 0,
  PRETOK_TYPE_NORMAL = 1,
  PRETOK_TYPE_UNKNOWN = 2,
  PRETOK_TYPE_CONTROL = 3,
  PRETOK_TYPE_USER_DEFINED = 4,
  PRETOK_TYPE_UNUSED = 5,
  PRETOK_TYPE_BYTE = 6
} pretok_token_type;
/* Fails with PRETOK_UNKNOWN_ID if no token has `id`; so do the next two functions. */
PRETOK_API pretok_status pretok_token_type_of(const pretok_tokenizer *, uint32_t id,
                                              pretok_token_type *type,
                                              pretok_error *error) PRETOK_NOEXCEPT;
/* The bytes that a token adds in the middle of a decoded text: a space for the mark U+2581 of a
 * SentencePiece model, and one byte for a fallback token such as <0x0A>. pretok_token_bytes
 * gives the bytes that the file stores. Valid until the tokenizer is freed. */
PRETOK_API pretok_status pretok_rendered_bytes(const pretok_tokenizer *, uint32_t id,
                                               const char **bytes, size_t *size,
                                               pretok_error *error) PRETOK_NOEXCEPT;
/* The score of a token. If the file lists merges and no scores, it is minus the rank of the
 * first merge that makes the token. The score of any other token is 0. */
PRETOK_API pretok_status pretok_token_score(const pretok_tokenizer *, uint32_t id, float *score,
                                            pretok_error *error) PRETOK_NOEXCEPT;

/* The role of a token. */
typedef enum pretok_role {
  PRETOK_ROLE_BOS = 0,
  PRETOK_ROLE_EOS = 1,
  PRETOK_ROLE_UNK = 2,
  PRETOK_ROLE_PAD = 3,
  PRETOK_ROLE_SEP = 4,
  PRETOK_ROLE_MASK = 5,
  PRETOK_ROLE_EOT = 6, /* the end of a turn */
  PRETOK_ROLE_EOM = 7, /* the end of a message */
  PRETOK_ROLE_FIM_PREFIX = 8,
  PRETOK_ROLE_FIM_SUFFIX = 9,
  PRETOK_ROLE_FIM_MIDDLE = 10,
  PRETOK_ROLE_FIM_PAD = 11,
  PRETOK_ROLE_FIM_REPO = 12,
  PRETOK_ROLE_FIM_SEP = 13
} pretok_role;

/* Set struct_size to sizeof(pretok_token_facts). Pointers are valid until the tokenizer is
 * freed. */
typedef struct pretok_token_facts {
  size_t struct_size;
  uint32_t roles[14];      /* by pretok_role: an id, or PRETOK_NO_ID. If the file does not state
                              a role from EOT on, published texts such as <|im_end|> and
                              <|fim_prefix|> decide; other roles are then absent. */
  bool add_bos;            /* add_special_tokens puts the BOS token before a text */
  bool add_eos;            /* add_special_tokens puts the EOS token after a text */
  const uint32_t *end_ids; /* the ids that end a generation, ascending: the ids of some roles,
                              and published texts, as in llama.cpp */
  size_t end_id_count;
  const char *chat_template; /* in Jinja, NUL-terminated; NULL if there is none */
  size_t chat_template_size;
  size_t max_token_bytes; /* the size of the longest token: rendered bytes */
} pretok_token_facts;
PRETOK_API pretok_status pretok_token_facts_of(const pretok_tokenizer *,
                                               pretok_token_facts *result,
                                               pretok_error *error) PRETOK_NOEXCEPT;

/* All tokens at once, without a copy. Valid until the tokenizer is freed. Set struct_size to
 * sizeof(pretok_vocabulary). */
typedef struct pretok_vocabulary {
  size_t struct_size;
  size_t count;            /* the number of ids: pretok_vocab_size */
  const char *bytes;       /* the rendered bytes of all tokens */
  const uint32_t *offsets; /* count + 1 of them: token id is bytes[offsets[id]] to
                              bytes[offsets[id + 1]]; an id without a token has no bytes */
  const uint8_t *types;    /* the pretok_token_type of each id */
  const uint32_t *sorted;  /* the ids of all tokens in the order of their bytes, equal bytes in
                              the order of ids */
  size_t sorted_count;
} pretok_vocabulary;
PRETOK_API pretok_status pretok_vocabulary_of(const pretok_tokenizer *,
                                              pretok_vocabulary *result,
                                              pretok_error *error) PRETOK_NOEXCEPT;

/* ---- Encoding ------------------------------------------------------------------------ */

/* The treatment of special tokens that a text contains. */
typedef enum pretok_special {
  PRETOK_SPECIAL_RAISE = 0,  /* fails, so untrusted text cannot inject special tokens */
  PRETOK_SPECIAL_TEXT = 1,   /* encodes the special token as ordinary text */
  PRETOK_SPECIAL_ALLOW = 2,  /* encodes the special token as its id */
  PRETOK_SPECIAL_PLAIN = 3,  /* encodes all added tokens as ordinary text, also those that are
                                not special, such as user-defined tokens */
  PRETOK_SPECIAL_CONTENT = 4 /* like PRETOK_SPECIAL_PLAIN, but finds tokens of white space alone
                                that are not special: they cannot mark structure */
} pretok_special;

/* A set of special tokens to encode as ids. All other special tokens are ordinary text. */
typedef struct pretok_special_set pretok_special_set;
/* Makes a set of `count` special tokens. Text i has sizes[i] bytes. Fails with
 * PRETOK_UNKNOWN_NAME if a text is not a special token. Free the streams that use the set
 * before the set. */
PRETOK_API pretok_status pretok_special_set_new(const pretok_tokenizer *,
                                                const char *const *texts, const size_t *sizes,
                                                size_t count, pretok_special_set **result,
                                                pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_special_set_free(pretok_special_set *) PRETOK_NOEXCEPT;

/* Set struct_size to sizeof(pretok_encode_options). If `options` is NULL, all members are 0. */
typedef struct pretok_encode_options {
  size_t struct_size;
  pretok_special special;
  const pretok_special_set *allowed; /* if not NULL, replaces `special` */
  bool add_special_tokens; /* adds the ids that the file puts before and after a text */
  bool continuation;       /* the text continues another text: models that put a space before a
                              text, such as Llama 2, put none before this text */
  double dropout;          /* leaves out each merge at random with this probability, from 0 to 1
                              (BPE dropout, as in Hugging Face's tokenizers). Needs the load option
                              `dropout`. Only pretok_encode, pretok_encode_new, pretok_count and the
                              functions for batches take it; the others fail */
  uint64_t seed; /* of the random draws. The ids of a text depend on the seed and on the
                    index of the text in its batch, as in Python */
} pretok_encode_options;

/* Encodes a text. A buffer with room for pretok_encode_bound() ids is always large enough, and
 * receives the ids without a copy. Ids are below 2^31, so the buffer may be an array of
 * int32_t, with a cast. May fail with PRETOK_SPECIAL_TOKEN or PRETOK_NO_TOKEN. Takes linear
 * time for usual text, and O(size log size) time in the worst case. */
PRETOK_API pretok_status pretok_encode(const pretok_tokenizer *, const char *text, size_t size,
                                       const pretok_encode_options *options, uint32_t *ids,
                                       size_t capacity, size_t *count,
                                       pretok_error *error) PRETOK_NOEXCEPT;
/* The bound is at most SIZE_MAX / sizeof(uint32_t), so its size in bytes does not overflow.
 * Normalizers may make the bound much larger than the text; pretok_encode_new allocates only
 * the size of the result. */
PRETOK_API size_t pretok_encode_bound(const pretok_tokenizer *, size_t size) PRETOK_NOEXCEPT;
/* Encodes a text into a new array, which has the size of the result. Free the array with
 * pretok_ids_free. Use this function to encode a long text once instead of counting its ids
 * first. */
PRETOK_API pretok_status pretok_encode_new(const pretok_tokenizer *, const char *text,
                                           size_t size, const pretok_encode_options *options,
                                           uint32_t **ids, size_t *count,
                                           pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_ids_free(uint32_t *ids) PRETOK_NOEXCEPT;
/* The number of ids of a text, computed without storing them. */
PRETOK_API pretok_status pretok_count(const pretok_tokenizer *, const char *text, size_t size,
                                      const pretok_encode_options *options, size_t *count,
                                      pretok_error *error) PRETOK_NOEXCEPT;

/* Encodes a text like pretok_encode. Span i is the part of the text that token i stands for, in
 * bytes. It refers to the text before normalization, and includes spaces. `ids` and `spans`
 * have the same capacity; if one is NULL, both must be. Tokens that share a character have
 * spans that overlap. The ids before the text have the empty span at its start, and the ids
 * after the text have the empty span at its end. */
PRETOK_API pretok_status pretok_encode_spans(const pretok_tokenizer *, const char *text,
                                             size_t size, const pretok_encode_options *options,
                                             uint32_t *ids, pretok_span *spans, size_t capacity,
                                             size_t *count,
                                             pretok_error *error) PRETOK_NOEXCEPT;

/* Encodes `text_count` texts on up to `threads` threads; 0 means one per processor. Text i has
 * sizes[i] bytes. The ids of text i are ids[ends[i - 1]] to ids[ends[i] - 1], where ends[-1] is
 * 0. `ends` has room for `text_count` numbers, and ends[text_count - 1] is the needed capacity.
 * If an error is that of a text, its message names the text, and *failed_text receives the
 * index of the text; `failed_text` may be NULL. A buffer with room for the sum of
 * pretok_encode_bound() of all texts receives the ids without a copy, unless the options add
 * special tokens. */
PRETOK_API pretok_status pretok_encode_batch(const pretok_tokenizer *, const char *const *texts,
                                             const size_t *sizes, size_t text_count,
                                             const pretok_encode_options *options,
                                             uint32_t threads, uint32_t *ids, size_t capacity,
                                             size_t *ends, size_t *failed_text,
                                             pretok_error *error) PRETOK_NOEXCEPT;
/* Like pretok_encode_batch, but returns a new array. Free it with pretok_ids_free. */
PRETOK_API pretok_status pretok_encode_batch_new(
    const pretok_tokenizer *, const char *const *texts, const size_t *sizes, size_t text_count,
    const pretok_encode_options *options, uint32_t threads, uint32_t **ids, size_t *ends,
    size_t *failed_text, pretok_error *error) PRETOK_NOEXCEPT;

/* A part of a text with its own policy: `size` bytes of text, and then `id_count` ids. If
 * `allowed` is not NULL, it replaces `special`. */
typedef struct pretok_segment {
  const char *text;
  size_t size;
  const uint32_t *ids;
  size_t id_count;
  pretok_special special;
  const pretok_special_set *allowed;
} pretok_segment;

/* The place of a token: it begins at byte `start` of the text of `segment`, and ends at byte
 * `end`, excluded, of the text of `end_segment`. An id that a segment gives has its index
 * instead of a byte offset. */
typedef struct pretok_segment_span {
  size_t segment;
  size_t start;
  size_t end_segment;
  size_t end;
} pretok_segment_span;

/* Encodes a text that consists of segments. An added token is found only within one segment,
 * and only if the policy of the segment allows it: text of a user with PRETOK_SPECIAL_CONTENT
 * cannot make a special token, alone or together with its neighbors. If `joined`, the segments
 * are one text, so tokens may cross from one segment to the next; otherwise each segment is
 * encoded by itself. No token crosses the ids of a segment. ends[k] receives the number of
 * tokens that begin before the end of segment k; `ends` has room for `segment_count` numbers.
 * `ends` and `spans` may be NULL, which saves time; otherwise `spans` has the capacity of
 * `ids`. The position of an error is an offset in the text of segment *failed_segment;
 * `failed_segment` may be NULL. */
PRETOK_API pretok_status pretok_encode_segments(
    const pretok_tokenizer *, const pretok_segment *segments, size_t segment_count, bool joined,
    uint32_t *ids, pretok_segment_span *spans, size_t capacity, size_t *count, size_t *ends,
    size_t *failed_segment, pretok_error *error) PRETOK_NOEXCEPT;

/* Encodes a text in chunks. Chunks may end anywhere, even within a character. The ids of all
 * calls together equal the ids of the whole text. The stream buffers text until it finds a
 * position where a cut does not change the ids. In text with spaces it buffers at most a
 * kilobyte. If the text has no such position, or if the model has a normalizer other than NFC
 * that does more than replace spaces, it buffers the whole text. Buffering takes linear time in
 * the size of the text, even for very small chunks. */
typedef struct pretok_encode_stream pretok_encode_stream;
PRETOK_API pretok_status pretok_encode_stream_new(const pretok_tokenizer *,
                                                  const pretok_encode_options *options,
                                                  pretok_encode_stream **result,
                                                  pretok_error *error) PRETOK_NOEXCEPT;
/* Appends a chunk. *ids receives the ids that the chunk completes, valid until the next call
 * with this stream. An error leaves the stream unchanged. The `position` of the error counts
 * from the start of the text. A later call may report a special token of this chunk, but no
 * error gets lost. */
PRETOK_API pretok_status pretok_encode_stream_feed(pretok_encode_stream *, const char *chunk,
                                                   size_t size, const uint32_t **ids,
                                                   size_t *count,
                                                   pretok_error *error) PRETOK_NOEXCEPT;
/* Ends the text and returns its last ids. After that the stream can only be freed. */
PRETOK_API pretok_status pretok_encode_stream_finish(pretok_encode_stream *,
                                                     const uint32_t **ids, size_t *count,
                                                     pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_encode_stream_free(pretok_encode_stream *) PRETOK_NOEXCEPT;

/* ---- Sessions ------------------------------------------------------------------------ */

/* Says how a call has changed the ids of a session: the first `keep` and the last `tail` ids
 * stay, and ids[0] to ids[count - 1] come between them. `ids` is valid until the next call with
 * the session. */
typedef struct pretok_patch {
  size_t keep;
  size_t tail;
  const uint32_t *ids;
  size_t count;
} pretok_patch;

/* A text that changes, and its ids. After each call the ids are those of the whole text, but a
 * change encodes only the text near it. Positions count bytes. An error leaves a session
 * unchanged. Its `position` counts from the start of the whole text. Not safe to share between
 * threads; several sessions may share a tokenizer.
 *
 * `options` say how to treat special tokens. Each text may have its own; with NULL it gets
 * those of the session. Neighboring texts with the same treatment are one text, and a match of
 * an added token never crosses to text with another treatment. A pretok_special_set must live
 * as long as the session. A session has no template, so add_special_tokens must be false. */
typedef struct pretok_session pretok_session;
PRETOK_API pretok_status pretok_session_new(const pretok_tokenizer *,
                                            const pretok_encode_options *options,
                                            pretok_session **result,
                                            pretok_error *error) PRETOK_NOEXCEPT;
/* Adds a text at the end. */
PRETOK_API pretok_status pretok_session_append(pretok_session *, const char *text, size_t size,
                                               const pretok_encode_options *options,
                                               pretok_patch *patch,
                                               pretok_error *error) PRETOK_NOEXCEPT;
/* Returns the patch of pretok_session_append, without a change. */
PRETOK_API pretok_status pretok_session_peek(pretok_session *, const char *text, size_t size,
                                             const pretok_encode_options *options,
                                             pretok_patch *patch,
                                             pretok_error *error) PRETOK_NOEXCEPT;
/* Changes the whole text to `text`: encodes all but the longest common start and end. */
PRETOK_API pretok_status pretok_session_update(pretok_session *, const char *text, size_t size,
                                               const pretok_encode_options *options,
                                               pretok_patch *patch,
                                               pretok_error *error) PRETOK_NOEXCEPT;
/* Replaces the bytes from `start` to `end`, excluded. With an empty text, removes them. */
PRETOK_API pretok_status pretok_session_replace(pretok_session *, size_t start, size_t end,
                                                const char *text, size_t size,
                                                const pretok_encode_options *options,
                                                pretok_patch *patch,
                                                pretok_error *error) PRETOK_NOEXCEPT;
/* Adds ids that a model has made, which are never encoded. Their text is that of
 * pretok_rendered_bytes; an id without a token has none. The text after them is encoded as text
 * that continues. If a call replaces a byte of an id, the rest of its bytes become text. */
PRETOK_API pretok_status pretok_session_extend(pretok_session *, const uint32_t *ids,
                                               size_t count, pretok_patch *patch,
                                               pretok_error *error) PRETOK_NOEXCEPT;
/* Makes an independent copy, in linear time. */
PRETOK_API pretok_status pretok_session_fork(const pretok_session *, pretok_session **result,
                                             pretok_error *error) PRETOK_NOEXCEPT;
/* Writes the spans in bytes of the ids from `first` to `last`, excluded. */
PRETOK_API pretok_status pretok_session_spans(const pretok_session *, size_t first, size_t last,
                                              pretok_span *spans,
                                              pretok_error *error) PRETOK_NOEXCEPT;
/* Drops the text that no append changes, now and after each later call. The session then takes
 * about 4 bytes per id. Its text is only the end that is left, and only append, peek, extend
 * and fork can change or copy it. Positions of errors still count the whole text. */
PRETOK_API void pretok_session_drop_text(pretok_session *) PRETOK_NOEXCEPT;
/* The ids and the text, valid until the next change. */
PRETOK_API const uint32_t *pretok_session_ids(const pretok_session *,
                                              size_t *count) PRETOK_NOEXCEPT;
PRETOK_API const char *pretok_session_text(const pretok_session *,
                                           size_t *size) PRETOK_NOEXCEPT;
/* The number of first ids that stay whatever text is appended. */
PRETOK_API size_t pretok_session_stable(const pretok_session *) PRETOK_NOEXCEPT;
PRETOK_API void pretok_session_free(pretok_session *) PRETOK_NOEXCEPT;

/* ---- Prompt caches ------------------------------------------------------------------- */

/* Encodes texts that have parts in common with earlier texts: the same instructions, the turns
 * of a chat, documents in another order. It divides a text into chunks of 2 to 4 KiB, at places
 * where a cut changes no id, and keeps the bytes and the ids of chunks in at most `max_bytes`
 * bytes. With a normalizer other than NFC that does more than replace spaces, it keeps whole
 * texts. Threads may share a cache. Free it before its tokenizer. */
typedef struct pretok_prompt_cache pretok_prompt_cache;
PRETOK_API pretok_status pretok_prompt_cache_new(const pretok_tokenizer *, size_t max_bytes,
                                                 pretok_prompt_cache **result,
                                                 pretok_error *error) PRETOK_NOEXCEPT;

/* The numbers of ids of a call that were in the cache. `prefix` counts those before the first
 * id that was not; if it is not 0, it includes the ids of the template before the text. `total`
 * counts all, without those of the template. */
typedef struct pretok_reuse {
  size_t prefix;
  size_t total;
} pretok_reuse;

/* Encodes a text like pretok_encode, always with the same result. Texts share chunks only if
 * their salts are equal: the time of a call shows whether its parts were in the cache, so give
 * each tenant its own salt. `reuse` may be NULL. If `ids` is NULL or too small, the call
 * also keeps chunks and writes *reuse, so the second call is fast. */
PRETOK_API pretok_status pretok_prompt_cache_encode(
    pretok_prompt_cache *, const char *text, size_t size, const pretok_encode_options *options,
    const char *salt, size_t salt_size, uint32_t *ids, size_t capacity, size_t *count,
    pretok_reuse *reuse, pretok_error *error) PRETOK_NOEXCEPT;

/* Encodes segments like pretok_encode_segments, always with the same ids and ends. A chunk is
 * reused only where the policies, the ends of segments and the ids of segments in it are equal.
 * `salt` and `reuse` are those of pretok_prompt_cache_encode. */
PRETOK_API pretok_status pretok_prompt_cache_encode_segments(
    pretok_prompt_cache *, const pretok_segment *segments, size_t segment_count, bool joined,
    const char *salt, size_t salt_size, uint32_t *ids, size_t capacity, size_t *count,
    size_t *ends, pretok_reuse *reuse, size_t *failed_segment,
    pretok_error *error) PRETOK_NOEXCEPT;

/* Set struct_size to sizeof(pretok_prompt_statistics). `bytes` and `ids` count the texts of all
 * calls that did not fail, and `..._reused` the part of them that was in the cache. */
typedef struct pretok_prompt_statistics {
  size_t struct_size;
  uint64_t calls;
  uint64_t bytes;
  uint64_t bytes_reused;
  uint64_t ids;
  uint64_t ids_reused;
  uint64_t chunks;     /* in the cache now */
  uint64_t bytes_held; /* by the cache now */
  uint64_t evicted;    /* chunks that were dropped to make room */
} pretok_prompt_statistics;
PRETOK_API pretok_status pretok_prompt_cache_statistics(const pretok_prompt_cache *,
                                                        pretok_prompt_statistics *result,
                                                        pretok_error *error) PRETOK_NOEXCEPT;
/* Drops all chunks. */
PRETOK_API void pretok_prompt_cache_clear(pretok_prompt_cache *) PRETOK_NOEXCEPT;
PRETOK_API void pretok_prompt_cache_free(pretok_prompt_cache *) PRETOK_NOEXCEPT;

/* ---- Decoding ------------------------------------------------------------------------ */

/* Decodes ids to bytes. The ids of a whole UTF-8 text decode to UTF-8; other ids may decode to
 * invalid UTF-8. If `skip_special`, omits special tokens. Fails with PRETOK_UNKNOWN_ID at the
 * first id without a token. */
PRETOK_API pretok_status pretok_decode(const pretok_tokenizer *, const uint32_t *ids,
                                       size_t id_count, bool skip_special, char *bytes,
                                       size_t capacity, size_t *size,
                                       pretok_error *error) PRETOK_NOEXCEPT;

/* Decodes several lists of ids on several threads; 0 means one thread per processor. List i is
 * ids[id_offsets[i]] to ids[id_offsets[i + 1]]. *bytes receives the bytes of all texts, to free
 * with pretok_bytes_free, and text i is bytes[byte_offsets[i]] to bytes[byte_offsets[i + 1]].
 * Both lists of offsets have count + 1 members. Otherwise like pretok_decode. */
PRETOK_API pretok_status pretok_decode_batch(const pretok_tokenizer *, const uint32_t *ids,
                                             const size_t *id_offsets, size_t count,
                                             bool skip_special, unsigned threads, char **bytes,
                                             size_t *byte_offsets,
                                             pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_bytes_free(char *bytes) PRETOK_NOEXCEPT;

/* Decodes a stream of ids to UTF-8. Replaces each invalid sequence by one U+FFFD. Models with
 * fallback tokens (such as <0x0A>) instead give one U+FFFD per byte: SentencePiece models for
 * each invalid byte, other models for each byte of a run of fallback tokens that is not UTF-8.
 * Holds back only bytes whose text depends on later ids: an incomplete sequence, a run of
 * fallback tokens, what the decoder of a tokenizer.json may still change, and what may begin a
 * stop string. Keeps all ids, for pretok_decode_stream_rewind. */
typedef struct pretok_decode_stream pretok_decode_stream;
PRETOK_API pretok_status pretok_decode_stream_new(const pretok_tokenizer *, bool skip_special,
                                                  pretok_decode_stream **result,
                                                  pretok_error *error) PRETOK_NOEXCEPT;
/* Set struct_size to sizeof(pretok_decode_options). If `options` is NULL, all members are 0. */
typedef struct pretok_decode_options {
  size_t struct_size;
  bool skip_special; /* omits special tokens */
  bool continuation; /* the ids continue an earlier text, such as a prompt: the first space
                        stays */
  bool clean_up;     /* removes spaces before punctuation, as transformers does if
                        clean_up_tokenization_spaces is true: " ." " ?" " !" " ," " ' " " n't"
                        " 'm" " 's" " 've" " 're" */
  const char *const
      *stop; /* strings that end the text, which may span tokens; UTF-8, not empty */
  const size_t *stop_sizes; /* stop[i] has stop_sizes[i] bytes; 64 KiB in total at most */
  size_t stop_count;
} pretok_decode_options;
PRETOK_API pretok_status pretok_decode_stream_with(const pretok_tokenizer *,
                                                   const pretok_decode_options *options,
                                                   pretok_decode_stream **result,
                                                   pretok_error *error) PRETOK_NOEXCEPT;
/* Copies a stream, such as for beams. Both streams may be used, also by two threads. */
PRETOK_API pretok_status pretok_decode_stream_clone(const pretok_decode_stream *,
                                                    pretok_decode_stream **result,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* Appends ids. *text receives the text that the ids complete, valid until the next call with
 * this stream. An error leaves the stream unchanged. The stop string that ends first ends the
 * text (of several that end at the same byte, the longest), and is not part of it. The stream
 * then ignores the later ids of the call, and further calls fail with PRETOK_FINISHED. */
PRETOK_API pretok_status pretok_decode_stream_feed(pretok_decode_stream *, const uint32_t *ids,
                                                   size_t count, const char **text,
                                                   size_t *size,
                                                   pretok_error *error) PRETOK_NOEXCEPT;
/* Ends the stream and returns the text of the buffered bytes, or "". After that the stream can
 * only be freed. */
PRETOK_API pretok_status pretok_decode_stream_finish(pretok_decode_stream *, const char **text,
                                                     size_t *size,
                                                     pretok_error *error) PRETOK_NOEXCEPT;
/* Removes all ids, also from a finished stream. The options stay. */
PRETOK_API pretok_status pretok_decode_stream_reset(pretok_decode_stream *,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* Removes the last `count` ids, such as rejected drafts. *removed receives the number of bytes
 * at the end of all text so far that are no longer part of it. The stream is then as if it had
 * got only the ids that remain. Fails with PRETOK_INVALID_ARGUMENT if there are fewer ids. */
PRETOK_API pretok_status pretok_decode_stream_rewind(pretok_decode_stream *, size_t count,
                                                     size_t *removed,
                                                     pretok_error *error) PRETOK_NOEXCEPT;
/* The index of the stop string that has ended the text, or PRETOK_NO_STOP. */
#define PRETOK_NO_STOP ((size_t)-1)
PRETOK_API size_t pretok_decode_stream_stopped(const pretok_decode_stream *) PRETOK_NOEXCEPT;
/* The number of ids that the stream has got, without rewound and ignored ones. */
PRETOK_API size_t pretok_decode_stream_size(const pretok_decode_stream *) PRETOK_NOEXCEPT;
PRETOK_API void pretok_decode_stream_free(pretok_decode_stream *) PRETOK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef PRETOK_NOEXCEPT

#endif
