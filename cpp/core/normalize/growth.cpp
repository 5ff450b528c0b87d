#include "core/normalize/growth.hpp"

#include "core/normalize/character_tables.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <cstddef>
#include <iterator>

namespace pretok {
namespace {

using StepKind = NormalizerStep::Kind;

constexpr std::uint64_t CANONICAL_GROWTH = 3;
constexpr std::uint64_t LOWERCASE_GROWTH = 2;

const char *normalizer_name(StepKind kind) {
  static constexpr const char *NAMES[] = {
      "NFC",          "NFD",     "NFKC",        "NFKD",          "Lowercase",
      "StripAccents", "Nmt",     "ByteLevel",   "Strip",         "BertNormalizer",
      "Prepend",      "Replace", "Precompiled", "SentencePiece", "Replace"};
  static_assert(std::size(NAMES) == static_cast<std::size_t>(StepKind::COUNT));
  return NAMES[static_cast<std::size_t>(kind)];
}

// Returns whether no Unicode form, lower case or BertNormalizer grows a character of `text`.
bool keeps_its_size(const std::string &text) {
  const auto *data = reinterpret_cast<const std::uint8_t *>(text.data());
  using Bytes = std::vector<std::uint8_t>;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(data + at, text.size() - at);
    const Bytes character(data + at, data + at + decoded.width);
    at += decoded.width;
    if (decoded.code_point < 0x80)
      continue;
    Bytes compatible;
    Bytes decomposed;
    Bytes lower;
    append_compatible(decoded.code_point, compatible);
    to_nfd(compatible.data(), compatible.size(), decomposed);
    append_lower(decoded.code_point, lower);
    if (decomposed != character || lower != character ||
        CHINESE_CHARACTERS.has(decoded.code_point))
      return false;
  }
  return true;
}

void add_normalizer(const NormalizerStep &step, Growth &growth) {
  const std::string &content = step.replacement.content;
  switch (step.kind) {
  case StepKind::NFC:
  case StepKind::NFD:
    return growth.spell(CANONICAL_GROWTH);
  case StepKind::NFKC:
  case StepKind::NFKD:
    return growth.spell(COMPATIBLE_GROWTH);
  case StepKind::LOWERCASE:
    return growth.spell(LOWERCASE_GROWTH);
  case StepKind::BERT:
    if ((step.options & NormalizerStep::CHINESE) != 0)
      growth.space_chinese();
    if (step.strips_accents())
      growth.spell(CANONICAL_GROWTH);
    if ((step.options & NormalizerStep::LOWER) != 0)
      growth.spell(LOWERCASE_GROWTH);
    return;
  case StepKind::BYTE_LEVEL:
    return growth.multiply(2, false);
  case StepKind::PREPEND:
    return growth.add(content.size(), keeps_its_size(content));
  case StepKind::REPLACE:
  case StepKind::REPLACE_REGEX:
    return growth.multiply(replace_factor(step.replacement), keeps_its_size(content));
  case StepKind::PRECOMPILED:
    return growth.multiply(step.charsmap_growth, false);
  default: // replaces a character by at most as many bytes
    return;
  }
}

// Adds `steps` to `check` until they pass a limit. Returns the problem.
std::string add_normalizers(const std::vector<NormalizerStep> &steps, GrowthCheck &check) {
  std::string problem;
  for (const NormalizerStep &step : steps) {
    problem = check.next(normalizer_name(step.kind), step.kind == StepKind::REPLACE_REGEX,
                         [&](Growth &growth) { add_normalizer(step, growth); });
    if (!problem.empty())
      break;
  }
  return problem;
}

} // namespace

std::uint64_t Growth::bytes() const {
  // A Chinese character has at least three bytes.
  const std::uint64_t spaced = saturating_multiply(spelled_, 3 + 2 * chinese_);
  const std::uint64_t all = saturating_multiply(base_, spaced);
  return saturating_add(all / 3 + (all % 3 != 0 ? 1 : 0), added_);
}

void Growth::multiply(std::uint64_t factor, bool is_stable) {
  if (!is_stable)
    write_any();
  base_ = saturating_multiply(base_, factor);
  added_ = saturating_multiply(added_, factor);
}

void Growth::add(std::uint64_t size, bool is_stable) {
  added_ = saturating_add(added_, size);
  if (!is_stable)
    write_any();
}

void Growth::write_any() {
  base_ = bytes();
  added_ = 0;
  spelled_ = 1;
  chinese_ = 0;
}

std::uint64_t replace_factor(const Replacement &replacement) {
  // A match of a regex has at least one byte.
  const std::uint64_t matched = replacement.regex ? 1 : replacement.pattern.size();
  const std::uint64_t size = replacement.content.size();
  return std::max<std::uint64_t>(1, size / matched + (size % matched != 0 ? 1 : 0));
}

std::string GrowthCheck::problem(const char *name) const {
  const std::uint64_t bytes = growth_.bytes();
  if (bytes <= MAX_GROWTH && read_ <= MAX_GROWTH)
    return "";
  const std::string problem =
      bytes > MAX_GROWTH
          ? "make up to " + std::to_string(bytes) + " bytes of one byte"
          : "read up to " + std::to_string(read_) + " bytes with regexes for one byte";
  return problem + " of a " + unit_ + ", at step " + std::to_string(place_) + " (" + name +
         "); expected at most " + std::to_string(MAX_GROWTH);
}

std::string problem_of_growth(const std::vector<NormalizerStep> &steps) {
  GrowthCheck check("text");
  return add_normalizers(steps, check);
}

std::uint64_t growth_of(const std::vector<NormalizerStep> &steps) {
  GrowthCheck check("text");
  add_normalizers(steps, check);
  return check.growth().bytes();
}

} // namespace pretok
