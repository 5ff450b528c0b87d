#include "formats/json_readers.hpp"

#include "core/normalize/growth.hpp"
#include "formats/character_spec.hpp"
#include "formats/piece_file.hpp"
#include "formats/rank_file.hpp"

#include <string>
#include <string_view>

namespace pretok {
namespace {

constexpr const char *SAVE_IN_PYTHON =
    "; load the file in Python and save it: bpe.load(path).save(\"name.pretok\")";

std::string read_character(const JsonPart &part) {
  const std::string_view text = part.text();
  if (count_characters(text) != 1)
    part.fail_malformed("one character");
  return std::string(text);
}

// Reads the fields of a step from a JSON object.
class JsonFields final : public StepFields {
public:
  explicit JsonFields(const JsonPart &part) : part_(part) {}

  template <typename Step> void read(Step &step) {
    step.type->visit(step, *this); // only lists the names
    part_.only(names_);
    is_reading_ = true;
    step.type->visit(step, *this);
  }

  void flag(const char *name, bool &value) override {
    if (reads(name))
      value = part_[name].flag();
  }
  void optional_flag(const char *name, std::optional<bool> &value) override {
    if (reads(name) && part_[name].is_present())
      value = part_[name].flag();
  }
  void text(const char *name, std::string &value, bool may_be_empty) override {
    if (reads(name))
      value = part_[name].short_text(may_be_empty);
  }
  void any_text(const char *name, std::string &value) override {
    if (reads(name))
      value = part_[name].text();
  }
  void character(const char *name, std::string &value) override {
    if (reads(name))
      value = read_character(part_[name]);
  }
  void count(const char *name, std::uint32_t &value) override {
    if (reads(name))
      value = part_[name].number(MAX_STEP_COUNT);
  }
  // Only Metaspace has a scheme, and read_json_metaspace reads it.
  void scheme(const char *name, PrependScheme &) override { reads(name); }
  void pattern(const char *name, Replacement &value) override {
    if (!reads(name))
      return;
    const JsonPart pattern = part_[name];
    pattern.only({"String", "Regex"});
    const bool is_plain = pattern["String"].is_present();
    value.pattern = pattern[is_plain ? "String" : "Regex"].short_text(false);
    if (!is_plain && part_.is_fine() && !find_json_regex(value.pattern, value.regex.emplace()))
      pattern.fail_unsupported(std::string("only Python compiles this regex") + SAVE_IN_PYTHON);
  }
  void charsmap(const char *name, CharsmapData &value, bool) override {
    if (!reads(name))
      return;
    const JsonPart charsmap = part_[name];
    const std::string_view encoded = charsmap.text();
    if (!part_.is_fine())
      return;
    std::vector<std::uint8_t> &bytes = value.bytes;
    const auto *const digits = reinterpret_cast<const std::uint8_t *>(encoded.data());
    bytes.resize(encoded.size());
    bytes.resize(decode_base64(digits, digits + encoded.size(), bytes.data()));
    if (bytes.empty() && !encoded.empty())
      return charsmap.fail_malformed("base64");
    const std::string problem =
        bytes.empty() ? "is truncated" : problem_of_charsmap(bytes, &value.growth);
    if (!problem.empty())
      charsmap.fail_malformed("a valid charsmap; the charsmap " + problem);
  }

private:
  // Returns whether to read a field now. If not, lists its name.
  bool reads(const char *name) {
    if (!is_reading_)
      names_.emplace_back(name);
    return is_reading_;
  }

  JsonPart part_;
  std::vector<std::string_view> names_{"type"};
  bool is_reading_ = false;
};

// Sets the type of a step. Returns false, and fails, if there is no such type.
template <typename Step>
bool find_type(const JsonPart &part, const StepTypes<Step> &types, Step &step) {
  const std::string_view kind = part.kind();
  std::string names;
  bool is_known = false;
  for (std::size_t i = 0; i < types.json_count; ++i) {
    if (kind == types.first[i].name) {
      step.type = types.first + i;
      is_known = true;
    }
    names += std::string(types.first[i].name) + ", ";
  }
  if (!is_known)
    part.fail_unsupported("expected one of " + names + "Sequence or null");
  return part.is_fine();
}

void read_decoder(const JsonPart &part, DecoderStep &step) {
  if (!find_type(part, DECODER_TYPES, step))
    return;
  if (step.is("Metaspace")) {
    const MetaspaceSpec metaspace = read_json_metaspace(part);
    step.text = metaspace.replacement;
    step.scheme = metaspace.prepend;
  } else if (!step.is("ByteLevel")) { // its options have no effect on decoding
    JsonFields(part).read(step);
  }
}

// Fails if the steps grow a text too much.
template <typename Step>
void check_growth(const JsonPart &part, const std::vector<Step> &steps, const char *what,
                  const char *unit) {
  Growth growth;
  const std::string problem = part.is_fine() ? add_growth(steps, unit, growth) : "";
  if (!problem.empty())
    part.fail_unsupported(std::string("the ") + what + " " + problem);
}

} // namespace

void read_normalizer_steps(const JsonPart &normalizer, std::vector<NormalizerStep> &steps) {
  for (const JsonPart &part : normalizer.parts("normalizers")) {
    if (!part.is_present() || !part.is_fine())
      continue;
    NormalizerStep &step = steps.emplace_back();
    if (find_type(part, NORMALIZER_TYPES, step))
      JsonFields(part).read(step);
  }
  check_growth(normalizer, steps, "normalizers", "text");
}

bool read_decoder_steps(const JsonPart &decoder, std::vector<DecoderStep> &steps) {
  const std::vector<JsonPart> parts = decoder.parts("decoders");
  bool joins_bytes = !parts.empty(); // an empty Sequence joins the characters of the bytes
  for (const JsonPart &part : parts) {
    DecoderStep &step = steps.emplace_back(DECODER_TYPES.make("Spaces"));
    if (part.is_present() && part.is_fine())
      read_decoder(part, step);
    joins_bytes = joins_bytes && (!part.is_present() || step.is("ByteLevel"));
  }
  check_growth(decoder, steps, "decoders", "token");
  return joins_bytes;
}

MetaspaceSpec read_json_metaspace(const JsonPart &part) {
  MetaspaceSpec metaspace;
  part.only({"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
  metaspace.replacement = read_character(part["replacement"]);
  const std::string_view scheme = part["prepend_scheme"].text_or("always");
  part["split"].flag_or(true);
  const bool adds_space = part["add_prefix_space"].flag_or(true);
  metaspace.prepend = scheme == "first"   ? PrependScheme::FIRST
                      : scheme == "never" ? PrependScheme::NEVER
                                          : PrependScheme::ALWAYS;
  if (scheme != "always" && scheme != "first" && scheme != "never")
    part.fail_malformed("a valid Metaspace, with prepend_scheme always, first or never");
  if (!adds_space && scheme != "never")
    part.fail_malformed("a Metaspace whose add_prefix_space agrees with prepend_scheme");
  return metaspace;
}

} // namespace pretok
