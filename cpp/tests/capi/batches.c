/* Spans of tokens, batches of texts, policies for added tokens, and GGUF values in memory. */
#include "checks.h"

void test_encode_spans(const pretok_tokenizer *tokenizer) {
  static const char TEXT[] = "hello<|end|> the";
  const size_t size = sizeof TEXT - 1;
  uint32_t ids[64];
  pretok_span spans[64];
  size_t count = 0;
  pretok_encode_options options = options_with(PRETOK_SPECIAL_ALLOW);
  CHECK(pretok_encode_spans(tokenizer, TEXT, size, &options, ids, spans, 64, &count,
                            &last_error) == PRETOK_OK);
  size_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    const char *bytes = NULL;
    size_t token_size = 0;
    CHECK(pretok_token_bytes(tokenizer, ids[i], &bytes, &token_size, &last_error) == PRETOK_OK);
    CHECK(spans[i].start == end && spans[i].end == end + token_size);
    CHECK(memcmp(TEXT + spans[i].start, bytes, token_size) == 0);
    end = spans[i].end;
  }
  CHECK(end == size);
  size_t needed = 0;
  CHECK(pretok_encode_spans(tokenizer, TEXT, size, &options, NULL, NULL, 0, &needed,
                            &last_error) == PRETOK_OK);
  CHECK(needed == count);
  CHECK(pretok_encode_spans(tokenizer, TEXT, size, &options, ids, spans, count - 1, &needed,
                            &last_error) == PRETOK_TOO_SMALL);
  FAILS(pretok_encode_spans(tokenizer, TEXT, size, &options, NULL, spans, 64, &count,
                            &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(
      pretok_encode_spans(tokenizer, TEXT, size, &options, ids, NULL, 64, &count, &last_error),
      PRETOK_INVALID_ARGUMENT, "spans");
  FAILS(pretok_encode_spans(tokenizer, TEXT, size, NULL, ids, spans, 64, &count, &last_error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(last_error.position == 5);
}

void test_segments(const pretok_tokenizer *tokenizer) {
  static const uint32_t GIVEN[] = {1, 2};
  const pretok_segment segments[] = {
      {"<|e", 3, NULL, 0, PRETOK_SPECIAL_ALLOW, NULL},
      {"nd|> <|end|>", 12, NULL, 0, PRETOK_SPECIAL_PLAIN, NULL},
      {"<|end|>", 7, GIVEN, 2, PRETOK_SPECIAL_ALLOW, NULL},
      {NULL, 0, NULL, 0, PRETOK_SPECIAL_RAISE, NULL},
      {"hello", 5, NULL, 0, PRETOK_SPECIAL_RAISE, NULL},
  };
  uint32_t ids[64];
  pretok_segment_span spans[64];
  size_t ends[5];
  size_t count = 0;
  size_t failed = 77;
  CHECK(pretok_encode_segments(tokenizer, segments, 5, true, ids, spans, 64, &count, ends,
                               &failed, &last_error) == PRETOK_OK);
  CHECK(failed == 77 && ends[4] == count && ends[2] == ends[1] + 3 && ends[3] == ends[2]);
  uint32_t expected[64];
  size_t plain_count = 0;
  pretok_encode_options options = options_with(PRETOK_SPECIAL_PLAIN);
  CHECK(pretok_encode(tokenizer, "<|end|> <|end|>", 15, &options, expected, 64, &plain_count,
                      &last_error) == PRETOK_OK);
  CHECK(ends[1] == plain_count && memcmp(ids, expected, plain_count * sizeof ids[0]) == 0);
  CHECK(ids[ends[1] + 1] == 1 && ids[ends[1] + 2] == 2);
  CHECK(spans[ends[1] + 2].segment == 2 && spans[ends[1] + 2].start == 1);
  CHECK(spans[count - 1].end_segment == 4 && spans[count - 1].end == 5);
  CHECK(pretok_encode_segments(tokenizer, segments, 5, false, NULL, NULL, 0, &count, ends, NULL,
                               NULL) == PRETOK_OK);
  size_t number = 0;
  uint32_t again[64];
  CHECK(pretok_encode_segments(tokenizer, segments, 5, true, again, NULL, 64, &number, NULL,
                               NULL, NULL) == PRETOK_OK);
  CHECK(number == count && memcmp(again, ids, number * sizeof ids[0]) == 0);
  CHECK(pretok_encode_segments(tokenizer, NULL, 0, true, NULL, NULL, 0, &count, NULL, NULL,
                               NULL) == PRETOK_OK);
  CHECK(count == 0);
  pretok_segment refused = {"a<|end|>", 8, NULL, 0, PRETOK_SPECIAL_RAISE, NULL};
  FAILS(pretok_encode_segments(tokenizer, &refused, 1, true, ids, NULL, 64, &count, ends,
                               &failed, &last_error),
        PRETOK_SPECIAL_TOKEN, "segments[0]");
  CHECK(last_error.position == 1 && failed == 0);
  refused.text = NULL;
  FAILS(pretok_encode_segments(tokenizer, &refused, 1, true, ids, NULL, 64, &count, ends, NULL,
                               &last_error),
        PRETOK_INVALID_ARGUMENT, "text");
}

void test_batches(const pretok_tokenizer *tokenizer) {
  const char *texts[] = {"hello the", "", "<|x|>", "world"};
  const size_t sizes[] = {9, 0, 5, 5};
  uint32_t ids[64];
  uint32_t *new_ids = NULL;
  size_t ends[4] = {0};
  size_t failed = 77;
  pretok_encode_options options = options_with(PRETOK_SPECIAL_TEXT);
  CHECK(pretok_encode_batch(tokenizer, texts, sizes, 4, &options, 2, ids, 64, ends, &failed,
                            &last_error) == PRETOK_OK);
  CHECK(failed == 77 && ends[1] == ends[0]);
  for (size_t i = 0; i < 4; ++i) {
    uint32_t expected[64];
    size_t count = 0;
    const size_t start = i == 0 ? 0 : ends[i - 1];
    CHECK(pretok_encode(tokenizer, texts[i], sizes[i], &options, expected, 64, &count,
                        &last_error) == PRETOK_OK);
    CHECK(ends[i] - start == count &&
          memcmp(ids + start, expected, count * sizeof ids[0]) == 0);
  }
  CHECK(pretok_encode_batch_new(tokenizer, texts, sizes, 4, &options, 0, &new_ids, ends, NULL,
                                &last_error) == PRETOK_OK);
  CHECK(memcmp(ids, new_ids, ends[3] * sizeof ids[0]) == 0);
  pretok_ids_free(new_ids);
  CHECK(pretok_encode_batch(tokenizer, texts, sizes, 4, &options, 1, ids, ends[3] - 1, ends,
                            NULL, &last_error) == PRETOK_TOO_SMALL);
  CHECK(pretok_encode_batch(tokenizer, texts, sizes, 4, &options, 1, NULL, 0, ends, NULL,
                            &last_error) == PRETOK_OK);
  CHECK(pretok_encode_batch(tokenizer, NULL, NULL, 0, &options, 1, NULL, 0, NULL, NULL,
                            &last_error) == PRETOK_OK);
  FAILS(pretok_encode_batch(tokenizer, texts, sizes, 4, NULL, 1, ids, 64, ends, &failed,
                            &last_error),
        PRETOK_SPECIAL_TOKEN, "texts[2]: the text has the special token \"<|x|>\"");
  CHECK(failed == 2 && last_error.position == 0);
  texts[3] = NULL;
  FAILS(pretok_encode_batch(tokenizer, texts, sizes, 4, &options, 1, ids, 64, ends, NULL,
                            &last_error),
        PRETOK_INVALID_ARGUMENT, "texts[3] is NULL");
  FAILS(pretok_encode_batch(tokenizer, texts, sizes, 3, &options, 1, ids, 64, NULL, NULL,
                            &last_error),
        PRETOK_INVALID_ARGUMENT, "ends");
  FAILS(pretok_encode_batch_new(tokenizer, texts, sizes, 3, &options, 1, NULL, ends, NULL,
                                &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
}

static pretok_gguf_value one(const char *key, pretok_gguf_type type, const void *data) {
  const pretok_gguf_value value = {key, type, false, 1, data, NULL};
  return value;
}

static pretok_gguf_value array(const char *key, pretok_gguf_type type, size_t count,
                               const void *data) {
  const pretok_gguf_value value = {key, type, true, count, data, NULL};
  return value;
}

/* Writes the character that stands for a byte in a byte-level vocabulary. */
static void write_byte_character(unsigned byte, char *text) {
  static unsigned next = 256; /* bytes without a printable character get these code points */
  const bool is_printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
  const unsigned code_point = is_printable ? byte : next++;
  if (code_point < 128) {
    text[0] = (char)code_point;
    text[1] = 0;
    return;
  }
  text[0] = (char)(0xC0 | code_point >> 6);
  text[1] = (char)(0x80 | (code_point & 0x3F));
  text[2] = 0;
}

/* A byte-level vocabulary: a token for each byte, then "ab" and an added token. */
void test_gguf_values(void) {
  static char characters[256][3];
  const char *tokens[258];
  int32_t types[258];
  for (unsigned byte = 0; byte < 256; ++byte) {
    write_byte_character(byte, characters[byte]);
    tokens[byte] = characters[byte];
    types[byte] = 1;
  }
  tokens[256] = "ab";
  tokens[257] = "<|user|>";
  types[256] = 1;
  types[257] = 4;
  const char *merges[] = {"a b"};
  const char *model = "gpt2";
  const char *pre = "gpt-2";
  const char *name = "skipped";
  const pretok_gguf_value values[] = {
      one("general.name", PRETOK_GGUF_STRING, &name),
      one("tokenizer.ggml.model", PRETOK_GGUF_STRING, &model),
      one("tokenizer.ggml.pre", PRETOK_GGUF_STRING, &pre),
      array("tokenizer.ggml.tokens", PRETOK_GGUF_STRING, 258, tokens),
      array("tokenizer.ggml.token_type", PRETOK_GGUF_INT32, 258, types),
      array("tokenizer.ggml.merges", PRETOK_GGUF_STRING, 1, merges),
  };
  const size_t count = sizeof values / sizeof values[0];
  pretok_tokenizer *tokenizer = NULL;
  CHECK(pretok_tokenizer_from_gguf_values(values, count, NULL, &tokenizer, &last_error) ==
        PRETOK_OK);
  if (tokenizer == NULL) {
    printf("  %s\n", last_error.message);
    return;
  }
  uint32_t ids[16];
  size_t size = 0;
  CHECK(pretok_encode(tokenizer, "ab<|user|>", 10, NULL, ids, 16, &size, &last_error) ==
        PRETOK_OK);
  CHECK(size == 2 && ids[0] == 256 && ids[1] == 257);
  const pretok_encode_options plain = options_with(PRETOK_SPECIAL_PLAIN);
  CHECK(pretok_encode(tokenizer, "ab<|user|>", 10, &plain, ids, 16, &size, &last_error) ==
        PRETOK_OK);
  CHECK(size == 9 && ids[0] == 256 && ids[1] == '<');
  pretok_tokenizer_free(tokenizer);

  FAILS(pretok_tokenizer_from_gguf_values(values, 1, NULL, &tokenizer, &last_error),
        PRETOK_MALFORMED, "tokenizer.ggml.model");
  FAILS(pretok_tokenizer_from_gguf_values(NULL, 1, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "values");
  pretok_gguf_value bad = values[1];
  bad.key = NULL;
  FAILS(pretok_tokenizer_from_gguf_values(&bad, 1, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "values[0].key");
  bad = values[1];
  bad.count = 2;
  FAILS(pretok_tokenizer_from_gguf_values(&bad, 1, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "values[0].count");
  bad = values[1];
  bad.data = NULL;
  FAILS(pretok_tokenizer_from_gguf_values(&bad, 1, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "values[0].data");
  const int numbers[] = {9, 13, -1};
  for (size_t i = 0; i < 3; ++i) {
    bad = values[1];
    memcpy(&bad.type, &numbers[i], sizeof bad.type);
    FAILS(pretok_tokenizer_from_gguf_values(&bad, 1, NULL, &tokenizer, &last_error),
          PRETOK_INVALID_ARGUMENT, "values[0].type");
  }
  const char *no_text = NULL;
  bad = one("tokenizer.ggml.model", PRETOK_GGUF_STRING, &no_text);
  FAILS(pretok_tokenizer_from_gguf_values(&bad, 1, NULL, &tokenizer, &last_error),
        PRETOK_INVALID_ARGUMENT, "values[0].data has a text that is NULL");
}
