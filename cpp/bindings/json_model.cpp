#include "bindings/json_model.hpp"

#include "formats/json_limits.hpp"
#include "formats/json_vocabulary.hpp"

#include <algorithm>
#include <cstddef>

namespace pretok {

bool JsonModel::read(std::string_view text) {
  text_ = text;
  if (text.size() > MAX_JSON_BYTES ||
      count_json_containers(text) > max_json_containers(text.size()))
    return false;
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  if (!file_.document.read(text))
    return false;
  const JsonPart whole(file_);
  whole.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
              "post_processor", "decoder", "model"});
  const JsonPart model = whole["model"];
  const JsonPart vocab = model["vocab"];
  const JsonPart merges = model["merges"];
  read_json_vocab(vocab, source_);
  read_json_merges(merges, source_);
  if (!whole.is_fine() || source_.texts.empty() || file_.document.has_duplicate(vocab.place()))
    return false;
  vocab_ = vocab.json();
  merges_ = merges.json();
  places_.emplace(source_.texts);
  return places_->size() == source_.texts.size();
}

std::string JsonModel::rest() const {
  struct Cut {
    std::string_view text;
    const char *replacement;
  };
  Cut first{vocab_, "{}"};
  Cut second{merges_, "[]"};
  if (merges_.data() < vocab_.data())
    std::swap(first, second);
  std::string rest;
  const char *at = text_.data();
  for (const auto &[cut, replacement] : {first, second}) {
    rest.append(at, static_cast<std::size_t>(cut.data() - at)).append(replacement);
    at = cut.data() + cut.size();
  }
  return rest.append(at, static_cast<std::size_t>(text_.data() + text_.size() - at));
}

} // namespace pretok
