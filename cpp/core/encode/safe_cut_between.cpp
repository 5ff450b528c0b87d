#include "core/encode/safe_cut_between.hpp"

#include "core/split/safe_cut.hpp"

namespace pretok {

std::size_t safe_cut_between(const PreTokenizer &pre_tokenizer, const Encoder *encoder,
                             const AddedTokens &added, const std::uint8_t *data,
                             std::size_t from, std::size_t to) {
  const ClearPlaces clear = added.clear_places(data, from, to);
  const auto accepts = [&](std::size_t at) {
    return !added.strips() || !AddedTokens::is_white_space_before(data, clear.start, at);
  };
  const auto divides = [&](std::size_t before, bool is_joint) {
    return encoder != nullptr && encoder->divides(data + before, to - before, is_joint);
  };
  return safe_cut_in(pre_tokenizer, data, clear.start, clear.end, accepts, divides);
}

} // namespace pretok
