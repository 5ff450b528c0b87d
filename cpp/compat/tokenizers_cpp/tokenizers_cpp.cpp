#include "compat/tokenizers_cpp/tokenizers_cpp.h"

#include "compat/tokenizers_cpp/byte_level_json.hpp"
#include "compat/tokenizers_cpp/model.hpp"

#include <stdexcept>

namespace tokenizers {
namespace {

using Ids = std::unique_ptr<std::uint32_t, void (*)(std::uint32_t *)>;

class ModelTokenizer final : public Tokenizer {
public:
  explicit ModelTokenizer(std::unique_ptr<pretok::Model> model) : model_(std::move(model)) {}

  std::vector<int32_t> Encode(const std::string &text) override {
    std::string error;
    std::uint32_t *ids = nullptr;
    std::size_t count = 0;
    if (!model_->encode(text, false, ids, count, error))
      throw std::runtime_error(error);
    const Ids owner(ids, pretok_ids_free);
    return std::vector<int32_t>(ids, ids + count);
  }

  std::vector<std::vector<int32_t>>
  EncodeBatch(const std::vector<std::string> &texts) override {
    std::string error;
    std::uint32_t *ids = nullptr;
    std::vector<std::size_t> ends;
    if (!model_->encode_batch({texts.begin(), texts.end()}, false, ids, ends, error))
      throw std::runtime_error(error);
    const Ids owner(ids, pretok_ids_free);
    std::vector<std::vector<int32_t>> results;
    results.reserve(texts.size());
    std::size_t start = 0;
    for (const std::size_t end : ends) {
      results.emplace_back(ids + start, ids + end);
      start = end;
    }
    return results;
  }

  std::string Decode(const std::vector<int32_t> &ids) override {
    const std::vector<std::uint32_t> unsigned_ids(ids.begin(), ids.end());
    std::string text;
    std::string error;
    if (!model_->decode(unsigned_ids.data(), unsigned_ids.size(), false, text, error))
      throw std::runtime_error(error);
    return text;
  }

  size_t GetVocabSize() override { return model_->size(); }
  std::string IdToToken(int32_t token_id) override {
    return model_->text_of(static_cast<std::uint32_t>(token_id));
  }
  int32_t TokenToId(const std::string &token) override { return model_->id_of(token); }

private:
  const std::unique_ptr<pretok::Model> model_;
};

std::unique_ptr<Tokenizer> load(const std::string &data, pretok::Model::Format format) {
  std::string error;
  std::unique_ptr<pretok::Model> model = pretok::Model::load(data, format, error);
  if (model == nullptr)
    throw std::runtime_error(error);
  return std::make_unique<ModelTokenizer>(std::move(model));
}

} // namespace

std::vector<std::vector<int32_t>>
Tokenizer::EncodeBatch(const std::vector<std::string> &texts) {
  std::vector<std::vector<int32_t>> results;
  results.reserve(texts.size());
  for (const std::string &text : texts)
    results.push_back(Encode(text));
  return results;
}

std::unique_ptr<Tokenizer> Tokenizer::FromBlobJSON(const std::string &json_blob) {
  return load(json_blob, pretok::Model::Format::JSON);
}

std::unique_ptr<Tokenizer> Tokenizer::FromBlobByteLevelBPE(const std::string &vocab_blob,
                                                           const std::string &merges_blob,
                                                           const std::string &added_tokens) {
  std::string json;
  if (const pretok::LoadError error =
          pretok::write_byte_level_json(vocab_blob, merges_blob, added_tokens, json))
    throw std::runtime_error(error.message);
  return load(json, pretok::Model::Format::WHOLE);
}

std::unique_ptr<Tokenizer> Tokenizer::FromBlobSentencePiece(const std::string &model_blob) {
  return load(model_blob, pretok::Model::Format::SENTENCEPIECE);
}

std::unique_ptr<Tokenizer> Tokenizer::FromBlobRWKVWorld(const std::string &) {
  throw std::runtime_error("a model of RWKV World is not BPE; expected a tokenizer.json, a "
                           "byte-level BPE model or a .model of SentencePiece");
}

} // namespace tokenizers
