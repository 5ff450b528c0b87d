/* Files whose normalizers and decoders grow a text. */
#include "checks.h"

#include <stdlib.h>

/* A .pretok file that is being written. */
static struct {
  unsigned char bytes[4096];
  size_t size;
} chain_file;

static void put(const void *bytes, size_t size) {
  memcpy(chain_file.bytes + chain_file.size, bytes, size);
  chain_file.size += size;
}

static void put_number(unsigned value) {
  for (; value > 0x7F; value >>= 7)
    chain_file.bytes[chain_file.size++] = (unsigned char)(0x80 | (value & 0x7F));
  chain_file.bytes[chain_file.size++] = (unsigned char)value;
}

static void put_text(const char *text) {
  put_number((unsigned)strlen(text));
  put(text, strlen(text));
}

static void put_word(uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    chain_file.bytes[chain_file.size++] = (unsigned char)(value >> shift);
}

static uint32_t sum_from(size_t start) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = start; i < chain_file.size; ++i) {
    crc ^= chain_file.bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

/* Writes `count` Replace steps that double each "a". `code` is the code of Replace. */
static void put_doubling(unsigned code, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    put_number(code);
    put_text("a");
    put_number(0); /* not a regex */
    put_text("aa");
  }
}

enum { HEADER = 16 };

/* Writes the part of a file before its normalizers. The file has the tokens <unk>, a and b. */
static void begin_file(void) {
  chain_file.size = 0;
  put("\x89PRETOK\n", 8);
  put_word(4);    /* the version */
  put_word(0);    /* the sum, below */
  put_number(36); /* the tokens are text; there are steps */
  put_text("gpt2");
  put_text("16.0");
  for (int i = 0; i < 3; ++i) /* no ids around a text, and no added tokens */
    put_number(0);
  const unsigned model[] = {1, 2, 2, 0, 0}; /* unknown token 0; no fallback tokens */
  for (size_t i = 0; i < sizeof model / sizeof model[0]; ++i)
    put_number(model[i]);
}

/* Writes the part of a file after its normalizers, with decoders that double. */
static void end_file(unsigned decoders) {
  put_number(0); /* no Metaspace */
  put_number(decoders + 1);
  put_doubling(4, decoders);
  put_number(3);
  put("\5\1\1<unk>ab", 10);
  const unsigned rest[] = {0, 0, 1, 0, 3}; /* no merges; one run of ids */
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; ++i)
    put_number(rest[i]);
  const uint32_t sum = sum_from(HEADER);
  const size_t size = chain_file.size;
  chain_file.size = HEADER - 4;
  put_word(sum);
  chain_file.size = size;
}

/* Writes a file with normalizers and decoders that double. */
static void write_file(unsigned normalizers, unsigned decoders) {
  begin_file();
  put_number(normalizers);
  put_doubling(11, normalizers);
  end_file(decoders);
}

/* Writes a file that prepends `count` times U+FDFA, of which NFKC makes 33 bytes. */
static void write_prepending(unsigned count) {
  begin_file();
  put_number(2);
  put_number(10); /* Prepend */
  put_number(3 * count);
  for (unsigned i = 0; i < count; ++i)
    put("\xEF\xB7\xBA", 3);
  put_number(2); /* NFKC */
  end_file(0);
}

static pretok_status load_chain(pretok_tokenizer **tokenizer) {
  return pretok_tokenizer_from_memory(chain_file.bytes, chain_file.size, NULL, tokenizer,
                                      &last_error);
}

/* Encodes `size` times `letter` into an array with the size of the bound. */
static void check_bound(const pretok_tokenizer *tokenizer, char letter, size_t size,
                        size_t expected) {
  char *text = malloc(size);
  const size_t bound = pretok_encode_bound(tokenizer, size);
  uint32_t *ids = malloc(bound * sizeof *ids);
  size_t count = 0;
  CHECK(text != NULL && ids != NULL && bound >= expected);
  if (text != NULL && ids != NULL) {
    memset(text, letter, size);
    CHECK(pretok_encode(tokenizer, text, size, NULL, ids, bound, &count, &last_error) ==
          PRETOK_OK);
    CHECK(count == expected && ids[0] == (letter == 'a' ? 1u : 2u) && ids[count - 1] == ids[0]);
  }
  free(text);
  free(ids);
}

void test_chains(void) {
  enum { MOST = 10 }; /* doublings; MAX_GROWTH is 1024 */
  pretok_tokenizer *tokenizer = NULL;
  write_file(MOST, MOST);
  CHECK(load_chain(&tokenizer) == PRETOK_OK);
  if (tokenizer == NULL)
    return;
  check_bound(tokenizer, 'b', 4095, 4095);
  check_bound(tokenizer, 'a', 50, 50 << MOST);
  const size_t most = (size_t)-1 / sizeof(uint32_t);
  for (size_t size = 1; size != 0; size *= 2) { /* 0 after the last power of two */
    const size_t bound = pretok_encode_bound(tokenizer, size);
    CHECK(bound <= most && (bound == most || bound / size >= 1 << MOST));
  }
  const uint32_t ids[] = {1, 2};
  static char text[4096];
  size_t size = 0;
  CHECK(pretok_decode(tokenizer, ids, 2, false, text, sizeof text, &size, &last_error) ==
        PRETOK_OK);
  CHECK(size == (1 << MOST) + 1 && text[0] == 'a' && text[size - 1] == 'b');
  pretok_tokenizer_free(tokenizer);
  write_prepending(30); /* NFKC makes 18 characters of each U+FDFA */
  CHECK(load_chain(&tokenizer) == PRETOK_OK);
  static uint32_t many[4096];
  size_t count = 0;
  CHECK(pretok_encode(tokenizer, "b", 1, NULL, many, 4096, &count, &last_error) == PRETOK_OK);
  CHECK(count == 30 * 18 + 1 && count <= pretok_encode_bound(tokenizer, 1));
  pretok_tokenizer_free(tokenizer);
  write_prepending(31);
  FAILS(load_chain(&tokenizer), PRETOK_UNSUPPORTED,
        "normalizers that make up to 1034 bytes of one byte of a text, at step 2 (NFKC)");
  const unsigned too_many[] = {MOST + 1, 20, 23, 30, 31, 32, 50, 62, 63, 64, 65, 256};
  for (size_t i = 0; i < sizeof too_many / sizeof too_many[0]; ++i) {
    write_file(too_many[i], 0);
    FAILS(load_chain(&tokenizer), PRETOK_UNSUPPORTED,
          "normalizers that make up to 2048 bytes of one byte of a text, at step 11 (Replace)");
    write_file(0, too_many[i]);
    FAILS(load_chain(&tokenizer), PRETOK_UNSUPPORTED,
          "decoders that make up to 2048 bytes of one byte of a token, at step 11 (Replace)");
  }
}
