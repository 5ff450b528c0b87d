/* The functions of llama.cpp that tokenize and query a vocabulary, over pretok.h.
 *
 * Each function has the parameters, the results and the policies of the function of llama.cpp
 * whose name it ends with, such as llama_tokenize (llama.h of July 2026, commit of
 * llama-cpp-python 0.3.36). The first parameter is a pretok_llama_vocab in place of a
 * llama_vocab. docs/how-to/llama-cpp.md lists the texts to which llama.cpp gives other ids, and
 * says why.
 *
 * C99 or C++. All functions are static, so the header needs no library but pretok. */
#ifndef PRETOK_LLAMA_VOCAB_H
#define PRETOK_LLAMA_VOCAB_H

#include "pretok.h"

#include <limits.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PRETOK_LLAMA_INLINE static inline __attribute__((unused))
#else
#define PRETOK_LLAMA_INLINE static inline
#endif

/* The id of a token that the vocabulary lacks: LLAMA_TOKEN_NULL. */
#define PRETOK_LLAMA_NULL (-1)

/* A tokenizer with llama.cpp's policies. Immutable after pretok_llama_vocab_init, so threads
 * may share it. Do not use its members. */
typedef struct pretok_llama_vocab {
  const pretok_tokenizer *tokenizer;
  pretok_special_set *no_tokens; /* finds user-defined tokens only */
  pretok_token_facts facts;
  bool strips_space; /* the first token of a text loses a space */
  bool clean_spaces;
} pretok_llama_vocab;

/* Sets `vocab` up for a tokenizer of a GGUF file, which must outlive it. `clean_spaces` is the
 * flag of this name that llama.cpp derives from tokenizer.ggml.pre: true for "gpt-2" and
 * others, false for models of SentencePiece. */
PRETOK_LLAMA_INLINE pretok_status pretok_llama_vocab_init(pretok_llama_vocab *vocab,
                                                          const pretok_tokenizer *tokenizer,
                                                          bool clean_spaces,
                                                          pretok_error *error) {
  pretok_status status;
  uint32_t ids[8];
  const char *bytes;
  size_t count;
  memset(vocab, 0, sizeof *vocab);
  vocab->tokenizer = tokenizer;
  vocab->clean_spaces = clean_spaces;
  vocab->facts.struct_size = sizeof vocab->facts;
  status = pretok_token_facts_of(tokenizer, &vocab->facts, error);
  if (status == PRETOK_OK)
    status = pretok_special_set_new(tokenizer, NULL, NULL, 0, &vocab->no_tokens, error);
  if (status != PRETOK_OK)
    return status;
  /* If the model puts a space before a text, the first token of "a" begins with it. */
  vocab->strips_space =
      pretok_encode(tokenizer, "a", 1, NULL, ids, 8, &count, NULL) == PRETOK_OK && count != 0 &&
      pretok_rendered_bytes(tokenizer, ids[0], &bytes, &count, NULL) == PRETOK_OK &&
      count != 0 && bytes[0] == ' ';
  return PRETOK_OK;
}

PRETOK_LLAMA_INLINE void pretok_llama_vocab_free(pretok_llama_vocab *vocab) {
  pretok_special_set_free(vocab->no_tokens);
  vocab->no_tokens = NULL;
}

/* ---- Queries ------------------------------------------------------------------------- */

PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_n_tokens(const pretok_llama_vocab *vocab) {
  return (int32_t)pretok_vocab_size(vocab->tokenizer);
}

/* Returns the id of a role, or PRETOK_LLAMA_NULL. */
PRETOK_LLAMA_INLINE int32_t pretok_llama_role(const pretok_llama_vocab *vocab,
                                              pretok_role role) {
  const uint32_t id = vocab->facts.roles[role];
  return id == PRETOK_NO_ID ? PRETOK_LLAMA_NULL : (int32_t)id;
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_bos(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_BOS);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_eos(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_EOS);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_eot(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_EOT);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_sep(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_SEP);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_pad(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_PAD);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_mask(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_MASK);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_pre(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_PREFIX);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_suf(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_SUFFIX);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_mid(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_MIDDLE);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_pad(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_PAD);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_rep(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_REPO);
}
PRETOK_LLAMA_INLINE int32_t pretok_llama_vocab_fim_sep(const pretok_llama_vocab *vocab) {
  return pretok_llama_role(vocab, PRETOK_ROLE_FIM_SEP);
}
PRETOK_LLAMA_INLINE bool pretok_llama_vocab_get_add_bos(const pretok_llama_vocab *vocab) {
  return vocab->facts.add_bos;
}
PRETOK_LLAMA_INLINE bool pretok_llama_vocab_get_add_eos(const pretok_llama_vocab *vocab) {
  return vocab->facts.add_eos;
}

/* Returns the type of a token; PRETOK_TYPE_UNDEFINED for an id without a token. */
PRETOK_LLAMA_INLINE pretok_token_type pretok_llama_type(const pretok_llama_vocab *vocab,
                                                        int32_t token) {
  pretok_token_type type = PRETOK_TYPE_UNDEFINED;
  if (token < 0 || pretok_token_type_of(vocab->tokenizer, (uint32_t)token, &type, NULL))
    return PRETOK_TYPE_UNDEFINED;
  return type;
}
/* Returns whether a token ends the generation. */
PRETOK_LLAMA_INLINE bool pretok_llama_vocab_is_eog(const pretok_llama_vocab *vocab,
                                                   int32_t token) {
  size_t first = 0;
  size_t last = vocab->facts.end_id_count;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (vocab->facts.end_ids[middle] < (uint32_t)token)
      first = middle + 1;
    else
      last = middle;
  }
  return token >= 0 && first < vocab->facts.end_id_count &&
         vocab->facts.end_ids[first] == (uint32_t)token;
}
/* Returns whether a token is a control token. llama.cpp also takes tokens for control tokens
 * that end the generation or have a role in filling in the middle, whatever their type. */
PRETOK_LLAMA_INLINE bool pretok_llama_vocab_is_control(const pretok_llama_vocab *vocab,
                                                       int32_t token) {
  int role;
  if (token < 0)
    return false;
  for (role = PRETOK_ROLE_EOT; role <= PRETOK_ROLE_FIM_SEP; ++role)
    if (vocab->facts.roles[role] == (uint32_t)token)
      return true;
  return pretok_llama_type(vocab, token) == PRETOK_TYPE_CONTROL ||
         pretok_llama_vocab_is_eog(vocab, token);
}
PRETOK_LLAMA_INLINE float pretok_llama_vocab_get_score(const pretok_llama_vocab *vocab,
                                                       int32_t token) {
  float score = 0;
  if (token >= 0)
    (void)pretok_token_score(vocab->tokenizer, (uint32_t)token, &score, NULL);
  return score;
}
/* ---- Text to tokens, and back -------------------------------------------------------- */

/* Writes at most `n_tokens_max` ids to `tokens`. Returns their number, or the negative of the
 * needed number if there are more, or INT32_MIN after any other error. `add_special` adds the
 * ids before and after a text. If `parse_special`, control and unknown tokens in the text
 * become their ids; if not, they are text. User-defined tokens always become their ids. */
PRETOK_LLAMA_INLINE int32_t pretok_llama_tokenize(const pretok_llama_vocab *vocab,
                                                  const char *text, int32_t text_len,
                                                  int32_t *tokens, int32_t n_tokens_max,
                                                  bool add_special, bool parse_special) {
  pretok_encode_options options;
  pretok_status status;
  size_t count = 0;
  if (text_len < 0 || n_tokens_max < 0)
    return INT32_MIN;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.add_special_tokens = add_special;
  if (parse_special)
    options.special = PRETOK_SPECIAL_ALLOW;
  else
    options.allowed = vocab->no_tokens;
  status = pretok_encode(vocab->tokenizer, text, (size_t)text_len, &options, (uint32_t *)tokens,
                         (size_t)n_tokens_max, &count, NULL);
  if (count > INT32_MAX || (status != PRETOK_OK && status != PRETOK_TOO_SMALL))
    return INT32_MIN;
  return status == PRETOK_OK && tokens != NULL ? (int32_t)count : -(int32_t)count;
}

/* Writes the text of a token to `buf`, without a final NUL. Returns its size, or the negative
 * of the size if `length` is smaller. Omits up to `lstrip` spaces at its start. Control and
 * unknown tokens have a text only if `special`. */
PRETOK_LLAMA_INLINE int32_t pretok_llama_token_to_piece(const pretok_llama_vocab *vocab,
                                                        int32_t token, char *buf,
                                                        int32_t length, int32_t lstrip,
                                                        bool special) {
  const pretok_token_type type = pretok_llama_type(vocab, token);
  const bool is_special =
      type == PRETOK_TYPE_UNKNOWN || pretok_llama_vocab_is_control(vocab, token);
  const bool is_text = !is_special && (type == PRETOK_TYPE_NORMAL || type == PRETOK_TYPE_BYTE);
  const char *bytes = NULL;
  size_t size = 0;
  if ((!special && is_special) ||
      (!is_special && (type == PRETOK_TYPE_UNDEFINED || type == PRETOK_TYPE_UNUSED)) ||
      (is_text ? pretok_rendered_bytes : pretok_token_bytes)(vocab->tokenizer, (uint32_t)token,
                                                             &bytes, &size, NULL) != PRETOK_OK)
    return 0;
  for (; lstrip > 0 && size != 0 && *bytes == ' '; --lstrip) {
    ++bytes;
    --size;
  }
  if (length < 0 || (size_t)length < size)
    return -(int32_t)size;
  if (size != 0)
    memcpy(buf, bytes, size);
  return (int32_t)size;
}

/* Removes spaces before ? ! . , and around a single apostrophe, and before 's 'm 're 've, in
 * text[0..size). Returns the new size. */
PRETOK_LLAMA_INLINE int32_t pretok_llama_clean(char *text, int32_t size) {
  int pass;
  for (pass = 0; pass < 3; ++pass) {
    int32_t from;
    int32_t to = size != 0;
    for (from = 1; from < size; ++from) {
      const char *const at = text + from;
      const int32_t left = size - from; /* at[0] to at[left - 1] are in the text */
      const bool is_after_space = at[-1] == ' ';
      if (pass == 0 && is_after_space &&
          (at[0] == '?' || at[0] == '!' || at[0] == '.' || at[0] == ',')) {
        --to;
      } else if (pass == 1 && is_after_space && left > 1 && at[0] == '\'' && at[1] == ' ') {
        text[to - 1] = '\'';
        text[++from] = '\0';
        continue;
      } else if (pass == 2 && is_after_space && left > 1 && at[0] == '\'' &&
                 (at[1] == 's' || at[1] == 'm' ||
                  (left > 2 && (at[1] == 'r' || at[1] == 'v') && at[2] == 'e'))) {
        --to;
      }
      text[to++] = text[from];
    }
    size = to;
  }
  return size;
}

/* Writes the text of tokens to `text`, without a final NUL. Returns its size, or the negative
 * of the needed size if it is above `text_len_max`. `remove_special` omits the BOS token at the
 * start and the EOS token at the end, if the model adds them. `unparse_special` keeps the texts
 * of control and unknown tokens. */
PRETOK_LLAMA_INLINE int32_t pretok_llama_detokenize(const pretok_llama_vocab *vocab,
                                                    const int32_t *tokens, int32_t n_tokens,
                                                    char *text, int32_t text_len_max,
                                                    bool remove_special, bool unparse_special) {
  bool strips = vocab->strips_space;
  int32_t total = 0;
  int32_t i;
  if (remove_special && vocab->facts.add_bos && n_tokens > 0 &&
      tokens[0] == pretok_llama_vocab_bos(vocab)) {
    strips = false;
    ++tokens;
    --n_tokens;
  }
  if (remove_special && vocab->facts.add_eos && n_tokens > 0 &&
      tokens[n_tokens - 1] == pretok_llama_vocab_eos(vocab))
    --n_tokens;
  for (i = 0; i < n_tokens; ++i) {
    const int32_t left = total < text_len_max ? text_len_max - total : 0;
    const int32_t size =
        pretok_llama_token_to_piece(vocab, tokens[i], left != 0 ? text + total : NULL, left,
                                    strips ? 1 : 0, unparse_special);
    strips = false;
    total += size < 0 ? -size : size;
  }
  if (total > text_len_max)
    return -total;
  return vocab->clean_spaces ? pretok_llama_clean(text, total) : total;
}

#ifdef __cplusplus
}
#endif

#endif
