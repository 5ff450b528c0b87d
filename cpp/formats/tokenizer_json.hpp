// Reads files tokenizer.json with BPE, a format of Hugging Face's library tokenizers.
// bpe/formats/huggingface.py does the same in Python.
#pragma once

#include "core/json/json_document.hpp"
#include "formats/load_error.hpp"
#include "formats/text_model.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A tokenizer.json in memory, with an index of the texts of its vocabulary. Threads may share
// it after `open`.
class TokenizerJson {
public:
  TokenizerJson() = default;
  TokenizerJson(const TokenizerJson &) = delete; // its texts are views
  TokenizerJson &operator=(const TokenizerJson &) = delete;

  // Parses `text`, which must outlive the object. Reads the vocabulary and the merges, but does
  // not look up the sides of the merges. Takes linear time and space in the size of `text`.
  LoadError open(std::string_view text);

  // Reads the whole file. Sets spec.preset only if the pre_tokenizer is written exactly like
  // the pre_tokenizer of a built-in preset. The reader in Python also accepts equivalent
  // pre_tokenizers.
  LoadError read(TokenizerSpec &spec) const;

  // The parts of a file that a caller of read_model has read itself.
  struct ModelOptions {
    // In place of the added tokens of the file, with the ids that they get.
    std::vector<AddedToken> added;
    bool ends_byte_level = false; // whether the last part of the pre_tokenizer is ByteLevel
  };
  // Reads only the model, and sets only `vocabulary` and `text`.
  LoadError read_model(const ModelOptions &options, TokenizerSpec &spec) const;

  // Returns the id of a text in the vocabulary, or NO_ID.
  std::uint32_t find(std::string_view text) const;
  // The texts of the vocabulary, and their ids.
  const TextModel &model() const { return model_; }
  // Returns the file without the vocabulary and the merges: {} and [] replace them.
  std::string rest() const;

private:
  class Reader;

  std::string_view text_;
  JsonDocument document_;   // without the vocabulary and the merges
  std::string_view vocab_;  // the object `vocab` in the file
  std::string_view merges_; // the list `merges` in the file
  TextModel model_;
  std::optional<TextIndex> places_; // of each text in model_.texts
};

// Opens and reads a tokenizer.json.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
