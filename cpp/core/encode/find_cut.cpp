#include "core/encode/find_cut.hpp"

#include "core/base/sizes.hpp"
#include "core/encode/nfc_source.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// The first search covers the last FIRST_WINDOW bytes. Each further search covers WINDOW_FACTOR
// times as many bytes as the previous one, so all searches together take little more time than
// the last one.
constexpr std::size_t FIRST_WINDOW = 32;
constexpr std::size_t WINDOW_FACTOR = 16;
// A turn of a chat ends with a few added tokens, and no cut may be between them. Each search
// before a token leaves out at least 1 / MIN_STEP of the bytes that earlier searches left out.
constexpr std::size_t MIN_STEP = 8;

// Returns a safe cut between `from` and `to`, if it finds one. The text needs no normalization.
Cut find_cut_in_text(const Encoder &encoder, const AddedTokens &added, const std::uint8_t *data,
                     std::size_t size, std::size_t from, std::size_t to) {
  const std::size_t first = from - std::min(from, added.longest());
  // The Encoder replaces marks ("▁") by spaces before it splits, so near a mark it splits other
  // bytes than `data`, and a cut of `data` might not be safe.
  if (encoder.spaces().are_marks && TextSpaces::has_mark(data + first, size - first))
    return {};
  const std::size_t cut = safe_cut_between(encoder.pre_tokenizer(), &encoder, added,
                                           data + first, from - first, to - first);
  return cut == 0 ? Cut{} : Cut{first + cut, first};
}

// Like find_cut_in_text, for a tokenizer that normalizes text to NFC.
//
// 1. Find a range data[start..start + part) with NFC boundaries at both ends: NFC joins no
//    characters across such a boundary. No added token of `exact` overlaps the range (`exact`
//    tokens are found before normalization). So the NFC of the whole text contains the NFC of
//    the range, and step 2 needs no more than the range.
// 2. Find a safe cut in the NFC of the range.
// 3. Map the cut to a position in the source. The position is exact if it is an NFC boundary,
//    or if NFC does not change the letter and marks around the position. If it is not exact,
//    there is no cut. If the range is in NFC already, it needs no copy and no mapping.
Cut find_cut_with_nfc(const Encoder &encoder, const AddedTokens &exact,
                      const AddedTokens &added, const std::uint8_t *data, std::size_t size,
                      std::size_t from, std::size_t to) {
  const std::size_t first = from - std::min(from, exact.longest());
  const ClearPlaces clear = exact.clear_places(data + first, from - first, to - first);
  std::size_t start = first + clear.start;
  to = first + clear.end;
  while (start < to) {
    if (!is_tail(data[start]) &&
        has_nfc_boundary_before(decode_utf8(data + start, size - start).code_point))
      break;
    ++start;
  }
  if (start >= to)
    return {};
  const std::size_t part = last_nfc_cut(data + start, to - start, 0);
  const bool is_normal = is_nfc(data + start, part);
  std::vector<std::uint8_t> nfc;
  if (!is_normal)
    to_nfc(data + start, part, nfc);
  const std::uint8_t *const normalized = is_normal ? data + start : nfc.data();
  const std::size_t normalized_size = is_normal ? part : nfc.size();
  const std::size_t context = start == 0 ? 0 : added.longest();
  if (normalized_size <= context)
    return {};
  const std::size_t cut = safe_cut_between(encoder.pre_tokenizer(), &encoder, added, normalized,
                                           context, normalized_size);
  // If white space is right before the cut, an exact token with `lstrip` after the cut could
  // take it.
  if (cut == 0 || (exact.strips() && AddedTokens::is_white_space_before(normalized, 0, cut)))
    return {};
  if (is_normal)
    return {start + cut, first};
  const NfcSource source = find_nfc_source(data + start, part, cut);
  return source.is_exact ? Cut{start + source.position, first} : Cut{};
}

} // namespace

Cut find_cut(const Encoder &encoder, const AddedTokenPhases &added, Normalizer normalizer,
             const std::uint8_t *data, std::size_t size) {
  if (normalizer == Normalizer::SENTENCEPIECE || normalizer == Normalizer::CHAIN)
    return {}; // the normalizer may treat the start and the end of any part in a special way
  const bool is_nfc = normalizer == Normalizer::NFC;
  const AddedTokens &tokens = is_nfc ? added.exact : added.all;
  const std::size_t whole = size;
  for (std::size_t window = FIRST_WINDOW;;) {
    const std::size_t from = window < size ? size - window : 0;
    const Cut cut =
        is_nfc ? find_cut_with_nfc(encoder, tokens, added.normalized, data, size, from, size)
               : find_cut_in_text(encoder, tokens, data, size, from, size);
    if (cut.position != 0)
      return cut;
    const std::size_t first = from - std::min(from, tokens.longest());
    const std::size_t end =
        first + tokens.clear_places(data + first, from - first, size - first).start;
    if (end > from) {
      // There is no cut after the last token. Search the text up to a part of this token.
      size = std::min(end - 1, size - std::min(size, (whole - size) / MIN_STEP));
      window = FIRST_WINDOW;
    } else if (from == 0) {
      return {};
    } else {
      window = saturating_multiply(window, WINDOW_FACTOR);
    }
  }
}

} // namespace pretok
