#include "formats/json_steps.hpp"

#include "core/decode/decoder_growth.hpp"
#include "core/normalize/growth.hpp"
#include "formats/character_spec.hpp"
#include "formats/json_stages.hpp"
#include "formats/piece_file.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

// The limits of bpe/formats/normalizer_json.py and decoder_json.py.
constexpr std::size_t MAX_JSON_TEXT = 256; // in characters
constexpr std::uint32_t MAX_JSON_STRIPPED = 256;

constexpr const char *SAVE_IN_PYTHON =
    "; load the file in Python and save it: bpe.load(path).save(\"name.pretok\")";

// Appends the bytes of base64. Returns false if it is malformed.
bool decode_base64(std::string_view text, std::vector<std::uint8_t> &to) {
  constexpr std::string_view DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  values.fill(64);
  for (std::size_t i = 0; i < DIGITS.size(); ++i)
    values[static_cast<unsigned char>(DIGITS[i])] = static_cast<std::uint8_t>(i);
  if (text.size() % 4 != 0)
    return false;
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(digit)];
    if (value == 64)
      return false;
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      to.push_back(static_cast<std::uint8_t>(bits >> count));
    }
  }
  return true;
}

// Reads the parts of a normalizer or decoder. A function that fails sets the error and returns
// false.
class JsonSteps {
public:
  explicit JsonSteps(LoadError &error) : error_(error) {}

  bool read_step(const JsonPart &part, NormalizerStep &step) {
    using Type = NormalizerStep::Kind;
    static constexpr std::pair<std::string_view, Type> PLAIN[] = {
        {"NFC", Type::NFC},
        {"NFD", Type::NFD},
        {"NFKC", Type::NFKC},
        {"NFKD", Type::NFKD},
        {"Lowercase", Type::LOWERCASE},
        {"StripAccents", Type::STRIP_ACCENTS},
        {"Nmt", Type::NMT},
        {"ByteLevel", Type::BYTE_LEVEL}};
    std::string_view kind;
    if (!part.kind(kind, error_))
      return false;
    for (const auto &[name, type] : PLAIN)
      if (kind == name) {
        step.kind = type;
        return part.only({"type"}, error_);
      }
    if (kind == "Strip") {
      step.kind = Type::STRIP;
      return part.only({"type", "strip_left", "strip_right"}, error_) &&
             option(part, "strip_left", NormalizerStep::STRIP_LEFT, step.options) &&
             option(part, "strip_right", NormalizerStep::STRIP_RIGHT, step.options);
    }
    if (kind == "BertNormalizer")
      return read_bert(part, step);
    if (kind == "Prepend") {
      step.kind = Type::PREPEND;
      return part.only({"type", "prepend"}, error_) &&
             text(part, "prepend", true, step.replacement.content);
    }
    if (kind == "Replace") {
      if (!read_replace(part, step.replacement))
        return false;
      step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
      return true;
    }
    if (kind == "Precompiled")
      return read_precompiled(part, step);
    return unsupported(part, "expected a normalizer of the library tokenizers");
  }

  bool read_decoder(const JsonPart &part, DecoderStep &step) {
    using Type = DecoderStep::Kind;
    std::string_view kind;
    step.kind = Type::SPACES;
    if (!part.is_present)
      return true;
    if (!part.kind(kind, error_))
      return false;
    if (kind == "ByteLevel") {
      step.kind = Type::BYTE_LEVEL;
      return true;
    }
    if (kind == "ByteFallback" || kind == "Fuse") {
      step.kind = kind == "Fuse" ? Type::FUSE : Type::BYTE_FALLBACK;
      return part.only({"type"}, error_);
    }
    if (kind == "Strip") {
      step.kind = Type::STRIP;
      return part.only({"type", "content", "start", "stop"}, error_) &&
             character(part, "content", step.text) && count(part, "start", step.start) &&
             count(part, "stop", step.stop);
    }
    if (kind == "Replace") {
      if (!read_replace(part, step.replacement))
        return false;
      step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
      return true;
    }
    if (kind == "Metaspace") {
      MetaspaceSpec metaspace;
      step.kind = Type::METASPACE;
      if (!read_metaspace(part, metaspace, nullptr))
        return false;
      step.text = metaspace.replacement;
      step.removes_first = metaspace.prepend != MetaspaceSpec::Prepend::NEVER;
      return true;
    }
    if (kind == "BPEDecoder") {
      step.kind = Type::BPE;
      return part.only({"type", "suffix"}, error_) && text(part, "suffix", false, step.text);
    }
    if (kind == "WordPiece") {
      step.kind = Type::WORD_PIECE;
      return part.only({"type", "prefix", "cleanup"}, error_) &&
             text(part, "prefix", true, step.text) && flag(part, "cleanup", step.cleanup);
    }
    if (kind == "CTC") {
      step.kind = Type::CTC;
      return part.only({"type", "pad_token", "word_delimiter_token", "cleanup"}, error_) &&
             text(part, "pad_token", true, step.text) &&
             text(part, "word_delimiter_token", true, step.delimiter) &&
             flag(part, "cleanup", step.cleanup);
    }
    return unsupported(part, "expected a decoder of the library tokenizers");
  }

  bool read_metaspace(const JsonPart &part, MetaspaceSpec &metaspace, bool *splits) {
    JsonPart option;
    std::string_view scheme = "always";
    bool adds_space = true;
    bool does_split = true;
    if (!part.only(
            {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"},
            error_) ||
        !character(part, "replacement", metaspace.replacement) ||
        !part.get("prepend_scheme", option, error_) ||
        (option.is_present && !option.text(scheme, error_)) ||
        !part.get("split", option, error_) ||
        (option.is_present && !option.flag(does_split, error_)) ||
        !part.get("add_prefix_space", option, error_) ||
        (option.is_present && !option.flag(adds_space, error_)))
      return false;
    if (splits != nullptr)
      *splits = does_split;
    if (scheme == "always")
      metaspace.prepend = MetaspaceSpec::Prepend::ALWAYS;
    else if (scheme == "first")
      metaspace.prepend = MetaspaceSpec::Prepend::FIRST;
    else if (scheme == "never")
      metaspace.prepend = MetaspaceSpec::Prepend::NEVER;
    else
      return malformed(part, "a valid Metaspace, with prepend_scheme always, first or never");
    return adds_space || scheme == "never" ||
           malformed(part, "a Metaspace whose add_prefix_space agrees with prepend_scheme");
  }

private:
  bool unsupported(const JsonPart &part, const std::string &advice) {
    error_ = part.unsupported(advice);
    return false;
  }
  bool malformed(const JsonPart &part, const std::string &expected) {
    error_ = part.malformed(expected);
    return false;
  }

  bool flag(const JsonPart &part, const char *name, bool &result) {
    JsonPart member;
    return part.get(name, member, error_) && member.flag(result, error_);
  }

  // Sets the bit `bit` of `options` if the member is true.
  bool option(const JsonPart &part, const char *name, std::uint32_t bit,
              std::uint32_t &options) {
    bool is_set = false;
    if (!flag(part, name, is_set))
      return false;
    options |= is_set ? bit : 0;
    return true;
  }

  bool count(const JsonPart &part, const char *name, std::uint32_t &result) {
    JsonPart member;
    std::uint64_t number = 0;
    if (!part.get(name, member, error_))
      return false;
    if (!member.is_number() || member.value.get(number) != simdjson::SUCCESS ||
        number > MAX_JSON_STRIPPED)
      return malformed(member, "a number from 0 to " + std::to_string(MAX_JSON_STRIPPED));
    result = static_cast<std::uint32_t>(number);
    return true;
  }

  // Gets a text of at most MAX_JSON_TEXT characters.
  bool text(const JsonPart &part, const char *name, bool may_be_empty, std::string &result) {
    JsonPart member;
    std::string_view view;
    if (!part.get(name, member, error_) || !member.text(view, error_))
      return false;
    if (count_characters(view) > MAX_JSON_TEXT || (view.empty() && !may_be_empty))
      return malformed(member,
                       "a text of 1 to " + std::to_string(MAX_JSON_TEXT) + " characters");
    result = view;
    return true;
  }

  bool character(const JsonPart &part, const char *name, std::string &result) {
    JsonPart member;
    std::string_view view;
    if (!part.get(name, member, error_) || !member.text(view, error_))
      return false;
    result = view;
    return count_characters(view) == 1 || malformed(member, "one character");
  }

  bool read_bert(const JsonPart &part, NormalizerStep &step) {
    JsonPart accents;
    step.kind = NormalizerStep::Kind::BERT;
    if (!part.only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"},
                   error_) ||
        !part.get("strip_accents", accents, error_))
      return false;
    if (!accents.is_present)
      step.options |= NormalizerStep::ACCENTS_AS_LOWER;
    else if (!option(part, "strip_accents", NormalizerStep::ACCENTS, step.options))
      return false;
    return option(part, "clean_text", NormalizerStep::CLEAN_TEXT, step.options) &&
           option(part, "handle_chinese_chars", NormalizerStep::CHINESE, step.options) &&
           option(part, "lowercase", NormalizerStep::LOWER, step.options);
  }

  bool read_replace(const JsonPart &part, Replacement &replacement) {
    JsonPart pattern;
    JsonPart plain;
    if (!part.only({"type", "pattern", "content"}, error_) ||
        !part.get("pattern", pattern, error_) || !pattern.only({"String", "Regex"}, error_) ||
        !pattern.get("String", plain, error_))
      return false;
    const char *const name = plain.is_present ? "String" : "Regex";
    JsonPart member;
    std::string_view view;
    if (!pattern.get(name, member, error_) || !member.text(view, error_))
      return false;
    if (view.empty())
      return unsupported(pattern, "an empty pattern matches between all characters");
    if (!text(pattern, name, false, replacement.pattern) ||
        !text(part, "content", true, replacement.content))
      return false;
    if (plain.is_present || find_json_regex(replacement.pattern, replacement.regex.emplace()))
      return true;
    return unsupported(pattern,
                       std::string("only Python compiles this regex") + SAVE_IN_PYTHON);
  }

  bool read_precompiled(const JsonPart &part, NormalizerStep &step) {
    JsonPart charsmap;
    std::string_view encoded;
    step.kind = NormalizerStep::Kind::PRECOMPILED;
    if (!part.only({"type", "precompiled_charsmap"}, error_) ||
        !part.get("precompiled_charsmap", charsmap, error_) || !charsmap.text(encoded, error_))
      return false;
    if (!decode_base64(encoded, step.charsmap))
      return malformed(charsmap, "base64");
    const std::string problem = step.charsmap.empty()
                                    ? "is truncated"
                                    : problem_of_charsmap(step.charsmap, &step.charsmap_growth);
    return problem.empty() || malformed(charsmap, "a valid charsmap; the charsmap " + problem);
  }

  LoadError &error_;
};

} // namespace

bool read_normalizer_steps(const JsonPart &file, std::vector<NormalizerStep> &steps,
                           LoadError &error) {
  JsonPart normalizer;
  std::vector<JsonPart> parts;
  if (!file.get("normalizer", normalizer, error) ||
      !normalizer.parts("normalizers", parts, error))
    return false;
  JsonSteps reader(error);
  for (const JsonPart &part : parts)
    if (part.is_present && !reader.read_step(part, steps.emplace_back()))
      return false;
  const std::string problem = problem_of_growth(steps);
  if (!problem.empty())
    error = normalizer.unsupported("the normalizers " + problem);
  return problem.empty();
}

bool read_decoder_steps(const JsonPart &file, std::vector<DecoderStep> &steps,
                        bool &joins_bytes, LoadError &error) {
  JsonPart decoder;
  std::vector<JsonPart> parts;
  if (!file.get("decoder", decoder, error) || !decoder.parts("decoders", parts, error))
    return false;
  JsonSteps reader(error);
  joins_bytes = !parts.empty(); // an empty Sequence joins the characters of the bytes
  for (const JsonPart &part : parts) {
    if (!reader.read_decoder(part, steps.emplace_back()))
      return false;
    joins_bytes =
        joins_bytes && (!part.is_present || steps.back().kind == DecoderStep::Kind::BYTE_LEVEL);
  }
  const std::string problem = problem_of_growth(steps);
  if (!problem.empty())
    error = decoder.unsupported("the decoders " + problem);
  return problem.empty();
}

bool read_json_metaspace(const JsonPart &part, MetaspaceSpec &metaspace, bool *splits,
                         LoadError &error) {
  return JsonSteps(error).read_metaspace(part, metaspace, splits);
}

} // namespace pretok
