/* Encoding streams, with chunks of many sizes. */
#include "checks.h"

enum { MAX_TEXT_SIZE = 1 << 14 };

/* Pieces of text at which a wrong cut would change the ids. */
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

/* Writes a text of at most `max_size` bytes. Returns its size. */
static size_t random_text(char *to, size_t max_size, unsigned *seed) {
  size_t size = 0;
  /* Most pieces come from a choice of four, so that runs are long. */
  const size_t piece_count = sizeof PIECES / sizeof PIECES[0];
  size_t chosen[4];
  for (size_t i = 0; i < 4; ++i) {
    *seed = *seed * 1664525 + 1013904223;
    chosen[i] = (*seed >> 16) % piece_count;
  }
  for (;;) {
    *seed = *seed * 1664525 + 1013904223;
    const size_t which = (*seed >> 16) % 5;
    const char *piece = PIECES[which < 4 ? chosen[which] : (*seed >> 20) % piece_count];
    if (size + strlen(piece) > max_size)
      return size;
    memcpy(to + size, piece, strlen(piece));
    size += strlen(piece);
  }
}

/* Encodes a text by a stream. If `seed` is NULL, each chunk has `step` bytes; otherwise each
 * chunk has a random size of at most `step` bytes. Writes the ids to `to` and returns their
 * number, or -1 if a special token is refused. Sets `largest` to the number of ids that
 * pretok_encode_stream_finish returns. */
static size_t stream_ids(const pretok_tokenizer *tokenizer,
                         const pretok_encode_options *options, const char *text, size_t size,
                         size_t step, unsigned *seed, uint32_t *to, size_t *largest) {
  pretok_encode_stream *stream = NULL;
  const uint32_t *ids = NULL;
  size_t count = 0;
  size_t total = 0;
  pretok_status status = pretok_encode_stream_new(tokenizer, options, &stream, &last_error);
  CHECK(status == PRETOK_OK);
  for (size_t at = 0; at < size && status == PRETOK_OK;) {
    size_t chunk = step;
    if (seed != NULL) {
      *seed = *seed * 1664525 + 1013904223;
      chunk = (*seed >> 16) % (step + 1);
    }
    if (chunk > size - at)
      chunk = size - at;
    status = pretok_encode_stream_feed(stream, text + at, chunk, &ids, &count, &last_error);
    if (status != PRETOK_OK)
      break;
    memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    at += chunk;
  }
  if (status == PRETOK_OK)
    status = pretok_encode_stream_finish(stream, &ids, &count, &last_error);
  if (status == PRETOK_OK) {
    if (count != 0)
      memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    *largest = count;
  }
  pretok_encode_stream_free(stream);
  return status == PRETOK_OK ? total : (size_t)-1;
}

/* Checks that a stream gives the ids of one call, for chunks of many sizes. */
void test_chunkings(const pretok_tokenizer *tokenizer, unsigned seed) {
  static char text[MAX_TEXT_SIZE];
  static uint32_t expected[4 * MAX_TEXT_SIZE];
  static uint32_t actual[4 * MAX_TEXT_SIZE];
  size_t count = 0;
  size_t largest = 0;
  static const pretok_special WAYS[] = {PRETOK_SPECIAL_RAISE, PRETOK_SPECIAL_TEXT,
                                        PRETOK_SPECIAL_ALLOW};
  for (int round = 0; round < 60; ++round) {
    const size_t size = random_text(text, round % 3 == 0 ? 64 : 2500, &seed);
    for (size_t way = 0; way < 3; ++way) {
      const pretok_encode_options options = options_with(WAYS[way]);
      const pretok_status status = pretok_encode(tokenizer, text, size, &options, expected,
                                                 4 * MAX_TEXT_SIZE, &count, &last_error);
      const size_t refused = last_error.position;
      if (status != PRETOK_OK) {
        CHECK(status == PRETOK_SPECIAL_TOKEN && way == 0);
        count = (size_t)-1;
      }
      for (size_t step = 1; step <= size; step = size < 65 ? step + 1 : step * 3 + 1)
        for (int random = 0; random < 2; ++random) {
          const size_t total = stream_ids(tokenizer, &options, text, size, step,
                                          random ? &seed : NULL, actual, &largest);
          CHECK(total == count);
          if (total != count) {
            printf("round %d, way %zu, step %zu\n", round, way, step);
            return;
          }
          if (status == PRETOK_OK)
            CHECK(memcmp(expected, actual, count * sizeof expected[0]) == 0);
          else
            CHECK(last_error.position == refused);
        }
    }
  }
}

void test_encode_stream(const pretok_tokenizer *tokenizer) {
  pretok_encode_stream *stream = NULL;
  const uint32_t *ids = NULL;
  size_t count = 0;
  CHECK(pretok_encode_stream_new(tokenizer, NULL, &stream, &last_error) == PRETOK_OK);
  CHECK(pretok_encode_stream_feed(stream, NULL, 0, &ids, &count, &last_error) == PRETOK_OK);
  CHECK(count == 0);
  FAILS(pretok_encode_stream_feed(stream, NULL, 1, &ids, &count, &last_error),
        PRETOK_INVALID_ARGUMENT, "chunk");
  FAILS(pretok_encode_stream_feed(NULL, "a", 1, &ids, &count, &last_error),
        PRETOK_INVALID_ARGUMENT, "stream");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, NULL, &count, &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "count");
  FAILS(pretok_encode_stream_finish(NULL, &ids, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_encode_stream_finish(stream, NULL, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "ids");
  FAILS(pretok_encode_stream_finish(stream, &ids, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "count");

  /* A special token that begins in one chunk and ends in the next is refused. Then feed
   * ordinary text in place of the second chunk. */
  static char words[4000];
  for (size_t i = 0; i < sizeof words; ++i)
    words[i] = "hello the world "[i % 16];
  size_t total = 0;
  CHECK(pretok_encode_stream_feed(stream, words, sizeof words, &ids, &count, &last_error) ==
        PRETOK_OK);
  CHECK(count > 500);
  total += count;
  CHECK(pretok_encode_stream_feed(stream, "<|e", 3, &ids, &count, &last_error) == PRETOK_OK);
  total += count;
  memset(words, 'a', 3000);
  memcpy(words, "nd|> the", 8);
  words[1000] = ' ';
  FAILS(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &last_error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(last_error.position == 4000);
  memcpy(words, "nds  the", 8);
  CHECK(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &last_error) == PRETOK_OK);
  total += count;
  CHECK(pretok_encode_stream_finish(stream, &ids, &count, &last_error) == PRETOK_OK);
  CHECK(total + count > 1000);
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, &count, &last_error), PRETOK_FINISHED,
        "finished");
  FAILS(pretok_encode_stream_finish(stream, &ids, &count, &last_error), PRETOK_FINISHED,
        "finished");
  pretok_encode_stream_free(stream);
  pretok_encode_stream_free(NULL);
  FAILS(pretok_encode_stream_new(NULL, NULL, &stream, &last_error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_encode_stream_new(tokenizer, NULL, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "result");
}

/* Checks that a stream holds back only a small part of a text with spaces, in several scripts:
 * finish returns fewer than 1000 ids. */
void test_memory(const pretok_tokenizer *tokenizer) {
  static const char *const WORDS[] = {" hello", " \xE4\xB8\xAD", " e\xCC\x81",
                                      " \xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"};
  static char text[MAX_TEXT_SIZE];
  static uint32_t actual[4 * MAX_TEXT_SIZE];
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; ++i) {
    size_t size = 0;
    size_t largest = 0;
    while (size + strlen(WORDS[i]) < MAX_TEXT_SIZE) {
      memcpy(text + size, WORDS[i], strlen(WORDS[i]));
      size += strlen(WORDS[i]);
    }
    CHECK(stream_ids(tokenizer, NULL, text, size, 100, NULL, actual, &largest) != (size_t)-1);
    CHECK(largest < 1000);
  }
}

void test_nfc(void) {
  pretok_load_options options = standard_options();
  options.normalizer = "NFC";
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[64];
  size_t count = 0;
  CHECK(pretok_encode(tokenizer, "e\xCC\x81", 3, NULL, ids, 64, &count, &last_error) ==
        PRETOK_OK);
  CHECK(count == 1 && ids[0] == 256 + 20); /* LONGER_TOKENS[20] is U+00E9 */
  FAILS(pretok_encode(tokenizer, "e\xCC\x81<|x|>", 8, NULL, ids, 64, &count, &last_error),
        PRETOK_SPECIAL_TOKEN, "<|x|>");
  CHECK(last_error.position == 3);
  CHECK(pretok_encode_bound(tokenizer, 10) >= 30);
  test_chunkings(tokenizer, 5);
  test_memory(tokenizer);
  pretok_tokenizer_free(tokenizer);
}
