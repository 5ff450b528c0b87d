#include "core/decode/decoder_growth.hpp"

#include "core/normalize/growth.hpp"
#include "core/unicode/utf8.hpp"

#include <cstddef>
#include <iterator>

namespace pretok {
namespace {

using GrowingDecoder = DecoderStep::Kind;

// A character of two bytes stands for a byte, which may become U+FFFD.
constexpr std::uint64_t BYTES_AS_TEXT = 2;

// The names of the classes in bpe/decoders/steps.py.
const char *decoder_name(GrowingDecoder kind) {
  static constexpr const char *NAMES[] = {"ByteLevel",
                                          "ByteFallback",
                                          "Fuse",
                                          "Strip",
                                          "Replace",
                                          "Metaspace",
                                          "BPEDecoder",
                                          "WordPiece",
                                          "CTC",
                                          "Spaces",
                                          "SentencePieceDecoding",
                                          "Replace"};
  static_assert(std::size(NAMES) == static_cast<std::size_t>(GrowingDecoder::COUNT));
  return NAMES[static_cast<std::size_t>(kind)];
}

// Returns whether no character of `text` has two bytes: only such characters stand for bytes.
bool has_no_byte_characters(const std::string &text) {
  const auto *data = reinterpret_cast<const std::uint8_t *>(text.data());
  for (std::size_t at = 0, width = 0; at < text.size(); at += width) {
    width = decode_utf8(data + at, text.size() - at).width;
    if (width == 2)
      return false;
  }
  return true;
}

void add_decoder(const DecoderStep &step, Growth &growth) {
  switch (step.kind) {
  case GrowingDecoder::BYTE_LEVEL:
    return growth.spell(BYTES_AS_TEXT);
  case GrowingDecoder::SPACES:
  case GrowingDecoder::WORD_PIECE:
    return growth.add(1, true);
  case GrowingDecoder::CTC:
    if (step.cleanup && step.delimiter.empty()) { // a space around each character
      growth.multiply(2, true);
      growth.add(1, true);
    }
    return;
  case GrowingDecoder::REPLACE:
  case GrowingDecoder::REPLACE_REGEX:
    return growth.multiply(replace_factor(step.replacement),
                           has_no_byte_characters(step.replacement.content));
  default: // does not grow a token
    return;
  }
}

} // namespace

std::string problem_of_growth(const std::vector<DecoderStep> &steps) {
  GrowthCheck check("token");
  for (const DecoderStep &step : steps) {
    const std::string problem =
        check.next(decoder_name(step.kind), step.kind == GrowingDecoder::REPLACE_REGEX,
                   [&](Growth &growth) { add_decoder(step, growth); });
    if (!problem.empty())
      return problem;
  }
  return "";
}

} // namespace pretok
