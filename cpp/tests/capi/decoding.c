/* Decoding by one call, and by a stream that gets one id at a time. */
#include "checks.h"

void test_decoding(const pretok_tokenizer *tokenizer) {
  const uint32_t ids[] = {0xE4, 0xB8, 0xAD, END_OF_TEXT, '!'};
  char bytes[16] = {0};
  size_t size = 0;
  CHECK(pretok_decode(tokenizer, ids, 5, false, NULL, 0, &size, &last_error) == PRETOK_OK);
  CHECK(size == 11);
  CHECK(pretok_decode(tokenizer, ids, 5, false, bytes, 11, &size, &last_error) == PRETOK_OK);
  CHECK(memcmp(bytes, "\xE4\xB8\xAD<|end|>!", 11) == 0);
  CHECK(pretok_decode(tokenizer, ids, 5, true, bytes, 16, &size, &last_error) == PRETOK_OK);
  CHECK(size == 4 && memcmp(bytes, "\xE4\xB8\xAD!", 4) == 0);
  bytes[0] = 'x';
  FAILS(pretok_decode(tokenizer, ids, 5, true, bytes, 3, &size, &last_error), PRETOK_TOO_SMALL,
        "4");
  CHECK(size == 4 && bytes[0] == 'x');
  CHECK(pretok_decode(tokenizer, NULL, 0, true, bytes, 3, &size, &last_error) == PRETOK_OK);
  CHECK(size == 0);
  const uint32_t unknown[] = {65, 999};
  FAILS(pretok_decode(tokenizer, unknown, 2, true, bytes, 16, &size, &last_error),
        PRETOK_UNKNOWN_ID, "999");
  CHECK(last_error.position == 1 && bytes[0] == 'x');
  FAILS(pretok_decode(NULL, ids, 1, true, bytes, 16, &size, &last_error),
        PRETOK_INVALID_ARGUMENT, "tokenizer");
  FAILS(pretok_decode(tokenizer, NULL, 1, true, bytes, 16, &size, &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_decode(tokenizer, ids, 1, true, bytes, 16, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "size");
}

void test_decode_stream(const pretok_tokenizer *tokenizer) {
  pretok_decode_stream *stream = NULL;
  const char *text = NULL;
  size_t size = 0;
  static const struct {
    const char *input;
    const char *expected; /* the text after each id, ended by "|", then the text of finish */
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
    char actual[64] = "";
    CHECK(pretok_decode_stream_new(tokenizer, false, &stream, &last_error) == PRETOK_OK);
    for (const char *at = STEPS[i].input; *at != '\0'; ++at) {
      const uint32_t id = (unsigned char)*at;
      CHECK(pretok_decode_stream_feed(stream, &id, 1, &text, &size, &last_error) == PRETOK_OK);
      strncat(actual, text, size);
      strcat(actual, "|");
    }
    CHECK(pretok_decode_stream_finish(stream, &text, &size, &last_error) == PRETOK_OK);
    strncat(actual, text, size);
    CHECK(strcmp(actual, STEPS[i].expected) == 0);
    pretok_decode_stream_free(stream);
  }

  CHECK(pretok_decode_stream_new(tokenizer, true, &stream, &last_error) == PRETOK_OK);
  const uint32_t ids[] = {0xC3, END_OF_TEXT, 0xA9, 999};
  CHECK(pretok_decode_stream_feed(stream, ids, 2, &text, &size, &last_error) == PRETOK_OK);
  CHECK(size == 0);
  FAILS(pretok_decode_stream_feed(stream, ids + 2, 2, &text, &size, &last_error),
        PRETOK_UNKNOWN_ID, "999");
  CHECK(last_error.position == 1);
  CHECK(pretok_decode_stream_feed(stream, ids + 2, 1, &text, &size, &last_error) == PRETOK_OK);
  CHECK(size == 2 && memcmp(text, "\xC3\xA9", 2) == 0);
  CHECK(pretok_decode_stream_feed(stream, NULL, 0, &text, &size, &last_error) == PRETOK_OK);
  CHECK(size == 0);
  FAILS(pretok_decode_stream_feed(stream, NULL, 1, &text, &size, &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_decode_stream_feed(NULL, ids, 1, &text, &size, &last_error),
        PRETOK_INVALID_ARGUMENT, "stream");
  FAILS(pretok_decode_stream_feed(stream, ids, 1, NULL, &size, &last_error),
        PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_decode_stream_feed(stream, ids, 1, &text, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "size");
  FAILS(pretok_decode_stream_finish(NULL, &text, &size, &last_error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_decode_stream_finish(stream, NULL, &size, &last_error), PRETOK_INVALID_ARGUMENT,
        "text");
  FAILS(pretok_decode_stream_finish(stream, &text, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "size");
  CHECK(pretok_decode_stream_finish(stream, &text, &size, &last_error) == PRETOK_OK &&
        size == 0);
  FAILS(pretok_decode_stream_feed(stream, ids, 1, &text, &size, &last_error), PRETOK_FINISHED,
        "finished");
  FAILS(pretok_decode_stream_finish(stream, &text, &size, &last_error), PRETOK_FINISHED,
        "finished");
  pretok_decode_stream_free(stream);
  pretok_decode_stream_free(NULL);
  FAILS(pretok_decode_stream_new(NULL, true, &stream, &last_error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_decode_stream_new(tokenizer, true, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "result");
}
