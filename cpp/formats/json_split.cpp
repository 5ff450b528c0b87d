#include "formats/json_readers.hpp"

#include "core/split/presets.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// A pre_tokenizer that splits like a built-in preset.
struct KnownSplit {
  std::string_view preset;
  bool drops_text;
  std::string_view parts; // of the pre_tokenizer, in the format of write_part
};

#include "formats/generated/pre_tokenizers.inc"

constexpr std::size_t MAX_DEPTH = 16;

// Returns a regex with line feed and carriage return in place of their escapes.
std::string without_escapes(std::string_view regex) {
  std::string result;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    if (regex[i] != '\\' || i + 1 == regex.size()) {
      result += regex[i];
      continue;
    }
    const char letter = regex[++i];
    if (letter == 'n' || letter == 'r')
      result += letter == 'n' ? '\n' : '\r';
    else
      result.append({'\\', letter});
  }
  return result;
}

// Appends a value to `to` in a canonical form: equal values give equal text. Returns false if
// the value contains something that no known pre_tokenizer contains: null, a fraction, or more
// than MAX_DEPTH levels of objects and lists. cpp/generate/presets.py writes the same form.
bool write_part(const JsonPart &part, std::string &to, std::size_t depth = 0) {
  const auto add_text = [&to](std::string_view text) {
    to += std::to_string(text.size()) + ':';
    to += text;
  };
  if (depth == MAX_DEPTH)
    return false;
  if (part.is(JsonKind::OBJECT)) {
    std::vector<JsonPart> members = part.members().listed();
    std::sort(members.begin(), members.end(),
              [](const JsonPart &a, const JsonPart &b) { return a.name() < b.name(); });
    to += '{';
    for (const JsonPart &member : members) {
      add_text(member.name());
      if (!write_part(member, to, depth + 1))
        return false;
    }
    to += '}';
  } else if (part.is(JsonKind::LIST)) {
    to += '[';
    for (const JsonPart item : part.items())
      if (!write_part(item, to, depth + 1))
        return false;
    to += ']';
  } else if (part.is(JsonKind::STRING)) {
    add_text(part.name() == "Regex" ? without_escapes(part.text()) : part.text());
  } else if (part.is_flag()) {
    to += part.flag() ? 'T' : 'F';
  } else if (std::uint32_t number = 0; part.get_id(number)) {
    to += '#' + std::to_string(number) + ';';
  } else {
    return false;
  }
  return true;
}

// Reads the members of a ByteLevel. Leaves `use_regex` unchanged if there is no such member.
// Returns false if the ByteLevel lacks any other member, or has an unknown member.
bool read_byte_level(const JsonPart &part, bool &add_prefix_space, bool &use_regex) {
  const JsonPart adds = part["add_prefix_space"];
  const JsonPart uses = part["use_regex"];
  if (!adds.is_flag() || !part["trim_offsets"].is_flag() ||
      part.members().size() != (uses.exists() ? 4 : 3) || (uses.exists() && !uses.is_flag()))
    return false;
  add_prefix_space = adds.flag();
  use_regex = uses.exists() ? uses.flag() : use_regex;
  return true;
}

} // namespace

bool ends_byte_level(const std::vector<JsonPart> &parts) {
  return !parts.empty() && parts.back().is_present() && parts.back().kind() == "ByteLevel";
}

void find_split(const std::vector<JsonPart> &parts, bool drops_text, TokenizerSpec &spec) {
  std::string written;
  bool add_prefix_space = false;
  spec.why_no_preset = "no built-in preset has the same pre_tokenizer as the file";
  if (!ends_byte_level(parts))
    return;
  for (const JsonPart &part : parts) {
    bool use_regex = true;
    if (!part.is_present())
      return;
    if (part.kind() != "ByteLevel") {
      if (!write_part(part, written))
        return;
      // With several parts, add_prefix_space may put a space before each piece, not only before
      // the text. pretok does not do this, so such a file gets no preset.
    } else if (!read_byte_level(part, add_prefix_space, use_regex) ||
               (add_prefix_space && parts.size() > 1)) {
      return;
    } else {
      written += use_regex ? "BYTES+GPT2" : "BYTES";
    }
  }
  for (const KnownSplit &known : KNOWN_SPLITS)
    if (known.parts == written && (drops_text || !known.drops_text)) {
      spec.preset = known.preset;
      spec.why_no_preset.clear();
      spec.add_prefix_space = add_prefix_space;
      return;
    }
}

StageProgram whole_stage() {
  StageProgram stage;
  Run all;
  all.body = 1;
  stage.program.alphabet = {{0, {}}};
  stage.program.rules = {all};
  return stage;
}

StageProgram metaspace_stage(std::string_view mark) {
  const auto *const bytes = reinterpret_cast<const std::uint8_t *>(mark.data());
  const std::set<std::uint32_t> marks = {' ', decode_utf8(bytes, mark.size()).code_point};
  StageProgram stage;
  Alphabet &alphabet = stage.program.alphabet;
  alphabet.push_back({0, {}});
  for (const std::uint32_t each : marks) {
    if (alphabet.back().start == each)
      alphabet.pop_back();
    alphabet.push_back({each, {}});
    alphabet.back().class_map.fill(1);
    alphabet.push_back({each + 1, {}});
  }
  Run one;
  one.body = 2; // class 1
  one.at_most = 1;
  stage.program.rules = {one};
  stage.behavior = Behavior::MERGED_WITH_NEXT;
  return stage;
}

// Gives the space its class in every Unicode version, and without one.
static void classify_space(Alphabet &alphabet) {
  for (AlphabetRange &range : alphabet)
    if (range.start == ' ')
      range.class_map.fill(*std::max_element(range.class_map.begin(), range.class_map.end()));
}

void read_text_split(const std::vector<JsonPart> &parts, TokenizerSpec &spec) {
  spec.add_prefix_space = false;
  find_split(parts, true, spec);
  if (!spec.preset.empty())
    return;
  SplitSpec found;
  found.table = unicode_table(json_unicode());
  bool needs_unicode = false;
  bool is_space_split = false; // whether the last stage splits at spaces
  const std::vector<std::uint32_t> gpt2 = find_preset("gpt2")->words();
  for (const JsonPart &part : parts) {
    std::string written;
    bool adds_space = false;
    bool use_regex = true;
    if (!part.is_present())
      continue;
    const std::string_view kind = part.kind();
    if (kind == "Metaspace" && !spec.metaspace) {
      spec.metaspace = read_json_metaspace(part);
      if (!part.is_fine())
        return;
      if (!found.stages.empty())
        spec.metaspace->before = std::exchange(found, {{}, found.table});
      if (part["split"].flag_or(true))
        found.stages.push_back(metaspace_stage(spec.metaspace->replacement));
    } else if (kind == "ByteLevel" && &part == &parts.back() &&
               read_byte_level(part, adds_space, use_regex) &&
               !(adds_space && parts.size() > 1)) {
      spec.add_prefix_space = adds_space;
      std::vector<StageProgram> stages;
      if (use_regex && read_stages(gpt2, stages).empty())
        found.stages.push_back(std::move(stages.front()));
      needs_unicode = needs_unicode || use_regex;
    } else if (write_part(part, written) && find_json_stage(written, found)) {
      // These splits have the pattern " ", which occurs in no text with marks in place of
      // spaces. So they keep the text whole, unless they drop what is no match.
      StageProgram &stage = found.stages.back();
      is_space_split = kind == "Split" && !stage.invert;
      if (is_space_split)
        classify_space(stage.program.alphabet);
      needs_unicode = needs_unicode || !is_space_split;
    } else {
      return part.fail_unsupported("only Python reads this part of a pre_tokenizer; load the "
                                   "file in Python and save it: "
                                   "bpe.load(path).save(\"name.pretok\")");
    }
  }
  if (found.stages.empty()) {
    found.stages.push_back(whole_stage());
    spec.split_at_marks = SplitAtMarks::NO;
  } else if (found.stages.size() == 1 && is_space_split) {
    spec.split_at_marks = SplitAtMarks::NO;
  } else if (found.stages.size() == 1 && spec.metaspace && !needs_unicode &&
             spec.metaspace->replacement == SPACE_MARK) {
    spec.split_at_marks = SplitAtMarks::YES;
  }
  spec.stages = std::move(found.stages);
  spec.unicode = needs_unicode ? json_unicode() : "";
  spec.why_no_preset.clear();
}

} // namespace pretok
