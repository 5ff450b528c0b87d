#include "capi/find_cut.hpp"

#include "core/base/sizes.hpp"
#include "core/encode/nfc_source.hpp"
#include "core/encode/safe_cut_between.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <vector>

namespace pretok {
namespace {

// How far back from the end the first look goes; each other one goes so many times further.
constexpr std::size_t FIRST_WINDOW = 256;
constexpr std::size_t WIDER = 16;

// More than an added token that begins before a place can have behind it, and the bytes of a
// code point.
std::size_t margin_of(const AddedTokens &added) { return added.longest() + 4; }

// A cut between `from` and `to` of a text that is not normalized.
std::size_t cut_as_it_is(const EncodeCall &call, const std::uint8_t *data, std::size_t size,
                         std::size_t from, std::size_t to) {
  const Encoder &encoder = *call.tokenizer->encoder;
  const AddedTokens &added = call.policy->all;
  const std::size_t margin = margin_of(added);
  const std::size_t first = from > margin ? from - margin : 0;
  const std::size_t cut =
      safe_cut_between(encoder.pre_tokenizer(), added, encoder.add_prefix_space(), data + first,
                       size - first, from - first, to - first);
  return cut == 0 ? 0 : first + cut;
}

// A cut between `from` and `to` of a text that is normalized. It is between two places where
// the text can be cut for NFC, and no added token that is found in text as it is reaches in
// there; so what is between them becomes its normal form in the whole, and a cut of that is
// one of the text, where it is one for NFC as well. That it is before what begins anew, or
// within what is its own normal form: parts of that are, too.
std::size_t cut_normal(const EncodeCall &call, const std::uint8_t *data, std::size_t size,
                       std::size_t from, std::size_t to) {
  const Encoder &encoder = *call.tokenizer->encoder;
  const AddedTokens &exact = call.policy->exact;
  const AddedTokens &added = call.policy->normalized;
  const std::size_t margin = margin_of(exact);
  const std::size_t first = from > margin ? from - margin : 0;
  const ClearPlaces clear = exact.clear_places(data + first, from - first, to - first);
  std::size_t start = first + clear.start;
  to = first + clear.end;
  while (start < to && start != 0) {
    const bool is_tail = (data[start] & 0xC0) == 0x80;
    if (!is_tail && begins_anew(decode_utf8(data + start, size - start).code_point))
      break;
    ++start;
  }
  if (start >= to)
    return 0;
  const std::size_t part = last_nfc_cut(data + start, to - start, 0);
  std::vector<std::uint8_t> normal;
  to_nfc(data + start, part, normal);
  const std::size_t before = start == 0 ? 0 : margin_of(added);
  if (normal.size() <= before)
    return 0;
  const std::size_t cut =
      safe_cut_between(encoder.pre_tokenizer(), added, encoder.add_prefix_space(),
                       normal.data(), normal.size(), before, normal.size());
  // What an added token that comes later takes along.
  if (cut == 0 || (exact.strips() && AddedTokens::is_white_space_before(normal.data(), 0, cut)))
    return 0;
  const NfcSource source = find_nfc_source(data + start, part, cut);
  return source.is_exact ? start + source.position : 0;
}

} // namespace

std::size_t find_cut(const EncodeCall &call, const std::uint8_t *data, std::size_t size) {
  const bool nfc = call.tokenizer->pipeline->normalizer() == Normalizer::NFC;
  for (std::size_t window = FIRST_WINDOW;; window = saturating_multiply(window, WIDER)) {
    const std::size_t from = window < size ? size - window : 0;
    const std::size_t cut = nfc ? cut_normal(call, data, size, from, size)
                                : cut_as_it_is(call, data, size, from, size);
    if (cut != 0 || from == 0)
      return cut;
  }
}

} // namespace pretok
