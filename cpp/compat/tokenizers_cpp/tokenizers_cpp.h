// The class of mlc-ai/tokenizers-cpp, implemented by pretok. Programs link this library in
// place of that one without a change. docs/how-to/tokenizers-cpp.md lists the differences.
#ifndef PRETOK_TOKENIZERS_CPP_H
#define PRETOK_TOKENIZERS_CPP_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tokenizers {

// Functions that fail throw std::runtime_error. Any number of threads may share a Tokenizer.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  // Encodes a text, without the ids that the file puts around it.
  virtual std::vector<int32_t> Encode(const std::string &text) = 0;
  virtual std::vector<std::vector<int32_t>> EncodeBatch(const std::vector<std::string> &texts);

  // Decodes ids. Special tokens become text too.
  virtual std::string Decode(const std::vector<int32_t> &ids) = 0;

  // Returns the number of tokens, including added ones.
  virtual size_t GetVocabSize() = 0;

  // Returns the text of a token as the file has it, or "".
  virtual std::string IdToToken(int32_t token_id) = 0;

  // Returns the id of a token. If there is none, returns -1; with a model of SentencePiece,
  // returns the id of the unknown token.
  virtual int32_t TokenToId(const std::string &token) = 0;

  // Makes a tokenizer from the text of a tokenizer.json.
  static std::unique_ptr<Tokenizer> FromBlobJSON(const std::string &json_blob);
  // Makes a byte-level BPE tokenizer that does not split text, from the texts of a vocab.json,
  // a merges.txt and a JSON object of more tokens and their ids.
  static std::unique_ptr<Tokenizer> FromBlobByteLevelBPE(const std::string &vocab_blob,
                                                         const std::string &merges_blob,
                                                         const std::string &added_tokens = "");
  // Makes a tokenizer from the bytes of a .model of SentencePiece, of type BPE.
  static std::unique_ptr<Tokenizer> FromBlobSentencePiece(const std::string &model_blob);
  // Throws: models of RWKV are not BPE.
  static std::unique_ptr<Tokenizer> FromBlobRWKVWorld(const std::string &model_blob);
};

} // namespace tokenizers

#endif
