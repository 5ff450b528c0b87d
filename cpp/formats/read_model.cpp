#include "read_model.hpp"

#include "rank_file.hpp"

#include <utility>

namespace pretok {

Fault read_model(const std::uint8_t *data, std::size_t size, Model &model) {
  RankFile file;
  if (!read_rank_file(data, size, file))
    return {Fault::MALFORMED, "this is no rank file of tiktoken, or a damaged one"};
  model.vocabulary.mergeable = file.ids.size();
  model.vocabulary.bytes = std::move(file.bytes);
  model.vocabulary.lengths = std::move(file.lengths);
  model.vocabulary.ids = std::move(file.ids);
  model.why_no_preset = "a rank file does not say how to split text";
  return {};
}

} // namespace pretok
