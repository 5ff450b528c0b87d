/* pretok for C: text to token ids and back, without Python and without a regex engine.
 *
 * Handles are opaque and immutable, but for streams: any number of threads may use one at a
 * time. A stream is for one thread at a time. There is no global state but for what is read
 * once: the instructions of the processor, and PRETOK_HUGE_PAGES in the environment (0: huge
 * pages are not asked for). Nothing is printed; no exception and no abort comes out. Text is
 * UTF-8, or any bytes: what is not UTF-8 is kept byte for byte. Sizes and positions are in
 * bytes; text needs no NUL at its end and may have some.
 *
 * Every function that can fail returns a pretok_status and takes, as its last argument, where
 * to put what is wrong; that may be NULL. What a function makes through a pointer is written
 * only with PRETOK_OK. The functions that free take NULL as well.
 *
 * Results go into the caller's buffers. `count` (or `size`) is set to how many there are. With
 * a NULL buffer that is all; with one that is too small nothing is written, and the status is
 * PRETOK_TOO_SMALL. After any other error a buffer may hold anything. */
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

/* The version of this interface. It grows by one with each change that breaks programs that
 * were compiled with an older header; pretok_abi_version() tells that of the library. */
#define PRETOK_ABI_VERSION 1
PRETOK_API uint32_t pretok_abi_version(void) PRETOK_NOEXCEPT;
/* The version of the library, such as "0.1.0". */
PRETOK_API const char *pretok_version(void) PRETOK_NOEXCEPT;

typedef enum pretok_status {
  PRETOK_OK = 0,
  PRETOK_OUT_OF_MEMORY = 1,
  PRETOK_INVALID_ARGUMENT = 2, /* NULL, or an unknown value, where there must be none */
  PRETOK_TOO_SMALL = 3,        /* the buffer: `count` says what is needed */
  PRETOK_UNKNOWN_NAME = 4,     /* no such preset, Unicode version or special token */
  PRETOK_CANNOT_READ = 5,      /* the file: the message says why */
  PRETOK_MALFORMED = 6,        /* a file or program is damaged, or is none */
  PRETOK_UNSUPPORTED = 7,      /* a file is right, but of a kind that pretok does not do */
  PRETOK_SPECIAL_TOKEN = 8,    /* the text has a special token, and none may be there */
  PRETOK_UNKNOWN_ID = 9,       /* no token has this id */
  PRETOK_REMOVES_TEXT = 10,    /* a preset drops text, and here all must be kept */
  PRETOK_FINISHED = 11,        /* the stream is */
  PRETOK_NO_TOKEN = 12,        /* the text has a byte that no token of the vocabulary has */
  PRETOK_INTERNAL = 13         /* a defect of the library: please report the message */
} pretok_status;

/* Room for what is wrong: what was given, what was expected, what to do. */
typedef struct pretok_error {
  pretok_status status;
  size_t position;   /* of a special token or byte, in bytes of the text; of an id; else 0 */
  char message[240]; /* UTF-8, cut where it is too long, with a NUL at its end */
} pretok_error;

/* ---- Pre-tokens ---------------------------------------------------------------------- */

typedef struct pretok_pre_tokenizer pretok_pre_tokenizer;

/* Half-open, in bytes. */
typedef struct pretok_span {
  size_t start;
  size_t end;
} pretok_span;

/* How many presets are built in, and the name of each; NULL for an index that is too large. */
PRETOK_API size_t pretok_preset_count(void) PRETOK_NOEXCEPT;
PRETOK_API const char *pretok_preset_name(size_t index) PRETOK_NOEXCEPT;

/* The pre-tokenizer of a preset, by its name or an alias. `unicode` is a Unicode version such
 * as "16.0", or NULL for the preset's own. PRETOK_UNKNOWN_NAME if there is none. */
PRETOK_API pretok_status pretok_pre_tokenizer_named(const char *name, const char *unicode,
                                                    pretok_pre_tokenizer **made,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* That of a preset of your own: the words that `pretok program NAME` writes, and the Unicode
 * version that it names. */
PRETOK_API pretok_status pretok_pre_tokenizer_from_program(const uint32_t *words, size_t count,
                                                           const char *unicode,
                                                           pretok_pre_tokenizer **made,
                                                           pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_pre_tokenizer_free(pretok_pre_tokenizer *) PRETOK_NOEXCEPT;

/* The pre-tokens of a text, in order. Linear time. */
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

/* Set struct_size to sizeof(pretok_load_options) and all else to 0 where the file is to say. */
typedef struct pretok_load_options {
  size_t struct_size;
  const char *preset;     /* how text is split; a rank file of tiktoken does not say */
  const char *unicode;    /* the Unicode version of that preset */
  const char *normalizer; /* "NFC", for a file that has none, as no GGUF file does */
  const pretok_special_token *special_tokens; /* besides those of the file */
  size_t special_token_count;
  const pretok_pre_tokenizer *pre_tokenizer; /* instead of `preset`; it is copied */
  size_t cache_bytes; /* the bound of pretok_tokenizer_cache_limit; 0: 128 MiB; 1: no cache is
                         kept between calls */
} pretok_load_options;

/* The tokenizer of a file: a rank file of tiktoken, the tokenizer section of a GGUF file (whose
 * weights are not read), a file that `Tokenizer.save("….pretok")` wrote, or, if the library was
 * built with a JSON library, a tokenizer.json; told apart by their content. `options` may be
 * NULL. `path` is UTF-8 and names a regular file. */
PRETOK_API pretok_status pretok_tokenizer_from_file(const char *path,
                                                    const pretok_load_options *options,
                                                    pretok_tokenizer **made,
                                                    pretok_error *error) PRETOK_NOEXCEPT;
/* The same of a file's bytes, which are not needed any more afterwards. */
PRETOK_API pretok_status pretok_tokenizer_from_memory(const void *data, size_t size,
                                                      const pretok_load_options *options,
                                                      pretok_tokenizer **made,
                                                      pretok_error *error) PRETOK_NOEXCEPT;
/* Streams and sets that were made from it must be freed before. */
PRETOK_API void pretok_tokenizer_free(pretok_tokenizer *) PRETOK_NOEXCEPT;

/* Encoding keeps caches between calls, and a thread that encodes takes one for its time. All
 * caches of a tokenizer together, those in use too, hold at most pretok_tokenizer_cache_limit
 * bytes; each call that runs may hold 256 KiB even if the limit is reached. */
PRETOK_API size_t pretok_tokenizer_cache_limit(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* How many bytes the caches hold now. */
PRETOK_API size_t pretok_tokenizer_cache_bytes(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* Frees all caches that no call uses. Any thread may do this at any time. */
PRETOK_API void pretok_tokenizer_trim(const pretok_tokenizer *) PRETOK_NOEXCEPT;

/* The name of the preset that splits; "" for one of your own. Lives as long as the tokenizer.
 */
PRETOK_API const char *pretok_tokenizer_preset(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* One more than the largest id. */
PRETOK_API size_t pretok_vocab_size(const pretok_tokenizer *) PRETOK_NOEXCEPT;
/* The bytes of a token, which live as long as the tokenizer. PRETOK_UNKNOWN_ID if none has it.
 */
PRETOK_API pretok_status pretok_token_bytes(const pretok_tokenizer *, uint32_t id,
                                            const char **bytes, size_t *size,
                                            pretok_error *error) PRETOK_NOEXCEPT;
/* The id of a token: an added one by its text, any other by its bytes, the lowest if there are
 * several. PRETOK_UNKNOWN_NAME if there is none. Looks through all tokens. */
PRETOK_API pretok_status pretok_token_id(const pretok_tokenizer *, const char *bytes,
                                         size_t size, uint32_t *id,
                                         pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API bool pretok_is_special(const pretok_tokenizer *, uint32_t id) PRETOK_NOEXCEPT;

/* ---- Encoding ------------------------------------------------------------------------ */

/* What a special token in a text becomes. */
typedef enum pretok_special {
  PRETOK_SPECIAL_RAISE = 0, /* PRETOK_SPECIAL_TOKEN: text of others cannot smuggle one in */
  PRETOK_SPECIAL_TEXT = 1,  /* ordinary text */
  PRETOK_SPECIAL_ALLOW = 2  /* its id */
} pretok_special;

/* Special tokens that become their ids while others are ordinary text. */
typedef struct pretok_special_set pretok_special_set;
/* `texts` are `count` special tokens, `sizes` their sizes. PRETOK_UNKNOWN_NAME for another.
 * Streams that were made with it must be freed before. */
PRETOK_API pretok_status pretok_special_set_new(const pretok_tokenizer *,
                                                const char *const *texts, const size_t *sizes,
                                                size_t count, pretok_special_set **made,
                                                pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_special_set_free(pretok_special_set *) PRETOK_NOEXCEPT;

/* Set struct_size to sizeof(pretok_encode_options), and all else to 0 for what NULL means. */
typedef struct pretok_encode_options {
  size_t struct_size;
  pretok_special special;
  const pretok_special_set *allowed; /* if not NULL: instead of `special` */
  bool add_special_tokens; /* adds what the file says comes before and behind a text */
} pretok_encode_options;

/* The ids of a text. There are at most as many as pretok_encode_bound() says, so that with a
 * buffer of that size one call is enough, and ids go straight there. PRETOK_SPECIAL_TOKEN,
 * PRETOK_NO_TOKEN. O(size log size) at worst, linear for usual text. */
PRETOK_API pretok_status pretok_encode(const pretok_tokenizer *, const char *text, size_t size,
                                       const pretok_encode_options *options, uint32_t *ids,
                                       size_t capacity, size_t *count,
                                       pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API size_t pretok_encode_bound(const pretok_tokenizer *, size_t size) PRETOK_NOEXCEPT;
/* The same into an array that the library makes, just large enough. Free it with
 * pretok_ids_free. Text of unknown density is encoded only once so, in little memory. */
PRETOK_API pretok_status pretok_encode_new(const pretok_tokenizer *, const char *text,
                                           size_t size, const pretok_encode_options *options,
                                           uint32_t **ids, size_t *count,
                                           pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_ids_free(uint32_t *ids) PRETOK_NOEXCEPT;
/* How many ids those are, without room for them. */
PRETOK_API pretok_status pretok_count(const pretok_tokenizer *, const char *text, size_t size,
                                      const pretok_encode_options *options, size_t *count,
                                      pretok_error *error) PRETOK_NOEXCEPT;

/* Encodes a text that comes in chunks, which may be cut anywhere: the ids of all calls together
 * are those of the whole text. What it holds back ends where a cut changes nothing: for text
 * with spaces that is a kilobyte at most, but a text without any place to cut is held as a
 * whole. Linear time but for encoding, whatever the size of the chunks. */
typedef struct pretok_encode_stream pretok_encode_stream;
PRETOK_API pretok_status pretok_encode_stream_new(const pretok_tokenizer *,
                                                  const pretok_encode_options *options,
                                                  pretok_encode_stream **made,
                                                  pretok_error *error) PRETOK_NOEXCEPT;
/* Takes a chunk. The ids that it completes are at *ids until the next call. After an error,
 * `position` counts from the start of the text, and the stream is as before. What is wrong with
 * a text may come out later than its chunk, but it does. */
PRETOK_API pretok_status pretok_encode_stream_feed(pretok_encode_stream *, const char *chunk,
                                                   size_t size, const uint32_t **ids,
                                                   size_t *count,
                                                   pretok_error *error) PRETOK_NOEXCEPT;
/* The same for the end of the text; then the stream can only be freed. */
PRETOK_API pretok_status pretok_encode_stream_finish(pretok_encode_stream *,
                                                     const uint32_t **ids, size_t *count,
                                                     pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_encode_stream_free(pretok_encode_stream *) PRETOK_NOEXCEPT;

/* ---- Decoding ------------------------------------------------------------------------ */

/* The bytes of ids; they are UTF-8 if those of the whole text are. `skip_special` leaves
 * special tokens out. PRETOK_UNKNOWN_ID, with its place among the ids as `position`. */
PRETOK_API pretok_status pretok_decode(const pretok_tokenizer *, const uint32_t *ids,
                                       size_t id_count, bool skip_special, char *bytes,
                                       size_t capacity, size_t *size,
                                       pretok_error *error) PRETOK_NOEXCEPT;

/* Decodes ids as they come to UTF-8: holds back only an incomplete sequence, and puts U+FFFD
 * for each that is not UTF-8. */
typedef struct pretok_decode_stream pretok_decode_stream;
PRETOK_API pretok_status pretok_decode_stream_new(const pretok_tokenizer *, bool skip_special,
                                                  pretok_decode_stream **made,
                                                  pretok_error *error) PRETOK_NOEXCEPT;
/* Takes ids, one or some. The text that they complete is at *text until the next call. After an
 * error the stream is as before. */
PRETOK_API pretok_status pretok_decode_stream_feed(pretok_decode_stream *, const uint32_t *ids,
                                                   size_t count, const char **text,
                                                   size_t *size,
                                                   pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API pretok_status pretok_decode_stream_finish(pretok_decode_stream *, const char **text,
                                                     size_t *size,
                                                     pretok_error *error) PRETOK_NOEXCEPT;
PRETOK_API void pretok_decode_stream_free(pretok_decode_stream *) PRETOK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef PRETOK_NOEXCEPT

#endif
