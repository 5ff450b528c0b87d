/* What the tests of the C interface share: checks, and a small tokenizer. */
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

/* That a call fails with this status, with a message that has `part`. */
#define FAILS(call, wanted, part)                                                              \
  do {                                                                                         \
    memset(&fault, 0, sizeof fault);                                                           \
    CHECK((call) == (wanted));                                                                 \
    CHECK(fault.status == (wanted));                                                           \
    CHECK(strstr(fault.message, part) != NULL);                                                \
    if (strstr(fault.message, part) == NULL)                                                   \
      printf("  the message is: %s\n", fault.message);                                         \
  } while (0)

enum { END_OF_TEXT = 1000, OTHER = 1001 };

/* What the last call that failed says. */
extern pretok_error fault;
/* The file of the small vocabulary. */
extern char file[1 << 14];
extern size_t file_size;

/* cl100k, and the special tokens <|end|> and <|x|>. */
pretok_load_options usual_options(void);
pretok_tokenizer *load(const pretok_load_options *options);
pretok_tokenizer *load_usual(void);
pretok_encode_options how(pretok_special special);

/* splitting.c */
void test_versions_and_presets(void);
void test_spans(void);
void test_programs(void);

/* loading.c */
void test_loading(void);
void test_struct_sizes(void);
void test_files(void);

/* encoding.c */
void test_tokens(const pretok_tokenizer *tokenizer);
void test_encoding(const pretok_tokenizer *tokenizer);

/* decoding.c */
void test_decoding(const pretok_tokenizer *tokenizer);
void test_decode_stream(const pretok_tokenizer *tokenizer);

/* streams.c */
void test_chunkings(const pretok_tokenizer *tokenizer, unsigned seed);
void test_encode_stream(const pretok_tokenizer *tokenizer);
void test_memory(const pretok_tokenizer *tokenizer);
void test_nfc(void);

#endif
