#include "bindings/character_arrays.hpp"

#include "core/bpe/character_merge.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

std::unique_ptr<CharacterMerge> make_character_merge(const CharacterArrays &arrays) {
  const auto &[code_points, places, ids, whole_bytes, whole_lengths, whole_ids, unknown,
               fuses_unknown, fallback, byte_widths] = arrays;
  if (code_points.size() != places.size() || code_points.size() != ids.size() ||
      whole_lengths.size() != whole_ids.size())
    throw py::value_error("expected arrays of equal lengths for characters and whole tokens");
  CharacterData data;
  for (py::ssize_t i = 0; i < ids.size(); ++i) {
    if (places.at(i) > 3)
      throw py::value_error("expected places from 0 to 3");
    data.tokens.push_back(
        {code_points.at(i), static_cast<CharacterPlace>(places.at(i)), ids.at(i)});
  }
  const std::vector<std::string_view> whole = texts_of(whole_bytes, whole_lengths);
  for (std::size_t i = 0; i < whole.size(); ++i)
    data.whole.push_back(
        {{whole[i].begin(), whole[i].end()}, whole_ids.at(static_cast<py::ssize_t>(i))});
  data.unknown = unknown;
  data.fuses_unknown = fuses_unknown;
  data.fallback = as_vector(fallback);
  const std::string_view widths = view_of(byte_widths);
  data.byte_widths.assign(widths.begin(), widths.end());
  auto merge = std::make_unique<CharacterMerge>();
  if (const char *wrong = merge->build(std::move(data)))
    throw py::value_error(wrong);
  return merge;
}

} // namespace

std::unique_ptr<CharacterMerging> make_merging(const Characters &characters, bool has_spaces) {
  if (const auto *arrays = std::get_if<CharacterArrays>(&characters))
    return make_character_merge(*arrays);
  const auto &pieces = std::get<SharedPieceTable>(characters);
  const UnknownCharacters &unknown = pieces.table->unknown();
  if (!pieces.is_ordered || (!unknown.has_fallback() && unknown.id == NO_ID))
    throw py::value_error("expected ordered pieces, and a fallback token for each byte or an "
                          "unknown token");
  return std::make_unique<PieceMerge>(pieces.table, has_spaces);
}

} // namespace pretok
