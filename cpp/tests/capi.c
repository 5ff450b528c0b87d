/* The C interface, used from C: every function, every status, and streams at every chunking. */
#include "pretok.h"
#include "small_vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

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
    memset(&error, 0, sizeof error);                                                           \
    CHECK((call) == (wanted));                                                                 \
    CHECK(error.status == (wanted));                                                           \
    CHECK(strstr(error.message, part) != NULL);                                                \
    if (strstr(error.message, part) == NULL)                                                   \
      printf("  the message is: %s\n", error.message);                                         \
  } while (0)

enum { END_OF_TEXT = 1000, OTHER = 1001, MOST = 1 << 14 };

static pretok_error error;
static char file[1 << 14];
static size_t file_size;
static const pretok_special_token SPECIAL[] = {{"<|end|>", 7, END_OF_TEXT},
                                               {"<|x|>", 5, OTHER}};

static pretok_load_options usual_options(void) {
  pretok_load_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.preset = "cl100k";
  options.special_tokens = SPECIAL;
  options.special_token_count = 2;
  return options;
}

static pretok_tokenizer *load(const pretok_load_options *options) {
  pretok_tokenizer *tokenizer = NULL;
  if (pretok_tokenizer_from_memory(file, file_size, options, &tokenizer, &error) != PRETOK_OK) {
    printf("%s\n", error.message);
    exit(1);
  }
  return tokenizer;
}

static pretok_tokenizer *load_usual(void) {
  const pretok_load_options options = usual_options();
  return load(&options);
}

static pretok_encode_options how(pretok_special special) {
  pretok_encode_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.special = special;
  return options;
}

static void test_versions_and_presets(void) {
  CHECK(pretok_abi_version() == PRETOK_ABI_VERSION);
  CHECK(strlen(pretok_version()) >= 5);
  CHECK(pretok_preset_count() > 30);
  CHECK(strcmp(pretok_preset_name(0), "gpt2") == 0);
  CHECK(pretok_preset_name(pretok_preset_count()) == NULL);
  for (size_t i = 0; i < pretok_preset_count(); ++i) {
    pretok_pre_tokenizer *made = NULL;
    CHECK(pretok_pre_tokenizer_named(pretok_preset_name(i), NULL, &made, &error) == PRETOK_OK);
    pretok_pre_tokenizer_free(made);
  }
}

static void test_spans(void) {
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
  FAILS(pretok_spans(made, "Hello world!", 12, spans, 2, &count, &error), PRETOK_TOO_SMALL,
        "3");
  CHECK(count == 3 && spans[0].start == (size_t)-1);
  CHECK(pretok_spans(made, "Hello world!", 12, spans, 3, &count, NULL) == PRETOK_OK);
  CHECK(spans[2].start == 11);
  CHECK(pretok_spans(made, NULL, 0, spans, 16, &count, NULL) == PRETOK_OK && count == 0);
  CHECK(pretok_spans(made, "", 0, NULL, 0, &count, NULL) == PRETOK_OK && count == 0);
  FAILS(pretok_spans(NULL, "a", 1, spans, 1, &count, &error), PRETOK_INVALID_ARGUMENT,
        "the pre-tokenizer");
  FAILS(pretok_spans(made, NULL, 1, spans, 1, &count, &error), PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_spans(made, "a", 1, spans, 1, NULL, &error), PRETOK_INVALID_ARGUMENT, "count");
  pretok_pre_tokenizer_free(made);
  pretok_pre_tokenizer_free(NULL);

  CHECK(pretok_pre_tokenizer_named("gpt-2", "15.0", &made, NULL) == PRETOK_OK);
  pretok_pre_tokenizer_free(made);
  made = NULL;
  FAILS(pretok_pre_tokenizer_named("gpt", NULL, &made, &error), PRETOK_UNKNOWN_NAME, "\"gpt\"");
  FAILS(pretok_pre_tokenizer_named("", NULL, &made, &error), PRETOK_UNKNOWN_NAME, "\"\"");
  FAILS(pretok_pre_tokenizer_named("gpt2", "1.0", &made, &error), PRETOK_UNKNOWN_NAME,
        "Unicode \"1.0\"");
  FAILS(pretok_pre_tokenizer_named(NULL, NULL, &made, &error), PRETOK_INVALID_ARGUMENT, "name");
  FAILS(pretok_pre_tokenizer_named("gpt2", NULL, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "made");
  CHECK(made == NULL);
}

static void test_programs(void) {
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
  CHECK(pretok_pre_tokenizer_from_program(words, size, "16.0", &made, &error) == PRETOK_OK);
  if (made == NULL) {
    printf("%s\n", error.message);
    return;
  }
  CHECK(pretok_spans(made, "abcdefg", 7, spans, 8, &count, &error) == PRETOK_OK);
  CHECK(count == 3 && spans[2].start == 6 && spans[2].end == 7);
  pretok_load_options options = usual_options();
  options.preset = NULL;
  options.pre_tokenizer = made;
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[16];
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "") == 0);
  pretok_pre_tokenizer_free(made); /* it was copied */
  CHECK(pretok_encode(tokenizer, " the", 4, NULL, ids, 16, &count, &error) == PRETOK_OK);
  CHECK(count == 3); /* " t", "h", "e", and no " the" */
  pretok_tokenizer_free(tokenizer);

  made = NULL;
  for (size_t cut = 0; cut < size; ++cut)
    FAILS(pretok_pre_tokenizer_from_program(words, cut, "16.0", &made, &error),
          PRETOK_MALFORMED, "damaged");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "2", &made, &error), PRETOK_UNKNOWN_NAME,
        "Unicode");
  FAILS(pretok_pre_tokenizer_from_program(NULL, 0, "16.0", &made, &error),
        PRETOK_INVALID_ARGUMENT, "words");
  FAILS(pretok_pre_tokenizer_from_program(words, size, NULL, &made, &error),
        PRETOK_INVALID_ARGUMENT, "unicode");
  FAILS(pretok_pre_tokenizer_from_program(words, size, "16.0", NULL, &error),
        PRETOK_INVALID_ARGUMENT, "made");
  CHECK(made == NULL);
}

static void test_loading(void) {
  pretok_tokenizer *made = NULL;
  pretok_load_options options = usual_options();
  FAILS(pretok_tokenizer_from_memory(NULL, 0, &options, &made, &error), PRETOK_INVALID_ARGUMENT,
        "data");
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, NULL, &error),
        PRETOK_INVALID_ARGUMENT, "made");
  FAILS(pretok_tokenizer_from_memory("", 0, &options, &made, &error), PRETOK_MALFORMED, "");
  FAILS(pretok_tokenizer_from_memory("nothing", 7, &options, &made, &error), PRETOK_MALFORMED,
        "");
  FAILS(pretok_tokenizer_from_memory(file, file_size / 4, &options, &made, &error),
        PRETOK_MALFORMED, "");
  FAILS(pretok_tokenizer_from_memory(file, file_size, NULL, &made, &error),
        PRETOK_INVALID_ARGUMENT, "set options.preset");
  options.preset = "no such";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_UNKNOWN_NAME, "no such");
  options = usual_options();
  options.unicode = "0.9";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_UNKNOWN_NAME, "0.9");
  options = usual_options();
  options.normalizer = "NFD";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_INVALID_ARGUMENT, "NFD");
  options = usual_options();
  options.preset = "clip";
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_REMOVES_TEXT, "clip");
  options = usual_options();
  options.special_tokens = NULL;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_INVALID_ARGUMENT, "special_tokens");

  const pretok_special_token wrong[] = {
      {NULL, 1, 900}, {"", 0, 900}, {"\xFF", 1, 900}, {"a", 1, 98}, {"a", 1, 1U << 24}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    options = usual_options();
    options.special_tokens = wrong + i;
    options.special_token_count = 1;
    FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
          PRETOK_INVALID_ARGUMENT, i < 3 ? "special_tokens[0]" : "\"a\"");
  }
  const pretok_special_token two_ids[] = {{"<y>", 3, 900}, {"<y>", 3, 901}};
  options.special_tokens = two_ids;
  options.special_token_count = 2;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_INVALID_ARGUMENT, "<y>");

  pretok_pre_tokenizer *gpt2 = NULL;
  CHECK(pretok_pre_tokenizer_named("gpt-2", NULL, &gpt2, &error) == PRETOK_OK);
  options = usual_options();
  options.pre_tokenizer = gpt2;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &options, &made, &error),
        PRETOK_INVALID_ARGUMENT, "leave one out");
  options.preset = NULL;
  CHECK(made == NULL);
  made = load(&options);
  CHECK(strcmp(pretok_tokenizer_preset(made), "gpt2") == 0);
  pretok_tokenizer_free(made);
  pretok_pre_tokenizer_free(gpt2);
  pretok_tokenizer_free(NULL);
}

static void test_struct_sizes(void) {
  struct {
    pretok_load_options options;
    char more[8];
  } newer;
  pretok_tokenizer *made = NULL;
  memset(&newer, 0, sizeof newer);
  newer.options = usual_options();
  newer.options.struct_size = sizeof newer;
  CHECK(pretok_tokenizer_from_memory(file, file_size, &newer.options, &made, &error) ==
        PRETOK_OK);
  pretok_tokenizer_free(made);
  made = NULL;
  newer.more[7] = 1;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, &made, &error),
        PRETOK_INVALID_ARGUMENT, "does not know");
  /* An older header, which had only the preset. */
  newer.options.struct_size = offsetof(pretok_load_options, unicode);
  newer.options.unicode = "no such";
  CHECK(pretok_tokenizer_from_memory(file, file_size, &newer.options, &made, &error) ==
        PRETOK_OK);
  CHECK(pretok_vocab_size(made) == SMALL_COUNT);
  newer.options.struct_size = 0;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, NULL, &error),
        PRETOK_INVALID_ARGUMENT, "made");
  pretok_tokenizer *none = NULL;
  FAILS(pretok_tokenizer_from_memory(file, file_size, &newer.options, &none, &error),
        PRETOK_INVALID_ARGUMENT, "struct_size");
  size_t count = 0;
  pretok_encode_options options = how(PRETOK_SPECIAL_RAISE);
  options.struct_size = 1;
  FAILS(pretok_count(made, "a", 1, &options, &count, &error), PRETOK_INVALID_ARGUMENT,
        "struct_size");
  options = how((pretok_special)3);
  FAILS(pretok_count(made, "a", 1, &options, &count, &error), PRETOK_INVALID_ARGUMENT,
        "options.special");
  pretok_tokenizer_free(made);
}

static void test_files(void) {
  static const char PATH[] = "capi_test.tiktoken";
  pretok_tokenizer *made = NULL;
  const pretok_load_options options = usual_options();
  FILE *to = fopen(PATH, "wb");
  if (to == NULL || fwrite(file, 1, file_size, to) != file_size || fclose(to) != 0) {
    printf("cannot write %s\n", PATH);
    exit(1);
  }
  CHECK(pretok_tokenizer_from_file(PATH, &options, &made, &error) == PRETOK_OK);
  CHECK(pretok_vocab_size(made) == OTHER + 1);
  pretok_tokenizer_free(made);
  made = NULL;
  to = fopen(PATH, "wb");
  if (to != NULL)
    fclose(to);
  FAILS(pretok_tokenizer_from_file(PATH, &options, &made, &error), PRETOK_MALFORMED, PATH);
  remove(PATH);
  FAILS(pretok_tokenizer_from_file(PATH, &options, &made, &error), PRETOK_CANNOT_READ, PATH);
  FAILS(pretok_tokenizer_from_file(".", &options, &made, &error), PRETOK_CANNOT_READ, ".");
  FAILS(pretok_tokenizer_from_file(NULL, &options, &made, &error), PRETOK_INVALID_ARGUMENT,
        "path");
  FAILS(pretok_tokenizer_from_file(PATH, &options, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "made");
  CHECK(made == NULL);
}

static void test_tokens(const pretok_tokenizer *tokenizer) {
  const char *bytes = NULL;
  size_t size = 0;
  uint32_t id = 0;
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "cl100k") == 0);
  CHECK(strcmp(pretok_tokenizer_preset(NULL), "") == 0);
  CHECK(pretok_vocab_size(tokenizer) == OTHER + 1);
  CHECK(pretok_vocab_size(NULL) == 0);
  for (uint32_t known = 0; known < SMALL_COUNT; ++known) {
    CHECK(pretok_token_bytes(tokenizer, known, &bytes, &size, &error) == PRETOK_OK);
    CHECK(pretok_token_id(tokenizer, bytes, size, &id, &error) == PRETOK_OK && id == known);
    CHECK(!pretok_is_special(tokenizer, known));
  }
  CHECK(pretok_token_bytes(tokenizer, OTHER, &bytes, &size, &error) == PRETOK_OK);
  CHECK(size == 5 && memcmp(bytes, "<|x|>", 5) == 0);
  CHECK(pretok_token_id(tokenizer, "<|end|>", 7, &id, &error) == PRETOK_OK);
  CHECK(id == END_OF_TEXT && pretok_is_special(tokenizer, END_OF_TEXT));
  CHECK(!pretok_is_special(tokenizer, 999) && !pretok_is_special(tokenizer, 0xFFFFFFFF));
  CHECK(!pretok_is_special(NULL, END_OF_TEXT));
  FAILS(pretok_token_bytes(tokenizer, 999, &bytes, &size, &error), PRETOK_UNKNOWN_ID, "999");
  FAILS(pretok_token_bytes(tokenizer, 0xFFFFFFFF, &bytes, &size, &error), PRETOK_UNKNOWN_ID,
        "4294967295");
  FAILS(pretok_token_bytes(NULL, 0, &bytes, &size, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_token_bytes(tokenizer, 0, NULL, &size, &error), PRETOK_INVALID_ARGUMENT,
        "bytes");
  FAILS(pretok_token_bytes(tokenizer, 0, &bytes, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "size");
  FAILS(pretok_token_id(tokenizer, "zz", 2, &id, &error), PRETOK_UNKNOWN_NAME, "zz");
  FAILS(pretok_token_id(tokenizer, "\xE2\x82", 2, &id, &error), PRETOK_UNKNOWN_NAME, "??");
  FAILS(pretok_token_id(tokenizer, "", 0, &id, &error), PRETOK_UNKNOWN_NAME, "");
  FAILS(pretok_token_id(NULL, "a", 1, &id, &error), PRETOK_INVALID_ARGUMENT, "tokenizer");
  FAILS(pretok_token_id(tokenizer, NULL, 1, &id, &error), PRETOK_INVALID_ARGUMENT, "bytes");
  FAILS(pretok_token_id(tokenizer, "a", 1, NULL, &error), PRETOK_INVALID_ARGUMENT, "id");
}

static void test_encoding(const pretok_tokenizer *tokenizer) {
  static const char TEXT[] = "hello the world\0 and <|end|>!";
  const size_t size = sizeof TEXT - 1;
  uint32_t ids[64];
  uint32_t more[64];
  size_t count = 0;
  size_t again = 0;
  pretok_encode_options options = how(PRETOK_SPECIAL_ALLOW);
  CHECK(pretok_encode(tokenizer, TEXT, size, &options, NULL, 0, &count, &error) == PRETOK_OK);
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &again, &error) == PRETOK_OK);
  CHECK(count == again && count > 5);
  for (size_t room = 0; room < 64; ++room) {
    memset(ids, 0xEE, sizeof ids);
    const pretok_status status =
        pretok_encode(tokenizer, TEXT, size, &options, ids, room, &again, &error);
    CHECK(status == (room < count ? PRETOK_TOO_SMALL : PRETOK_OK));
    CHECK(again == count && (room >= count || ids[0] == 0xEEEEEEEE));
    if (room == count)
      memcpy(more, ids, sizeof ids);
    CHECK(room < count || memcmp(more, ids, count * sizeof ids[0]) == 0);
  }
  CHECK(ids[count - 2] == END_OF_TEXT && ids[count - 1] == '!');
  CHECK(pretok_encode_bound(tokenizer, size) >= size);
  CHECK(pretok_encode_bound(tokenizer, (size_t)-1) == (size_t)-1);
  CHECK(pretok_encode_bound(NULL, 1) == 0);

  FAILS(pretok_encode(tokenizer, TEXT, size, NULL, ids, 64, &again, &error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(error.position == 21);
  FAILS(pretok_count(tokenizer, TEXT, size, NULL, &again, &error), PRETOK_SPECIAL_TOKEN, "21");
  options = how(PRETOK_SPECIAL_TEXT);
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &again, &error) == PRETOK_OK);
  CHECK(again > count);

  const char *const texts[] = {"<|x|>", "nothing"};
  const size_t sizes[] = {5, 7};
  pretok_special_set *only = NULL;
  CHECK(pretok_special_set_new(tokenizer, texts, sizes, 1, &only, &error) == PRETOK_OK);
  options = how(PRETOK_SPECIAL_RAISE);
  options.allowed = only;
  CHECK(pretok_encode(tokenizer, "<|x|><|end|>", 12, &options, ids, 64, &count, &error) ==
        PRETOK_OK);
  CHECK(count > 2 && ids[0] == OTHER && ids[1] == '<');
  pretok_tokenizer *another = load_usual();
  FAILS(pretok_count(another, "a", 1, &options, &count, &error), PRETOK_INVALID_ARGUMENT,
        "another tokenizer");
  pretok_tokenizer_free(another);
  pretok_special_set_free(only);
  pretok_special_set_free(NULL);
  CHECK(pretok_special_set_new(tokenizer, NULL, NULL, 0, &only, &error) == PRETOK_OK);
  options.allowed = only;
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &count, &error) == PRETOK_OK);
  CHECK(count == again); /* as text */
  pretok_special_set_free(only);
  only = NULL;
  FAILS(pretok_special_set_new(tokenizer, texts, sizes, 2, &only, &error), PRETOK_UNKNOWN_NAME,
        "nothing");
  FAILS(pretok_special_set_new(NULL, texts, sizes, 1, &only, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_special_set_new(tokenizer, NULL, sizes, 1, &only, &error),
        PRETOK_INVALID_ARGUMENT, "texts");
  FAILS(pretok_special_set_new(tokenizer, texts, NULL, 1, &only, &error),
        PRETOK_INVALID_ARGUMENT, "sizes");
  FAILS(pretok_special_set_new(tokenizer, texts, sizes, 1, NULL, &error),
        PRETOK_INVALID_ARGUMENT, "made");
  const char *const null_text[] = {NULL};
  FAILS(pretok_special_set_new(tokenizer, null_text, sizes, 1, &only, &error),
        PRETOK_INVALID_ARGUMENT, "texts");
  CHECK(only == NULL);

  CHECK(pretok_encode(tokenizer, NULL, 0, NULL, ids, 64, &count, &error) == PRETOK_OK);
  CHECK(count == 0);
  FAILS(pretok_encode(NULL, "a", 1, NULL, ids, 1, &count, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_encode(tokenizer, NULL, 1, NULL, ids, 1, &count, &error),
        PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_encode(tokenizer, "a", 1, NULL, ids, 1, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "count");
  FAILS(pretok_count(NULL, "a", 1, NULL, &count, &error), PRETOK_INVALID_ARGUMENT, "tokenizer");
  FAILS(pretok_count(tokenizer, NULL, 1, NULL, &count, &error), PRETOK_INVALID_ARGUMENT,
        "text");
  FAILS(pretok_count(tokenizer, "a", 1, NULL, NULL, &error), PRETOK_INVALID_ARGUMENT, "count");
}

static void test_decoding(const pretok_tokenizer *tokenizer) {
  const uint32_t ids[] = {0xE4, 0xB8, 0xAD, END_OF_TEXT, '!'};
  char bytes[16] = {0};
  size_t size = 0;
  CHECK(pretok_decode(tokenizer, ids, 5, false, NULL, 0, &size, &error) == PRETOK_OK);
  CHECK(size == 11);
  CHECK(pretok_decode(tokenizer, ids, 5, false, bytes, 11, &size, &error) == PRETOK_OK);
  CHECK(memcmp(bytes, "\xE4\xB8\xAD<|end|>!", 11) == 0);
  CHECK(pretok_decode(tokenizer, ids, 5, true, bytes, 16, &size, &error) == PRETOK_OK);
  CHECK(size == 4 && memcmp(bytes, "\xE4\xB8\xAD!", 4) == 0);
  bytes[0] = 'x';
  FAILS(pretok_decode(tokenizer, ids, 5, true, bytes, 3, &size, &error), PRETOK_TOO_SMALL, "4");
  CHECK(size == 4 && bytes[0] == 'x');
  CHECK(pretok_decode(tokenizer, NULL, 0, true, bytes, 3, &size, &error) == PRETOK_OK);
  CHECK(size == 0);
  const uint32_t unknown[] = {65, 999};
  FAILS(pretok_decode(tokenizer, unknown, 2, true, bytes, 16, &size, &error), PRETOK_UNKNOWN_ID,
        "999");
  CHECK(error.position == 1 && bytes[0] == 'x');
  FAILS(pretok_decode(NULL, ids, 1, true, bytes, 16, &size, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_decode(tokenizer, NULL, 1, true, bytes, 16, &size, &error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_decode(tokenizer, ids, 1, true, bytes, 16, NULL, &error),
        PRETOK_INVALID_ARGUMENT, "size");
}

static void test_decode_stream(const pretok_tokenizer *tokenizer) {
  pretok_decode_stream *stream = NULL;
  const char *text = NULL;
  size_t size = 0;
  static const struct {
    const char *given;
    const char *wanted; /* after each id, and at the end */
  } STEPS[] = {
      {"h\xC3\xA9", "h||\xC3\xA9|"},
      {"\xE4\xB8\xAD", "||\xE4\xB8\xAD|"},
      {"\xE4\xB8"
       "a",
       "||\xEF\xBF\xBD"
       "a|"},
      {"\xED\xA0\x80", "|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD|"},
      {"\xF4\x90", "|\xEF\xBF\xBD\xEF\xBF\xBD|"},
      {"\xF0\x9F\x98\x80", "|||\xF0\x9F\x98\x80|"},
      {"\xC0\x80\xFF", "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD|"},
      {"\xE0\x9F\xF0\x8F", "|\xEF\xBF\xBD\xEF\xBF\xBD||\xEF\xBF\xBD\xEF\xBF\xBD|"},
      {"\xF0\x9F\x98", "|||\xEF\xBF\xBD"},
      {"\xC3\xC3", "|\xEF\xBF\xBD|\xEF\xBF\xBD"},
  };
  for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; ++i) {
    char found[64] = "";
    CHECK(pretok_decode_stream_new(tokenizer, false, &stream, &error) == PRETOK_OK);
    for (const char *at = STEPS[i].given; *at != '\0'; ++at) {
      const uint32_t id = (unsigned char)*at;
      CHECK(pretok_decode_stream_feed(stream, &id, 1, &text, &size, &error) == PRETOK_OK);
      strncat(found, text, size);
      strcat(found, "|");
    }
    CHECK(pretok_decode_stream_finish(stream, &text, &size, &error) == PRETOK_OK);
    strncat(found, text, size);
    CHECK(strcmp(found, STEPS[i].wanted) == 0);
    pretok_decode_stream_free(stream);
  }

  CHECK(pretok_decode_stream_new(tokenizer, true, &stream, &error) == PRETOK_OK);
  const uint32_t ids[] = {0xC3, END_OF_TEXT, 0xA9, 999};
  CHECK(pretok_decode_stream_feed(stream, ids, 2, &text, &size, &error) == PRETOK_OK);
  CHECK(size == 0);
  FAILS(pretok_decode_stream_feed(stream, ids + 2, 2, &text, &size, &error), PRETOK_UNKNOWN_ID,
        "999");
  CHECK(error.position == 1);
  CHECK(pretok_decode_stream_feed(stream, ids + 2, 1, &text, &size, &error) == PRETOK_OK);
  CHECK(size == 2 && memcmp(text, "\xC3\xA9", 2) == 0);
  CHECK(pretok_decode_stream_feed(stream, NULL, 0, &text, &size, &error) == PRETOK_OK);
  CHECK(size == 0);
  FAILS(pretok_decode_stream_feed(stream, NULL, 1, &text, &size, &error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_decode_stream_feed(NULL, ids, 1, &text, &size, &error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_decode_stream_feed(stream, ids, 1, NULL, &size, &error), PRETOK_INVALID_ARGUMENT,
        "text");
  FAILS(pretok_decode_stream_feed(stream, ids, 1, &text, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "size");
  FAILS(pretok_decode_stream_finish(NULL, &text, &size, &error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_decode_stream_finish(stream, NULL, &size, &error), PRETOK_INVALID_ARGUMENT,
        "text");
  FAILS(pretok_decode_stream_finish(stream, &text, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "size");
  CHECK(pretok_decode_stream_finish(stream, &text, &size, &error) == PRETOK_OK && size == 0);
  FAILS(pretok_decode_stream_feed(stream, ids, 1, &text, &size, &error), PRETOK_FINISHED,
        "finished");
  FAILS(pretok_decode_stream_finish(stream, &text, &size, &error), PRETOK_FINISHED, "finished");
  pretok_decode_stream_free(stream);
  pretok_decode_stream_free(NULL);
  FAILS(pretok_decode_stream_new(NULL, true, &stream, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_decode_stream_new(tokenizer, true, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "made");
}

/* Pieces of text that cuts may go wrong at. */
static const char *const PIECES[] = {"hello",
                                     " the",
                                     " world",
                                     " ",
                                     "  ",
                                     "     ",
                                     "\n",
                                     "\r\n",
                                     "'s",
                                     "'LL",
                                     "12",
                                     "1234",
                                     "\xE4\xB8\xAD",
                                     "<|x|>",
                                     "<|end",
                                     "|>",
                                     "<|",
                                     "==",
                                     "//",
                                     "\t",
                                     "e\xCC\x81",
                                     "\xCC\x81",
                                     "\xC3\xA9",
                                     "\xE2\x80",
                                     "\xFF",
                                     "\xC3",
                                     ".",
                                     "!?",
                                     "\xE3\x80\x80",
                                     "\xF0\x9F\x98\x80",
                                     "A",
                                     "Ab",
                                     "\xE1\x84\x80\xE1\x85\xA1",
                                     "\xE1\x86\xA8",
                                     "\xEA\xB0\x80"};

static size_t random_text(char *to, size_t most, unsigned *seed) {
  size_t size = 0;
  /* Few kinds at a time, so that runs are long. */
  const size_t kinds = sizeof PIECES / sizeof PIECES[0];
  size_t chosen[4];
  for (size_t i = 0; i < 4; ++i) {
    *seed = *seed * 1664525 + 1013904223;
    chosen[i] = (*seed >> 16) % kinds;
  }
  for (;;) {
    *seed = *seed * 1664525 + 1013904223;
    const size_t which = (*seed >> 16) % 5;
    const char *piece = PIECES[which < 4 ? chosen[which] : (*seed >> 20) % kinds];
    if (size + strlen(piece) > most)
      return size;
    memcpy(to + size, piece, strlen(piece));
    size += strlen(piece);
  }
}

/* The ids of a text by a stream that gets `step` bytes at a time, or all random sizes up to
 * that if `seed` is not NULL. Returns how many there are, or -1 for a special token. */
static size_t stream_ids(const pretok_tokenizer *tokenizer,
                         const pretok_encode_options *options, const char *text, size_t size,
                         size_t step, unsigned *seed, uint32_t *to, size_t *largest) {
  pretok_encode_stream *stream = NULL;
  const uint32_t *ids = NULL;
  size_t count = 0;
  size_t total = 0;
  pretok_status status = pretok_encode_stream_new(tokenizer, options, &stream, &error);
  CHECK(status == PRETOK_OK);
  for (size_t at = 0; at < size && status == PRETOK_OK;) {
    size_t chunk = step;
    if (seed != NULL) {
      *seed = *seed * 1664525 + 1013904223;
      chunk = (*seed >> 16) % (step + 1);
    }
    if (chunk > size - at)
      chunk = size - at;
    status = pretok_encode_stream_feed(stream, text + at, chunk, &ids, &count, &error);
    if (status != PRETOK_OK)
      break;
    memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    at += chunk;
  }
  if (status == PRETOK_OK)
    status = pretok_encode_stream_finish(stream, &ids, &count, &error);
  if (status == PRETOK_OK) {
    if (count != 0)
      memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    *largest = count;
  }
  pretok_encode_stream_free(stream);
  return status == PRETOK_OK ? total : (size_t)-1;
}

static void test_chunkings(const pretok_tokenizer *tokenizer, unsigned seed) {
  static char text[MOST];
  static uint32_t wanted[4 * MOST];
  static uint32_t found[4 * MOST];
  size_t count = 0;
  size_t largest = 0;
  static const pretok_special WAYS[] = {PRETOK_SPECIAL_RAISE, PRETOK_SPECIAL_TEXT,
                                        PRETOK_SPECIAL_ALLOW};
  for (int round = 0; round < 60; ++round) {
    const size_t size = random_text(text, round % 3 == 0 ? 64 : 2500, &seed);
    for (size_t way = 0; way < 3; ++way) {
      const pretok_encode_options options = how(WAYS[way]);
      const pretok_status status =
          pretok_encode(tokenizer, text, size, &options, wanted, 4 * MOST, &count, &error);
      const size_t refused = error.position;
      if (status != PRETOK_OK) {
        CHECK(status == PRETOK_SPECIAL_TOKEN && way == 0);
        count = (size_t)-1;
      }
      for (size_t step = 1; step <= size; step = size < 65 ? step + 1 : step * 3 + 1)
        for (int random = 0; random < 2; ++random) {
          const size_t total = stream_ids(tokenizer, &options, text, size, step,
                                          random ? &seed : NULL, found, &largest);
          CHECK(total == count);
          if (total != count) {
            printf("round %d, way %zu, step %zu\n", round, way, step);
            return;
          }
          if (status == PRETOK_OK)
            CHECK(memcmp(wanted, found, count * sizeof wanted[0]) == 0);
          else
            CHECK(error.position == refused);
        }
    }
  }
}

static void test_encode_stream(const pretok_tokenizer *tokenizer) {
  pretok_encode_stream *stream = NULL;
  const uint32_t *ids = NULL;
  size_t count = 0;
  CHECK(pretok_encode_stream_new(tokenizer, NULL, &stream, &error) == PRETOK_OK);
  CHECK(pretok_encode_stream_feed(stream, NULL, 0, &ids, &count, &error) == PRETOK_OK);
  CHECK(count == 0);
  FAILS(pretok_encode_stream_feed(stream, NULL, 1, &ids, &count, &error),
        PRETOK_INVALID_ARGUMENT, "chunk");
  FAILS(pretok_encode_stream_feed(NULL, "a", 1, &ids, &count, &error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, NULL, &count, &error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "count");
  FAILS(pretok_encode_stream_finish(NULL, &ids, &count, &error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_encode_stream_finish(stream, NULL, &count, &error), PRETOK_INVALID_ARGUMENT,
        "ids");
  FAILS(pretok_encode_stream_finish(stream, &ids, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "count");

  /* A special token, cut in two, far behind the start; then without it. */
  static char words[4000];
  for (size_t i = 0; i < sizeof words; ++i)
    words[i] = "hello the world "[i % 16];
  size_t total = 0;
  CHECK(pretok_encode_stream_feed(stream, words, sizeof words, &ids, &count, &error) ==
        PRETOK_OK);
  CHECK(count > 500);
  total += count;
  CHECK(pretok_encode_stream_feed(stream, "<|e", 3, &ids, &count, &error) == PRETOK_OK);
  total += count;
  memset(words, 'a', 3000);
  memcpy(words, "nd|> the", 8);
  words[1000] = ' ';
  FAILS(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(error.position == 4000);
  memcpy(words, "nds  the", 8);
  CHECK(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &error) == PRETOK_OK);
  total += count;
  CHECK(pretok_encode_stream_finish(stream, &ids, &count, &error) == PRETOK_OK);
  CHECK(total + count > 1000);
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, &count, &error), PRETOK_FINISHED,
        "finished");
  FAILS(pretok_encode_stream_finish(stream, &ids, &count, &error), PRETOK_FINISHED, "finished");
  pretok_encode_stream_free(stream);
  pretok_encode_stream_free(NULL);
  FAILS(pretok_encode_stream_new(NULL, NULL, &stream, &error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_encode_stream_new(tokenizer, NULL, NULL, &error), PRETOK_INVALID_ARGUMENT,
        "made");
}

/* That little is held back of a text with spaces, in every script. */
static void test_memory(const pretok_tokenizer *tokenizer) {
  static const char *const WORDS[] = {" hello", " \xE4\xB8\xAD", " e\xCC\x81",
                                      " \xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"};
  static char text[MOST];
  static uint32_t found[4 * MOST];
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; ++i) {
    size_t size = 0;
    size_t largest = 0;
    while (size + strlen(WORDS[i]) < MOST) {
      memcpy(text + size, WORDS[i], strlen(WORDS[i]));
      size += strlen(WORDS[i]);
    }
    CHECK(stream_ids(tokenizer, NULL, text, size, 100, NULL, found, &largest) != (size_t)-1);
    CHECK(largest < 1000);
  }
}

static void test_nfc(void) {
  pretok_load_options options = usual_options();
  options.normalizer = "NFC";
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[64];
  size_t count = 0;
  CHECK(pretok_encode(tokenizer, "e\xCC\x81", 3, NULL, ids, 64, &count, &error) == PRETOK_OK);
  CHECK(count == 1 && ids[0] == 256 + 20);
  FAILS(pretok_encode(tokenizer, "e\xCC\x81<|x|>", 8, NULL, ids, 64, &count, &error),
        PRETOK_SPECIAL_TOKEN, "<|x|>");
  CHECK(error.position == 3);
  CHECK(pretok_encode_bound(tokenizer, 10) >= 30);
  test_chunkings(tokenizer, 5);
  test_memory(tokenizer);
  pretok_tokenizer_free(tokenizer);
}

int main(void) {
  file_size = write_small_vocabulary(file);
  test_versions_and_presets();
  test_spans();
  test_programs();
  test_loading();
  test_struct_sizes();
  test_files();
  pretok_tokenizer *tokenizer = load_usual();
  test_tokens(tokenizer);
  test_encoding(tokenizer);
  test_decoding(tokenizer);
  test_decode_stream(tokenizer);
  test_encode_stream(tokenizer);
  for (unsigned seed = 1; seed < 4; ++seed)
    test_chunkings(tokenizer, seed);
  test_memory(tokenizer);
  pretok_tokenizer_free(tokenizer);
  test_nfc();
  if (failures != 0)
    printf("%d checks failed\n", failures);
  return failures != 0;
}
