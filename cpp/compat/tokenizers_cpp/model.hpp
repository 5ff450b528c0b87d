// A tokenizer and the texts of its tokens: what both interfaces of tokenizers-cpp share.
#pragma once

#include "capi/handles.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pretok {

// Threads may share a Model.
class Model {
public:
  // WHOLE is a tokenizer.json of byte-level tokens whose texts are not split.
  enum class Format { JSON, WHOLE, SENTENCEPIECE };

  // Makes a model from the contents of a file. Returns nullptr if it fails, and writes `error`.
  static std::unique_ptr<Model> load(std::string_view data, Format format, std::string &error);

  // Encodes a text. Sets `ids`, to free with pretok_ids_free, and `count`. Returns false if it
  // fails, and writes `error`.
  bool encode(std::string_view text, bool adds_special_tokens, std::uint32_t *&ids,
              std::size_t &count, std::string &error) const;

  // Encodes texts on all processors. Sets `ids`, to free with pretok_ids_free; those of text i
  // end before ends[i]. Returns false if one text fails, and writes `error`.
  bool encode_batch(const std::vector<std::string_view> &texts, bool adds_special_tokens,
                    std::uint32_t *&ids, std::vector<std::size_t> &ends,
                    std::string &error) const;

  // Decodes ids. In a tokenizer.json, ids without a token have no text. With a model of
  // SentencePiece, the text is then "".
  bool decode(const std::uint32_t *ids, std::size_t count, bool skips_special,
              std::string &text, std::string &error) const;

  std::size_t size() const { return size_; }
  // Returns the text of a token as the file has it, or "".
  const std::string &text_of(std::uint32_t id) const;
  // Returns the id of a token. If there is none, returns -1 or the id of the unknown token.
  std::int32_t id_of(const std::string &text) const;

private:
  pretok_encode_options options(bool adds_special_tokens) const;
  // Returns `text`, or what `mended` then holds: with U+FFFD for what is not UTF-8.
  std::string_view valid(std::string_view text, std::string &mended) const;
  bool has(std::uint32_t id) const {
    return tokenizer_->core->decoder().token(id).bytes != nullptr;
  }
  void list_texts(const TokenizerSpec &spec);
  void name_fallback_tokens();

  Format format_ = Format::JSON;
  std::unique_ptr<pretok_tokenizer> tokenizer_;
  std::size_t size_ = 0;
  std::vector<std::string> texts_; // by id
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::int32_t unknown_id_ = -1; // of a model of SentencePiece
};

} // namespace pretok
