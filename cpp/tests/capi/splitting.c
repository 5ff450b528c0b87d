/* Splitting: presets, spans, programs. */
#include "checks.h"

void test_versions_and_presets(void) {
  CHECK(pretok_abi_version() == PRETOK_ABI_VERSION);
  CHECK(strlen(pretok_version()) >= 5);
  CHECK(pretok_preset_count() > 30);
  CHECK(strcmp(pretok_preset_name(0), "gpt2") == 0);
  CHECK(pretok_preset_name(pretok_preset_count()) == NULL);
  for (size_t i = 0; i < pretok_preset_count(); ++i) {
    pretok_pre_tokenizer *made = NULL;
    CHECK(pretok_pre_tokenizer_named(pretok_preset_name(i), NULL, &made, &fault) == PRETOK_OK);
    pretok_pre_tokenizer_free(made);
  }
}

void test_spans(void) {
  pretok_pre_tokenizer *made = NULL;
  pretok_span spans[16];
  size_t count = 0;
  CHECK(pretok_pre_tokenizer_named("cl100k", NULL, &made, NULL) == PRETOK_OK);
  CHECK(pretok_spans(made, "Hello world!", 12, NULL, 0, &count, NULL) == PRETOK_OK);
  CHECK(count == 3);
  CHECK(pretok_spans(made, "Hello world!", 12, spans, 16, &count, NULL) == PRETOK_OK);
  CHECK(count == 3 && spans[0].start == 0 && spans[0].end == 5);
  CHECK(spans[1].start == 5 && spans[1].end == 11 && spans[2].end == 12);
  memset(spans, 0xFF, sizeof spans);
  FAILS(pretok_spans(made, "Hello world!", 12, spans, 2, &count, &fault), PRETOK_TOO_SMALL,
        "3");
  CHECK(count == 3 && spans[0].start == (size_t)-1);
  CHECK(pretok_spans(made, "Hello world!", 12, spans, 3, &count, NULL) == PRETOK_OK);
  CHECK(spans[2].start == 11);
  CHECK(pretok_spans(made, NULL, 0, spans, 16, &count, NULL) == PRETOK_OK && count == 0);
  CHECK(pretok_spans(made, "", 0, NULL, 0, &count, NULL) == PRETOK_OK && count == 0);
  FAILS(pretok_spans(NULL, "a", 1, spans, 1, &count, &fault), PRETOK_INVALID_ARGUMENT,
        "the pre-tokenizer");
  FAILS(pretok_spans(made, NULL, 1, spans, 1, &count, &fault), PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_spans(made, "a", 1, spans, 1, NULL, &fault), PRETOK_INVALID_ARGUMENT, "count");
  pretok_pre_tokenizer_free(made);
  pretok_pre_tokenizer_free(NULL);

  CHECK(pretok_pre_tokenizer_named("gpt-2", "15.0", &made, NULL) == PRETOK_OK);
  pretok_pre_tokenizer_free(made);
  made = NULL;
  FAILS(pretok_pre_tokenizer_named("gpt", NULL, &made, &fault), PRETOK_UNKNOWN_NAME, "\"gpt\"");
  FAILS(pretok_pre_tokenizer_named("", NULL, &made, &fault), PRETOK_UNKNOWN_NAME, "\"\"");
  FAILS(pretok_pre_tokenizer_named("gpt2", "1.0", &made, &fault), PRETOK_UNKNOWN_NAME,
        "Unicode version \"1.0\"");
  FAILS(pretok_pre_tokenizer_named(NULL, NULL, &made, &fault), PRETOK_INVALID_ARGUMENT, "name");
  FAILS(pretok_pre_tokenizer_named("gpt2", NULL, NULL, &fault), PRETOK_INVALID_ARGUMENT,
        "result");
  CHECK(made == NULL);
}

void test_programs(void) {
  /* One stage, one class, one rule: runs of any three code points. */
  uint32_t words[64] = {0x70740002, 1, 0, 0, 0, 1, 1, 0};
  size_t size = 8 + 5;
  const uint32_t rule[] = {8, 1, 1, 0, 0, 3, 1, 0, 0};
  pretok_pre_tokenizer *made = NULL;
  pretok_span spans[8];
  size_t count = 0;
  words[size++] = 1;
  memcpy(words + size, rule, sizeof rule);
  size += sizeof rule / sizeof rule[0];
  words[4] = (uint32_t)(size - 5);
  CHECK(pretok_pre_tokenizer_from_program(words, size, "16.0", &made, &fault) == PRETOK_OK);
  if (made == NULL) {
    printf("%s\n", fault.message);
    return;
  }
  CHECK(pretok_spans(made, "abcdefg", 7, spans, 8, &count, &fault) == PRETOK_OK);
  CHECK(count == 3 && spans[2].start == 6 && spans[2].end == 7);
  pretok_load_options options = usual_options();
  options.preset = NULL;
  options.pre_tokenizer = made;
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[16];
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "") == 0);
  pretok_pre_tokenizer_free(made); /* it was copied */
  CHECK(pretok_encode(tokenizer, " the", 4, NULL, ids, 16, &count, &fault) == PRETOK_OK);
  CHECK(count == 3); /* " t", "h", "e", and no " the" */
  pretok_tokenizer_free(tokenizer);

  made = NULL;
  for (size_t cut = 0; cut < size; ++cut)
    FAILS(pretok_pre_tokenizer_from_program(words, cut, "16.0", &made, &fault),
          PRETOK_MALFORMED, "damaged");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "2", &made, &fault), PRETOK_UNKNOWN_NAME,
        "Unicode");
  FAILS(pretok_pre_tokenizer_from_program(NULL, 0, "16.0", &made, &fault),
        PRETOK_INVALID_ARGUMENT, "words");
  FAILS(pretok_pre_tokenizer_from_program(words, size, NULL, &made, &fault),
        PRETOK_INVALID_ARGUMENT, "unicode");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "16.0", NULL, &fault),
        PRETOK_INVALID_ARGUMENT, "result");
  CHECK(made == NULL);
}
