/* Encoding streams, at every chunking. */
#include "checks.h"

enum { MOST = 1 << 14 }; /* bytes of a text */

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
  pretok_status status = pretok_encode_stream_new(tokenizer, options, &stream, &fault);
  CHECK(status == PRETOK_OK);
  for (size_t at = 0; at < size && status == PRETOK_OK;) {
    size_t chunk = step;
    if (seed != NULL) {
      *seed = *seed * 1664525 + 1013904223;
      chunk = (*seed >> 16) % (step + 1);
    }
    if (chunk > size - at)
      chunk = size - at;
    status = pretok_encode_stream_feed(stream, text + at, chunk, &ids, &count, &fault);
    if (status != PRETOK_OK)
      break;
    memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    at += chunk;
  }
  if (status == PRETOK_OK)
    status = pretok_encode_stream_finish(stream, &ids, &count, &fault);
  if (status == PRETOK_OK) {
    if (count != 0)
      memcpy(to + total, ids, count * sizeof *ids);
    total += count;
    *largest = count;
  }
  pretok_encode_stream_free(stream);
  return status == PRETOK_OK ? total : (size_t)-1;
}

void test_chunkings(const pretok_tokenizer *tokenizer, unsigned seed) {
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
          pretok_encode(tokenizer, text, size, &options, wanted, 4 * MOST, &count, &fault);
      const size_t refused = fault.position;
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
            CHECK(fault.position == refused);
        }
    }
  }
}

void test_encode_stream(const pretok_tokenizer *tokenizer) {
  pretok_encode_stream *stream = NULL;
  const uint32_t *ids = NULL;
  size_t count = 0;
  CHECK(pretok_encode_stream_new(tokenizer, NULL, &stream, &fault) == PRETOK_OK);
  CHECK(pretok_encode_stream_feed(stream, NULL, 0, &ids, &count, &fault) == PRETOK_OK);
  CHECK(count == 0);
  FAILS(pretok_encode_stream_feed(stream, NULL, 1, &ids, &count, &fault),
        PRETOK_INVALID_ARGUMENT, "chunk");
  FAILS(pretok_encode_stream_feed(NULL, "a", 1, &ids, &count, &fault), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, NULL, &count, &fault),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, NULL, &fault), PRETOK_INVALID_ARGUMENT,
        "count");
  FAILS(pretok_encode_stream_finish(NULL, &ids, &count, &fault), PRETOK_INVALID_ARGUMENT,
        "stream");
  FAILS(pretok_encode_stream_finish(stream, NULL, &count, &fault), PRETOK_INVALID_ARGUMENT,
        "ids");
  FAILS(pretok_encode_stream_finish(stream, &ids, NULL, &fault), PRETOK_INVALID_ARGUMENT,
        "count");

  /* A special token, cut in two, far behind the start; then without it. */
  static char words[4000];
  for (size_t i = 0; i < sizeof words; ++i)
    words[i] = "hello the world "[i % 16];
  size_t total = 0;
  CHECK(pretok_encode_stream_feed(stream, words, sizeof words, &ids, &count, &fault) ==
        PRETOK_OK);
  CHECK(count > 500);
  total += count;
  CHECK(pretok_encode_stream_feed(stream, "<|e", 3, &ids, &count, &fault) == PRETOK_OK);
  total += count;
  memset(words, 'a', 3000);
  memcpy(words, "nd|> the", 8);
  words[1000] = ' ';
  FAILS(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &fault),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(fault.position == 4000);
  memcpy(words, "nds  the", 8);
  CHECK(pretok_encode_stream_feed(stream, words, 4000, &ids, &count, &fault) == PRETOK_OK);
  total += count;
  CHECK(pretok_encode_stream_finish(stream, &ids, &count, &fault) == PRETOK_OK);
  CHECK(total + count > 1000);
  FAILS(pretok_encode_stream_feed(stream, "a", 1, &ids, &count, &fault), PRETOK_FINISHED,
        "finished");
  FAILS(pretok_encode_stream_finish(stream, &ids, &count, &fault), PRETOK_FINISHED, "finished");
  pretok_encode_stream_free(stream);
  pretok_encode_stream_free(NULL);
  FAILS(pretok_encode_stream_new(NULL, NULL, &stream, &fault), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_encode_stream_new(tokenizer, NULL, NULL, &fault), PRETOK_INVALID_ARGUMENT,
        "result");
}

/* That little is held back of a text with spaces, in every script. */
void test_memory(const pretok_tokenizer *tokenizer) {
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

void test_nfc(void) {
  pretok_load_options options = usual_options();
  options.normalizer = "NFC";
  pretok_tokenizer *tokenizer = load(&options);
  uint32_t ids[64];
  size_t count = 0;
  CHECK(pretok_encode(tokenizer, "e\xCC\x81", 3, NULL, ids, 64, &count, &fault) == PRETOK_OK);
  CHECK(count == 1 && ids[0] == 256 + 20);
  FAILS(pretok_encode(tokenizer, "e\xCC\x81<|x|>", 8, NULL, ids, 64, &count, &fault),
        PRETOK_SPECIAL_TOKEN, "<|x|>");
  CHECK(fault.position == 3);
  CHECK(pretok_encode_bound(tokenizer, 10) >= 30);
  test_chunkings(tokenizer, 5);
  test_memory(tokenizer);
  pretok_tokenizer_free(tokenizer);
}
