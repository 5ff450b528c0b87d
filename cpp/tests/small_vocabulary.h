/* Writes a tiktoken rank file to memory: the 256 bytes and some longer tokens. */
#ifndef SMALL_VOCABULARY_H
#define SMALL_VOCABULARY_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const LONGER_TOKENS[] = {
    "he",   "th",   "the", " t",    " the",     "in",       "ing",          "  ",
    "    ", "\n\n", "12",  "'s",    " a",       "an",       " an",          "and",
    "ll",   "lo",   "llo", "hello", "\xC3\xA9", "\xE4\xB8", "\xE4\xB8\xAD", "\xF0\x9F",
    "//",   "==",   "or",  " w",    " wor",     "world"};
enum {
  LONGER_COUNT = sizeof LONGER_TOKENS / sizeof LONGER_TOKENS[0],
  SMALL_COUNT = 256 + LONGER_COUNT
};

/* Writes the file to `to`, which must have room for 16 KB. Returns its size. */
static inline size_t write_small_vocabulary(char *to) {
  static const char DIGITS[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *at = to;
  for (int id = 0; id < SMALL_COUNT; ++id) {
    const char byte = (char)id;
    const unsigned char *bytes =
        (const unsigned char *)(id < 256 ? &byte : LONGER_TOKENS[id - 256]);
    const size_t size = id < 256 ? 1 : strlen(LONGER_TOKENS[id - 256]);
    for (size_t i = 0; i < size; i += 3) {
      const size_t left = size - i;
      const unsigned long three = (unsigned long)bytes[i] << 16 |
                                  (left > 1 ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                  (left > 2 ? (unsigned long)bytes[i + 2] : 0);
      *at++ = DIGITS[three >> 18];
      *at++ = DIGITS[three >> 12 & 63];
      *at++ = left > 1 ? DIGITS[three >> 6 & 63] : '=';
      *at++ = left > 2 ? DIGITS[three & 63] : '=';
    }
    at += sprintf(at, " %d\n", id);
  }
  return (size_t)(at - to);
}

#endif
