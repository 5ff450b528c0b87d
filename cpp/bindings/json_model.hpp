// Reads `model.vocab` and `model.merges` of a tokenizer.json, without a Python object for each
// token. Python reads the rest of the file.
#pragma once

#include "formats/json_part.hpp"
#include "formats/text_model.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pretok {

// Not copyable: its texts are views.
class JsonModel {
public:
  // Reads `file`, which must outlive the JsonModel. Returns false unless each entry of the
  // vocabulary is a unique text with a unique id, and each merge is a pair of texts, or one
  // text "left right". Also returns false for unusual files, which Python then reads: with
  // unknown or duplicate members, with lone surrogates or deep nesting, or larger than the
  // limits of json_limits.hpp (Python then raises the error). Does not check all of the rest
  // of the file: if the rest is valid JSON, the whole file is.
  bool read(std::string_view file);

  JsonModel() = default;
  JsonModel(const JsonModel &) = delete;
  JsonModel &operator=(const JsonModel &) = delete;

  const TextModel &source() const { return source_; }
  const TextIndex &places() const { return *places_; }
  // Returns the file without the vocabulary and the merges: {} and [] replace them.
  std::string rest() const;

private:
  JsonFile file_;
  TextModel source_;
  std::optional<TextIndex> places_; // the index of each text in source_.texts
  std::string_view text_;           // the file
  std::string_view vocab_;          // the object `vocab` in the file
  std::string_view merges_;         // the list `merges` in the file
};

} // namespace pretok
