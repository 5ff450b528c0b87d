/* The functions of llama_vocab.h as functions of a shared library, for ctypes. */
#include "llama_vocab.h"

#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT pretok_llama_vocab *vocab_new(const pretok_tokenizer *tokenizer, bool clean_spaces) {
  pretok_llama_vocab *vocab = (pretok_llama_vocab *)malloc(sizeof *vocab);
  pretok_error error;
  if (vocab != NULL &&
      pretok_llama_vocab_init(vocab, tokenizer, clean_spaces, &error) != PRETOK_OK) {
    free(vocab);
    return NULL;
  }
  return vocab;
}

EXPORT void vocab_delete(pretok_llama_vocab *vocab) {
  pretok_llama_vocab_free(vocab);
  free(vocab);
}

EXPORT int32_t tokenize(const pretok_llama_vocab *vocab, const char *text, int32_t text_len,
                        int32_t *tokens, int32_t n_tokens_max, bool add_special,
                        bool parse_special) {
  return pretok_llama_tokenize(vocab, text, text_len, tokens, n_tokens_max, add_special,
                               parse_special);
}

/* A function like llama_tokenize, whose first argument is a vocabulary. */
typedef int32_t (*tokenize_function)(const void *vocab, const char *text, int32_t text_len,
                                     int32_t *tokens, int32_t n_tokens_max, bool add_special,
                                     bool parse_special);

/* Tokenizes `count` texts. Text i begins at texts[ends[i]] and ends at texts[ends[i + 1]]; so
 * do its ids, in `ids` and `id_ends`. Returns whether all calls succeeded. */
EXPORT bool tokenize_all(tokenize_function function, const void *vocab, const char *texts,
                         const uint64_t *ends, size_t count, int32_t *ids, size_t capacity,
                         uint64_t *id_ends, bool add_special, bool parse_special) {
  size_t i;
  for (i = 0; i < count; ++i) {
    const int32_t size =
        function(vocab, texts + ends[i], (int32_t)(ends[i + 1] - ends[i]), ids + id_ends[i],
                 (int32_t)(capacity - id_ends[i]), add_special, parse_special);
    if (size < 0)
      return false;
    id_ends[i + 1] = id_ends[i] + (uint64_t)size;
  }
  return true;
}

EXPORT int32_t token_to_piece(const pretok_llama_vocab *vocab, int32_t token, char *buf,
                              int32_t length, int32_t lstrip, bool special) {
  return pretok_llama_token_to_piece(vocab, token, buf, length, lstrip, special);
}

EXPORT int32_t detokenize(const pretok_llama_vocab *vocab, const int32_t *tokens,
                          int32_t n_tokens, char *text, int32_t text_len_max,
                          bool remove_special, bool unparse_special) {
  return pretok_llama_detokenize(vocab, tokens, n_tokens, text, text_len_max, remove_special,
                                 unparse_special);
}

/* Writes the number of tokens, the ids of all roles, and the flags, as llama.h lists them. */
EXPORT void facts(const pretok_llama_vocab *vocab, int32_t *result) {
  const int32_t all[] = {
      pretok_llama_vocab_n_tokens(vocab),   pretok_llama_vocab_bos(vocab),
      pretok_llama_vocab_eos(vocab),        pretok_llama_vocab_eot(vocab),
      pretok_llama_vocab_sep(vocab),        pretok_llama_vocab_pad(vocab),
      pretok_llama_vocab_mask(vocab),       pretok_llama_vocab_fim_pre(vocab),
      pretok_llama_vocab_fim_suf(vocab),    pretok_llama_vocab_fim_mid(vocab),
      pretok_llama_vocab_fim_pad(vocab),    pretok_llama_vocab_fim_rep(vocab),
      pretok_llama_vocab_fim_sep(vocab),    pretok_llama_vocab_get_add_bos(vocab),
      pretok_llama_vocab_get_add_eos(vocab)};
  memcpy(result, all, sizeof all);
}

EXPORT bool is_eog(const pretok_llama_vocab *vocab, int32_t token) {
  return pretok_llama_vocab_is_eog(vocab, token);
}
EXPORT bool is_control(const pretok_llama_vocab *vocab, int32_t token) {
  return pretok_llama_vocab_is_control(vocab, token);
}
EXPORT float get_score(const pretok_llama_vocab *vocab, int32_t token) {
  return pretok_llama_vocab_get_score(vocab, token);
}
