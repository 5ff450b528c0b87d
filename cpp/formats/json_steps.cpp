#include "formats/json_steps.hpp"

#include "core/decode/decoder_growth.hpp"
#include "core/normalize/growth.hpp"
#include "formats/character_spec.hpp"
#include "formats/json_stages.hpp"
#include "formats/piece_file.hpp"
#include "formats/rank_file.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

// The limit of bpe/formats/decoder_json.py.
constexpr std::uint32_t MAX_JSON_STRIPPED = 256;

constexpr const char *SAVE_IN_PYTHON =
    "; load the file in Python and save it: bpe.load(path).save(\"name.pretok\")";

std::string read_character(const JsonPart &part) {
  const std::string_view text = part.text();
  if (count_characters(text) != 1)
    part.fail_malformed("one character");
  return std::string(text);
}

std::uint32_t read_count(const JsonPart &part) { return part.number(MAX_JSON_STRIPPED); }

Replacement read_replace(const JsonPart &part) {
  Replacement result;
  part.only({"type", "pattern", "content"});
  const JsonPart pattern = part["pattern"];
  pattern.only({"String", "Regex"});
  const bool is_plain = pattern["String"].is_present();
  const JsonPart text = pattern[is_plain ? "String" : "Regex"];
  if (text.text().empty())
    pattern.fail_unsupported("an empty pattern matches between all characters");
  result.pattern = text.short_text(false);
  result.content = part["content"].short_text(true);
  if (!is_plain && part.is_fine() && !find_json_regex(result.pattern, result.regex.emplace()))
    pattern.fail_unsupported(std::string("only Python compiles this regex") + SAVE_IN_PYTHON);
  return result;
}

// Reads a BertNormalizer or a Strip. Each option is true or false.
void read_options(const JsonPart &part,
                  std::initializer_list<std::pair<const char *, std::uint32_t>> bits,
                  NormalizerStep &step) {
  for (const auto &[name, bit] : bits)
    step.options |= part[name].flag() ? bit : 0;
}

void read_bert(const JsonPart &part, NormalizerStep &step) {
  part.only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const JsonPart accents = part["strip_accents"];
  if (!accents.is_present())
    step.options |= NormalizerStep::ACCENTS_AS_LOWER;
  else if (accents.flag())
    step.options |= NormalizerStep::ACCENTS;
  read_options(part,
               {{"clean_text", NormalizerStep::CLEAN_TEXT},
                {"handle_chinese_chars", NormalizerStep::CHINESE},
                {"lowercase", NormalizerStep::LOWER}},
               step);
}

void read_precompiled(const JsonPart &part, NormalizerStep &step) {
  part.only({"type", "precompiled_charsmap"});
  const JsonPart charsmap = part["precompiled_charsmap"];
  const std::string_view encoded = charsmap.text();
  if (!part.is_fine())
    return;
  const auto *const digits = reinterpret_cast<const std::uint8_t *>(encoded.data());
  step.charsmap.resize(encoded.size());
  step.charsmap.resize(decode_base64(digits, digits + encoded.size(), step.charsmap.data()));
  if (step.charsmap.empty() && !encoded.empty())
    return charsmap.fail_malformed("base64");
  const std::string problem = step.charsmap.empty()
                                  ? "is truncated"
                                  : problem_of_charsmap(step.charsmap, &step.charsmap_growth);
  if (!problem.empty())
    charsmap.fail_malformed("a valid charsmap; the charsmap " + problem);
}

void read_normalizer(const JsonPart &part, NormalizerStep &step) {
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
  const std::string_view kind = part.kind();
  for (const auto &[name, type] : PLAIN)
    if (kind == name) {
      step.kind = type;
      return part.only({"type"});
    }
  if (kind == "Strip") {
    step.kind = Type::STRIP;
    part.only({"type", "strip_left", "strip_right"});
    read_options(part,
                 {{"strip_left", NormalizerStep::STRIP_LEFT},
                  {"strip_right", NormalizerStep::STRIP_RIGHT}},
                 step);
  } else if (kind == "BertNormalizer") {
    step.kind = Type::BERT;
    read_bert(part, step);
  } else if (kind == "Prepend") {
    step.kind = Type::PREPEND;
    part.only({"type", "prepend"});
    step.replacement.content = part["prepend"].short_text(true);
  } else if (kind == "Replace") {
    step.replacement = read_replace(part);
    step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
  } else if (kind == "Precompiled") {
    step.kind = Type::PRECOMPILED;
    read_precompiled(part, step);
  } else {
    part.fail_unsupported("expected a normalizer of the library tokenizers");
  }
}

void read_decoder(const JsonPart &part, DecoderStep &step) {
  using Type = DecoderStep::Kind;
  const std::string_view kind = part.kind();
  if (kind == "ByteLevel") {
    step.kind = Type::BYTE_LEVEL;
  } else if (kind == "ByteFallback" || kind == "Fuse") {
    step.kind = kind == "Fuse" ? Type::FUSE : Type::BYTE_FALLBACK;
    part.only({"type"});
  } else if (kind == "Strip") {
    step.kind = Type::STRIP;
    part.only({"type", "content", "start", "stop"});
    step.text = read_character(part["content"]);
    step.start = read_count(part["start"]);
    step.stop = read_count(part["stop"]);
  } else if (kind == "Replace") {
    step.replacement = read_replace(part);
    step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
  } else if (kind == "Metaspace") {
    const MetaspaceSpec metaspace = read_json_metaspace(part);
    step.kind = Type::METASPACE;
    step.text = metaspace.replacement;
    step.removes_first = metaspace.prepend != MetaspaceSpec::Prepend::NEVER;
  } else if (kind == "BPEDecoder") {
    step.kind = Type::BPE;
    part.only({"type", "suffix"});
    step.text = part["suffix"].short_text(false);
  } else if (kind == "WordPiece") {
    step.kind = Type::WORD_PIECE;
    part.only({"type", "prefix", "cleanup"});
    step.text = part["prefix"].short_text(true);
    step.cleanup = part["cleanup"].flag();
  } else if (kind == "CTC") {
    step.kind = Type::CTC;
    part.only({"type", "pad_token", "word_delimiter_token", "cleanup"});
    step.text = part["pad_token"].short_text(true);
    step.delimiter = part["word_delimiter_token"].short_text(true);
    step.cleanup = part["cleanup"].flag();
  } else {
    part.fail_unsupported("expected a decoder of the library tokenizers");
  }
}

} // namespace

void read_normalizer_steps(const JsonPart &normalizer, std::vector<NormalizerStep> &steps) {
  for (const JsonPart &part : normalizer.parts("normalizers"))
    if (part.is_present() && part.is_fine())
      read_normalizer(part, steps.emplace_back());
  if (!normalizer.is_fine())
    return;
  const std::string problem = problem_of_growth(steps);
  if (!problem.empty())
    normalizer.fail_unsupported("the normalizers " + problem);
}

bool read_decoder_steps(const JsonPart &decoder, std::vector<DecoderStep> &steps) {
  const std::vector<JsonPart> parts = decoder.parts("decoders");
  bool joins_bytes = !parts.empty(); // an empty Sequence joins the characters of the bytes
  for (const JsonPart &part : parts) {
    DecoderStep &step = steps.emplace_back();
    step.kind = DecoderStep::Kind::SPACES;
    if (part.is_present() && part.is_fine())
      read_decoder(part, step);
    joins_bytes =
        joins_bytes && (!part.is_present() || step.kind == DecoderStep::Kind::BYTE_LEVEL);
  }
  const std::string problem = decoder.is_fine() ? problem_of_growth(steps) : "";
  if (!problem.empty())
    decoder.fail_unsupported("the decoders " + problem);
  return joins_bytes;
}

MetaspaceSpec read_json_metaspace(const JsonPart &part) {
  using Prepend = MetaspaceSpec::Prepend;
  MetaspaceSpec metaspace;
  part.only({"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
  metaspace.replacement = read_character(part["replacement"]);
  const std::string_view scheme = part["prepend_scheme"].text_or("always");
  part["split"].flag_or(true);
  const bool adds_space = part["add_prefix_space"].flag_or(true);
  metaspace.prepend = scheme == "first"   ? Prepend::FIRST
                      : scheme == "never" ? Prepend::NEVER
                                          : Prepend::ALWAYS;
  if (scheme != "always" && scheme != "first" && scheme != "never")
    part.fail_malformed("a valid Metaspace, with prepend_scheme always, first or never");
  if (!adds_space && scheme != "never")
    part.fail_malformed("a Metaspace whose add_prefix_space agrees with prepend_scheme");
  return metaspace;
}

} // namespace pretok
