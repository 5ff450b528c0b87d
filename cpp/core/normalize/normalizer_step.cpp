#include "core/normalize/normalizer_step.hpp"

#include "core/normalize/character_tables.hpp"
#include "core/normalize/growth.hpp"
#include "core/normalize/pass_maker.hpp"
#include "core/normalize/precompiled.hpp"
#include "core/normalize/text_replacer.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <iterator>

namespace pretok {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t CANONICAL_GROWTH = 3;
constexpr std::uint64_t LOWERCASE_GROWTH = 2;

// Appends a character unless it is dropped.
void keep_unless(bool is_dropped, std::uint32_t code_point, Bytes &to) {
  if (!is_dropped)
    append_character(code_point, to);
}

void strip_accents(std::uint32_t code_point, Bytes &to) {
  keep_unless(COMBINING_MARK_CHARACTERS.has(code_point), code_point, to);
}

void strip_nonspacing(std::uint32_t code_point, Bytes &to) {
  keep_unless(NONSPACING_MARK_CHARACTERS.has(code_point), code_point, to);
}

// Removes controls, and replaces unusual spaces.
void clean_as_nmt(std::uint32_t code_point, Bytes &to) {
  if (NMT_SPACE_CHARACTERS.has(code_point))
    return to.push_back(' ');
  keep_unless(NMT_DROPPED_CHARACTERS.has(code_point), code_point, to);
}

// Removes controls, and replaces white space by U+0020.
void clean_as_bert(std::uint32_t code_point, Bytes &to) {
  // "\v", "\f" and U+0085 are white space, but count as controls.
  if (WHITE_SPACE_CHARACTERS.has(code_point) && code_point != '\v' && code_point != '\f' &&
      code_point != 0x85)
    return to.push_back(' ');
  keep_unless(CONTROL_CHARACTERS.has(code_point), code_point, to);
}

void space_chinese(std::uint32_t code_point, Bytes &to) {
  const std::size_t spaces = CHINESE_CHARACTERS.has(code_point) ? 1 : 0;
  to.insert(to.end(), spaces, std::uint8_t{' '});
  append_character(code_point, to);
  to.insert(to.end(), spaces, std::uint8_t{' '});
}

class ByteLevelPass final : public NormalizerPass {
public:
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    std::size_t invalid = 0; // the number of invalid bytes before `at`
    for (std::size_t at = 0, width = size; at < size; at += width) {
      if (result.origins != nullptr || result.invalid != nullptr)
        width = decode_utf8(data + at, size - at).width;
      const std::uint8_t *const character =
          result.invalid != nullptr && data[at] == INVALID_BYTE
              ? result.invalid->data() + invalid++
              : data + at;
      const std::string text =
          byte_characters({reinterpret_cast<const char *>(character), width});
      result.append(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), at);
    }
    if (result.invalid != nullptr)
      result.invalid->clear();
  }
};

// Removes white space at the ends of a text.
class StripPass final : public NormalizerPass {
public:
  StripPass(bool strips_left, bool strips_right)
      : strips_left_(strips_left), strips_right_(strips_right) {}
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    const auto is_space = [&](std::size_t at) {
      return WHITE_SPACE_CHARACTERS.has(decode_utf8(data + at, size - at).code_point);
    };
    std::size_t start = 0;
    std::size_t end = size;
    if (strips_left_)
      while (start < size && is_space(start))
        start += decode_utf8(data + start, size - start).width;
    if (strips_right_)
      while (end > start && is_space(last_start(data, start, end)))
        end = last_start(data, start, end);
    result.keep(data, start, end);
  }

private:
  bool strips_left_;
  bool strips_right_;
};

class PrependPass final : public NormalizerPass {
public:
  explicit PrependPass(const std::string &prefix) : prefix_(prefix) {}
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    if (size != 0)
      result.append(reinterpret_cast<const std::uint8_t *>(prefix_.data()), prefix_.size(), 0);
    result.keep(data, 0, size);
  }

private:
  std::string prefix_;
};

// Returns whether no Unicode form, lower case or BertNormalizer grows a character of `text`.
bool keeps_its_size(const std::string &text) {
  const auto *data = reinterpret_cast<const std::uint8_t *>(text.data());
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

bool strips_accents(const NormalizerStep &step) {
  return step.strip_accents.value_or(step.lowercase);
}

void no_fields(NormalizerStep &, StepFields &) {}

// The functions of the types, in the order of NormalizerType.
template <bool COMPOSES, bool IS_COMPATIBLE>
constexpr NormalizerType unicode_form(const char *name) {
  return {name, no_fields,
          [](const NormalizerStep &, Growth &growth) {
            growth.spell(IS_COMPATIBLE ? COMPATIBLE_GROWTH : CANONICAL_GROWTH);
          },
          [](const NormalizerStep &, PassMaker &passes) {
            passes.add_form(COMPOSES, IS_COMPATIBLE);
          }};
}

void grow_bert(const NormalizerStep &step, Growth &growth) {
  if (step.handle_chinese_chars)
    growth.space_chinese();
  if (strips_accents(step))
    growth.spell(CANONICAL_GROWTH);
  if (step.lowercase)
    growth.spell(LOWERCASE_GROWTH);
}

void add_bert(const NormalizerStep &step, PassMaker &passes) {
  if (step.clean_text)
    passes.spell(clean_as_bert);
  if (step.handle_chinese_chars)
    passes.spell(space_chinese);
  if (strips_accents(step)) {
    passes.add_form(false, false);
    passes.spell(strip_nonspacing);
  }
  if (step.lowercase)
    passes.spell(append_lower);
}

constexpr NormalizerType TYPES[] = {
    unicode_form<true, false>("NFC"),
    unicode_form<false, false>("NFD"),
    unicode_form<true, true>("NFKC"),
    unicode_form<false, true>("NFKD"),
    {"Lowercase", no_fields,
     [](const NormalizerStep &, Growth &growth) { growth.spell(LOWERCASE_GROWTH); },
     [](const NormalizerStep &, PassMaker &passes) { passes.spell(append_lower); }},
    {"StripAccents", no_fields, nullptr,
     [](const NormalizerStep &, PassMaker &passes) { passes.spell(strip_accents); }},
    {"Nmt", no_fields, nullptr,
     [](const NormalizerStep &, PassMaker &passes) { passes.spell(clean_as_nmt); }},
    {"ByteLevel", no_fields,
     [](const NormalizerStep &, Growth &growth) { growth.multiply(2, false); },
     [](const NormalizerStep &, PassMaker &passes) { passes.add<ByteLevelPass>(); }},
    {"Strip",
     [](NormalizerStep &step, StepFields &fields) {
       fields.flag("strip_left", step.strip_left);
       fields.flag("strip_right", step.strip_right);
     },
     nullptr,
     [](const NormalizerStep &step, PassMaker &passes) {
       passes.add<StripPass>(step.strip_left, step.strip_right);
     }},
    {"BertNormalizer",
     [](NormalizerStep &step, StepFields &fields) {
       fields.flag("clean_text", step.clean_text);
       fields.flag("handle_chinese_chars", step.handle_chinese_chars);
       fields.optional_flag("strip_accents", step.strip_accents);
       fields.flag("lowercase", step.lowercase);
     },
     grow_bert, add_bert},
    {"Prepend",
     [](NormalizerStep &step, StepFields &fields) {
       fields.text("prepend", step.replacement.content, true);
     },
     [](const NormalizerStep &step, Growth &growth) {
       const std::string &prefix = step.replacement.content;
       growth.add(prefix.size(), keeps_its_size(prefix));
     },
     [](const NormalizerStep &step, PassMaker &passes) {
       passes.add<PrependPass>(step.replacement.content);
     }},
    {"Replace",
     [](NormalizerStep &step, StepFields &fields) {
       fields.pattern("pattern", step.replacement);
       fields.text("content", step.replacement.content, true);
     },
     [](const NormalizerStep &step, Growth &growth) {
       growth.multiply(replace_factor(step.replacement),
                       keeps_its_size(step.replacement.content));
     },
     [](const NormalizerStep &step, PassMaker &passes) {
       passes.add<TextReplacer>(step.replacement);
     }},
    {"Precompiled",
     [](NormalizerStep &step, StepFields &fields) {
       fields.charsmap("precompiled_charsmap", step.charsmap, false);
     },
     [](const NormalizerStep &step, Growth &growth) {
       growth.multiply(step.charsmap.growth, false);
     },
     [](const NormalizerStep &step, PassMaker &passes) {
       passes.add<Precompiled>(
           Charsmap(step.charsmap.bytes.data(), step.charsmap.bytes.size()));
     }},
    {"SentencePieceNormalizer",
     [](NormalizerStep &step, StepFields &fields) {
       fields.charsmap("charsmap", step.charsmap, true);
       fields.flag("add_dummy_prefix", step.sentencepiece.add_dummy_prefix);
       fields.flag("remove_extra_whitespaces", step.sentencepiece.remove_extra_whitespaces);
       fields.flag("escape_whitespaces", step.sentencepiece.escape_whitespaces);
       fields.flag("treat_whitespace_as_suffix", step.sentencepiece.treat_whitespace_as_suffix);
     },
     nullptr, nullptr},
};

} // namespace

// The last type is only in .pretok files.
const StepTypes<NormalizerStep> NORMALIZER_TYPES = {TYPES, std::size(TYPES),
                                                    std::size(TYPES) - 1};

} // namespace pretok
