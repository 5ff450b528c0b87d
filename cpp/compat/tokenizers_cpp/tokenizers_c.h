/* The C functions of mlc-ai/tokenizers-cpp, implemented by pretok. Programs link this library
 * in place of that one without a change. docs/how-to/tokenizers-cpp.md lists the differences.
 *
 * A handle keeps the results of tokenizers_decode and tokenizers_id_to_token, so only one
 * thread at a time may call these. Any number of threads may encode with one handle. */
#ifndef PRETOK_TOKENIZERS_C_H
#define PRETOK_TOKENIZERS_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *TokenizerHandle;

typedef struct {
  int *token_ids;
  size_t len;
} TokenizerEncodeResult;

/* Makes a tokenizer from the text of a tokenizer.json. Returns NULL if it fails. */
TokenizerHandle tokenizers_new_from_str(const char *json, size_t len);

/* Makes a byte-level BPE tokenizer that does not split text, from the texts of a vocab.json, a
 * merges.txt and a JSON object of more tokens and their ids. Returns NULL if it fails. */
TokenizerHandle byte_level_bpe_tokenizers_new_from_str(const char *vocab, size_t vocab_len,
                                                       const char *merges, size_t merges_len,
                                                       const char *added_tokens,
                                                       size_t added_tokens_len);

/* Encodes a text. Special tokens in the text become their ids. add_special_token adds the ids
 * that the file puts around a text. If it fails, the result is {NULL, 0}. */
void tokenizers_encode(TokenizerHandle handle, const char *data, size_t len,
                       int add_special_token, TokenizerEncodeResult *result);

/* Encodes num_seqs texts. */
void tokenizers_encode_batch(TokenizerHandle handle, const char **data, size_t *len,
                             size_t num_seqs, int add_special_token,
                             TokenizerEncodeResult *results);

/* Frees the ids of the results, and sets the results to {NULL, 0}. */
void tokenizers_free_encode_results(TokenizerEncodeResult *results, size_t num_seqs);

/* Decodes ids, without those that no token has. The handle keeps the text. */
void tokenizers_decode(TokenizerHandle handle, const uint32_t *data, size_t len,
                       int skip_special_token);

/* Returns the text of the last tokenizers_decode. It is valid until the next one. */
void tokenizers_get_decode_str(TokenizerHandle handle, const char **data, size_t *len);

/* Returns the number of tokens, including added ones. */
void tokenizers_get_vocab_size(TokenizerHandle handle, size_t *size);

/* Returns the text of a token as the file has it, or "". It is valid until the handle is freed.
 */
void tokenizers_id_to_token(TokenizerHandle handle, uint32_t id, const char **data,
                            size_t *len);

/* Returns the id of a token, or -1. */
void tokenizers_token_to_id(TokenizerHandle handle, const char *token, size_t len, int32_t *id);

void tokenizers_free(TokenizerHandle handle);

/* Not in tokenizers-cpp: the message of the last call of this thread that failed, or "". Valid
 * until the thread's next failure. */
const char *tokenizers_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
