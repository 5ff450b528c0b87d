/* Loading tokenizers from memory and from files. */
#include "checks.h"

#include <stddef.h>
#include <stdlib.h>

/* Checks that the caches of a tokenizer stay below their limit, and that trim frees them. */
static void test_caches(void) {
  static char text[20000];
  for (size_t i = 0; i < sizeof text; ++i)
    text[i] = (char)(i % 7 == 0 ? ' ' : 'a' + (i * i / 50) % 26);
  const size_t limits[] = {0, 1, 1000000};
  size_t expected = 0;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i) {
    pretok_tokenizer *tokenizer = NULL;
    pretok_load_options options = standard_options();
    options.cache_bytes = limits[i];
    CHECK(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error) ==
          PRETOK_OK);
    const size_t limit = limits[i] != 0 ? limits[i] : (size_t)128 << 20;
    CHECK(pretok_tokenizer_cache_limit(tokenizer) == limit);
    CHECK(pretok_tokenizer_cache_bytes(tokenizer) == 0);
    for (int round = 0; round < 2; ++round) {
      size_t count = 0;
      CHECK(pretok_count(tokenizer, text, sizeof text, NULL, &count, &last_error) == PRETOK_OK);
      CHECK(count == expected || expected == 0);
      expected = count;
      CHECK(pretok_tokenizer_cache_bytes(tokenizer) <= limit);
      CHECK((pretok_tokenizer_cache_bytes(tokenizer) != 0) == (limit > 1));
      pretok_tokenizer_trim(tokenizer);
      CHECK(pretok_tokenizer_cache_bytes(tokenizer) == 0);
    }
    pretok_tokenizer_free(tokenizer);
  }
  /* Options of a program that was compiled with an older header. */
  pretok_tokenizer *old = NULL;
  pretok_load_options options = standard_options();
  options.struct_size = offsetof(pretok_load_options, cache_bytes);
  options.cache_bytes = 1;
  CHECK(pretok_tokenizer_from_memory(file, file_size, &options, &old, &last_error) ==
        PRETOK_OK);
  CHECK(pretok_tokenizer_cache_limit(old) == (size_t)128 << 20);
  pretok_tokenizer_free(old);
  CHECK(pretok_tokenizer_cache_limit(NULL) == 0 && pretok_tokenizer_cache_bytes(NULL) == 0);
  pretok_tokenizer_trim(NULL);
}

void test_loading(void) {
  test_caches();
  pretok_tokenizer *tokenizer = NULL;
  pretok_load_options options = standard_options();
  FAILS(pretok_tokenizer_from_memory(NULL, 0, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "data");
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "result");
  FAILS(pretok_tokenizer_from_memory("", 0, &options, &tokenizer, &last_error),
        PRETOK_MALFORMED, "");
  FAILS(pretok_tokenizer_from_memory("nothing", 7, &options, &tokenizer, &last_error),
        PRETOK_MALFORMED, "");
  FAILS(pretok_tokenizer_from_memory(file, file_size / 4, &options, &tokenizer, &last_error),
        PRETOK_MALFORMED, "");
  FAILS(pretok_tokenizer_from_memory(file, file_size, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "set options.preset");
  options.preset = "no such";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_UNKNOWN_NAME, "no such");
  options = standard_options();
  options.unicode = "0.9";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_UNKNOWN_NAME, "0.9");
  options = standard_options();
  options.normalizer = "NFD";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "NFD");
  options = standard_options();
  options.preset = "clip";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_REMOVES_TEXT, "clip");
  options = standard_options();
  options.special_tokens = NULL;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "special_tokens");

  const pretok_special_token wrong[] = {
      {NULL, 1, 900}, {"", 0, 900}, {"\xFF", 1, 900}, {"a", 1, 98}, {"a", 1, 1U << 24}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    options = standard_options();
    options.special_tokens = wrong + i;
    options.special_token_count = 1;
    FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
          PRETOK_INVALID_ARGUMENT, i < 3 ? "special_tokens[0]" : "\"a\"");
  }
  const pretok_special_token two_ids[] = {{"<y>", 3, 900}, {"<y>", 3, 901}};
  options.special_tokens = two_ids;
  options.special_token_count = 2;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "<y>");

  pretok_pre_tokenizer *gpt2 = NULL;
  CHECK(pretok_pre_tokenizer_named("gpt-2", NULL, &gpt2, &last_error) == PRETOK_OK);
  options = standard_options();
  options.pre_tokenizer = gpt2;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "not both");
  options.preset = NULL;
  CHECK(tokenizer == NULL);
  tokenizer = load(&options);
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "gpt2") == 0);
  pretok_tokenizer_free(tokenizer);
  pretok_pre_tokenizer_free(gpt2);
  pretok_tokenizer_free(NULL);
}

/* Options of a later version of pretok, of an earlier version, and of no version. */
void test_struct_sizes(void) {
  struct {
    pretok_load_options options;
    char more[8];
  } newer;
  pretok_tokenizer *tokenizer = NULL;
  memset(&newer, 0, sizeof newer);
  newer.options = standard_options();
  newer.options.struct_size = sizeof newer;
  CHECK(pretok_tokenizer_from_memory(file, file_size, &newer.options, &tokenizer,
                                     &last_error) == PRETOK_OK);
  pretok_tokenizer_free(tokenizer);
  tokenizer = NULL;
  newer.more[7] = 1;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "does not have");
  /* Options of a program whose header had no member after `preset`. */
  newer.options.struct_size = offsetof(pretok_load_options, unicode);
  newer.options.unicode = "no such";
  CHECK(pretok_tokenizer_from_memory(file, file_size, &newer.options, &tokenizer,
                                     &last_error) == PRETOK_OK);
  CHECK(pretok_vocab_size(tokenizer) == SMALL_COUNT);
  newer.options.struct_size = 0;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "result");
  pretok_tokenizer *none = NULL;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, &none, &last_error),
        PRETOK_INVALID_ARGUMENT, "struct_size");
  size_t count = 0;
  pretok_encode_options options = options_with(PRETOK_SPECIAL_RAISE);
  options.struct_size = 1;
  FAILS(pretok_count(tokenizer, "a", 1, &options, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "struct_size");
  options = options_with((pretok_special)5);
  FAILS(pretok_count(tokenizer, "a", 1, &options, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "options.special");
  pretok_tokenizer_free(tokenizer);
}

void test_files(void) {
  static const char PATH[] = "capi_test.tiktoken";
  pretok_tokenizer *tokenizer = NULL;
  const pretok_load_options options = standard_options();
  FILE *to = fopen(PATH, "wb");
  if (to == NULL || fwrite(file, 1, file_size, to) != file_size || fclose(to) != 0) {
    printf("cannot write %s\n", PATH);
    exit(1);
  }
  CHECK(pretok_tokenizer_from_file(PATH, &options, &tokenizer, &last_error) == PRETOK_OK);
  CHECK(pretok_vocab_size(tokenizer) == OTHER + 1);
  pretok_tokenizer_free(tokenizer);
  tokenizer = NULL;
  to = fopen(PATH, "wb");
  if (to != NULL)
    fclose(to);
  FAILS(pretok_tokenizer_from_file(PATH, &options, &tokenizer, &last_error), PRETOK_MALFORMED,
        PATH);
  remove(PATH);
  FAILS(pretok_tokenizer_from_file(PATH, &options, &tokenizer, &last_error), PRETOK_CANNOT_READ,
        PATH);
  FAILS(pretok_tokenizer_from_file(".", &options, &tokenizer, &last_error), PRETOK_CANNOT_READ,
        ".");
  FAILS(pretok_tokenizer_from_file(NULL, &options, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "path");
  FAILS(pretok_tokenizer_from_file(PATH, &options, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "result");
  CHECK(tokenizer == NULL);
}
