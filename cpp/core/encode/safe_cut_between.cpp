#include "core/encode/safe_cut_between.hpp"

#include "core/split/safe_cut.hpp"

namespace pretok {

std::size_t safe_cut_between(const PreTokenizer &pre_tokenizer, const AddedTokens &added,
                             bool add_prefix_space, const std::uint8_t *data, std::size_t size,
                             std::size_t from, std::size_t to) {
  const ClearPlaces clear = added.clear_places(data, from, to);
  return safe_cut_in(pre_tokenizer, data, clear.start, clear.end, [&](std::size_t at) {
    return (!add_prefix_space || (at < size && data[at] == ' ')) &&
           (!added.strips() || !AddedTokens::is_white_space_before(data, clear.start, at));
  });
}

} // namespace pretok
