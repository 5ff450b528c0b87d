/* The checks and the small tokenizer that all tests of the C interface share. */
#ifndef CAPI_CHECKS_H
#define CAPI_CHECKS_H

#include "../small_vocabulary.h"
#include "pretok.h"

#include <stdio.h>
#include <string.h>

extern int failures;

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                   \
      ++failures;                                                                              \
    }                                                                                          \
  } while (0)

/* Checks that a call fails with this status, and with a message that contains `part`. */
#define FAILS(call, expected, part)                                                            \
  do {                                                                                         \
    memset(&last_error, 0, sizeof last_error);                                                 \
    CHECK((call) == (expected));                                                               \
    CHECK(last_error.status == (expected));                                                    \
    CHECK(strstr(last_error.message, part) != NULL);                                           \
    if (strstr(last_error.message, part) == NULL)                                              \
      printf("  the message is: %s\n", last_error.message);                                    \
  } while (0)

enum { END_OF_TEXT = 1000, OTHER = 1001 };

/* The error of the last call that failed. */
extern pretok_error last_error;
/* The contents of the file of the small vocabulary. */
extern char file[1 << 14];
extern size_t file_size;

/* Options with preset cl100k, and the special tokens <|end|> and <|x|>. */
pretok_load_options standard_options(void);
/* Loads the small vocabulary; ends the program if this fails. */
pretok_tokenizer *load(const pretok_load_options *options);
/* Loads the small vocabulary with standard_options(). */
pretok_tokenizer *load_standard(void);
pretok_encode_options options_with(pretok_special special);

/* splitting.c */
void test_versions_and_presets(void);
void test_spans(void);
void test_programs(void);

/* chains.c */
void test_chains(void);

/* loading.c */
void test_loading(void);
void test_struct_sizes(void);
void test_files(void);

/* encoding.c */
void test_tokens(const pretok_tokenizer *tokenizer);
void test_encoding(const pretok_tokenizer *tokenizer);

/* batches.c */
void test_encode_spans(const pretok_tokenizer *tokenizer);
void test_batches(const pretok_tokenizer *tokenizer);
void test_segments(const pretok_tokenizer *tokenizer);
void test_gguf_values(void);

/* decoding.c */
void test_decoding(const pretok_tokenizer *tokenizer);
void test_decode_stream(const pretok_tokenizer *tokenizer);

/* streams.c */
void test_chunkings(const pretok_tokenizer *tokenizer, unsigned seed);
void test_encode_stream(const pretok_tokenizer *tokenizer);
void test_memory(const pretok_tokenizer *tokenizer);
void test_nfc(void);

#endif
