// Reads `model.vocab` and `model.merges` of a tokenizer.json, without a Python object for each
// token. Python reads the rest of the file.
#pragma once

#include "formats/text_model.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A half-open range of bytes in a file.
struct JsonSpan {
  std::size_t start = 0;
  std::size_t end = 0;
};

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
  // The object `vocab` and the list `merges`.
  JsonSpan vocab() const { return vocab_; }
  JsonSpan merges() const { return merges_; }

private:
  class Scanner;

  TextModel source_;
  std::optional<TextIndex> places_;   // the index of each text in source_.texts
  std::deque<std::string> unescaped_; // the texts that have escapes in the file
  JsonSpan vocab_;
  JsonSpan merges_;
};

} // namespace pretok
