/* Splitting: presets, spans, programs. */
#include "checks.h"

void test_versions_and_presets(void) {
  CHECK(pretok_abi_version() == PRETOK_ABI_VERSION);
  CHECK(strlen(pretok_version()) >= 5);
  CHECK(pretok_preset_count() > 30);
  CHECK(strcmp(pretok_preset_name(0), "gpt2") == 0);
  CHECK(pretok_preset_name(pretok_preset_count()) == NULL);
  for (size_t i = 0; i < pretok_preset_count(); ++i) {
    pretok_pre_tokenizer *pre_tokenizer = NULL;
    CHECK(pretok_pre_tokenizer_named(pretok_preset_name(i), NULL, &pre_tokenizer,
                                     &last_error) == PRETOK_OK);
    pretok_pre_tokenizer_free(pre_tokenizer);
  }
}

void test_spans(void) {
  pretok_pre_tokenizer *pre_tokenizer = NULL;
  pretok_span spans[16];
  size_t count = 0;
  CHECK(pretok_pre_tokenizer_named("cl100k", NULL, &pre_tokenizer, NULL) == PRETOK_OK);
  CHECK(pretok_spans(pre_tokenizer, "Hello world!", 12, NULL, 0, &count, NULL) == PRETOK_OK);
  CHECK(count == 3);
  CHECK(pretok_spans(pre_tokenizer, "Hello world!", 12, spans, 16, &count, NULL) == PRETOK_OK);
  CHECK(count == 3 && spans[0].start == 0 && spans[0].end == 5);
  CHECK(spans[1].start == 5 && spans[1].end == 11 && spans[2].end == 12);
  memset(spans, 0xFF, sizeof spans);
  FAILS(pretok_spans(pre_tokenizer, "Hello world!", 12, spans, 2, &count, &last_error),
        PRETOK_TOO_SMALL, "3");
  CHECK(count == 3 && spans[0].start == (size_t)-1);
  CHECK(pretok_spans(pre_tokenizer, "Hello world!", 12, spans, 3, &count, NULL) == PRETOK_OK);
  CHECK(spans[2].start == 11);
  CHECK(pretok_spans(pre_tokenizer, NULL, 0, spans, 16, &count, NULL) == PRETOK_OK &&
        count == 0);
  CHECK(pretok_spans(pre_tokenizer, "", 0, NULL, 0, &count, NULL) == PRETOK_OK && count == 0);
  FAILS(pretok_spans(NULL, "a", 1, spans, 1, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "the pre-tokenizer");
  FAILS(pretok_spans(pre_tokenizer, NULL, 1, spans, 1, &count, &last_error),
        PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_spans(pre_tokenizer, "a", 1, spans, 1, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "count");
  pretok_pre_tokenizer_free(pre_tokenizer);
  pretok_pre_tokenizer_free(NULL);

  CHECK(pretok_pre_tokenizer_named("gpt-2", "15.0", &pre_tokenizer, NULL) == PRETOK_OK);
  pretok_pre_tokenizer_free(pre_tokenizer);
  pre_tokenizer = NULL;
  FAILS(pretok_pre_tokenizer_named("gpt", NULL, &pre_tokenizer, &last_error),
        PRETOK_UNKNOWN_NAME, "\"gpt\"");
  FAILS(pretok_pre_tokenizer_named("", NULL, &pre_tokenizer, &last_error), PRETOK_UNKNOWN_NAME,
        "\"\"");
  FAILS(pretok_pre_tokenizer_named("gpt2", "1.0", &pre_tokenizer, &last_error),
        PRETOK_UNKNOWN_NAME, "Unicode version \"1.0\"");
  FAILS(pretok_pre_tokenizer_named(NULL, NULL, &pre_tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "name");
  FAILS(pretok_pre_tokenizer_named("gpt2", NULL, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "result");
  CHECK(pre_tokenizer == NULL);
}

void test_programs(void) {
  /* A program of one stage, one class and one rule: runs of 1 to 3 code points. The words are
   * the magic number, the number of stages, the behavior, `invert`, the size of the stage (set
   * below), the number of classes, the number of ranges, and the start of the only range. */
  uint32_t words[64] = {0x70740002, 1, 0, 0, 0, 1, 1, 0};
  size_t size = 8 + 5; /* with 5 words for the classes of the range */
  /* The size of the rule, the kind (run), and its fields: body, lead, tail, at_most, at_least,
   * tail_at_most, lead_required. */
  const uint32_t rule[] = {8, 1, 1, 0, 0, 3, 1, 0, 0};
  pretok_pre_tokenizer *pre_tokenizer = NULL;
  pretok_span spans[8];
  size_t count = 0;
  words[size++] = 1;
  memcpy(words + size, rule, sizeof rule);
  size += sizeof rule / sizeof rule[0];
  words[4] = (uint32_t)(size - 5);
  CHECK(pretok_pre_tokenizer_from_program(words, size, "16.0", &pre_tokenizer, &last_error) ==
        PRETOK_OK);
  if (pre_tokenizer == NULL) {
    printf("%s\n", last_error.message);
    return;
  }
  CHECK(pretok_spans(pre_tokenizer, "abcdefg", 7, spans, 8, &count, &last_error) == PRETOK_OK);
  CHECK(count == 3 && spans[2].start == 6 && spans[2].end == 7);
  pretok_load_options options = standard_options();
  options.preset = NULL;
  options.pre_tokenizer = pre_tokenizer;
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[16];
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "") == 0);
  pretok_pre_tokenizer_free(pre_tokenizer); /* the tokenizer has a copy */
  CHECK(pretok_encode(tokenizer, " the", 4, NULL, ids, 16, &count, &last_error) == PRETOK_OK);
  CHECK(count == 3); /* " t", "h", "e": the merge " the" crosses pre-tokens */
  pretok_tokenizer_free(tokenizer);

  pre_tokenizer = NULL;
  for (size_t cut = 0; cut < size; ++cut)
    FAILS(pretok_pre_tokenizer_from_program(words, cut, "16.0", &pre_tokenizer, &last_error),
          PRETOK_MALFORMED, "damaged");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "2", &pre_tokenizer, &last_error),
        PRETOK_UNKNOWN_NAME, "Unicode");
  FAILS(pretok_pre_tokenizer_from_program(NULL, 0, "16.0", &pre_tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "words");
  FAILS(pretok_pre_tokenizer_from_program(words, size, NULL, &pre_tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "unicode");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "16.0", NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "result");
  CHECK(pre_tokenizer == NULL);
}
