// The fields of normalizers and decoders. Each type of step lists its fields once, by a
// function that visits them; a reader of a file format is a StepFields.
#pragma once

#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A pre-tokenizer as data.
struct SplitSpec {
  std::vector<StageProgram> stages;
  UnicodeTable table{};
};

// Replaces the matches of a pattern by `content`. The pattern is the text `pattern`, or, if
// `regex` is set, a stage whose rules match it.
struct Replacement {
  std::string pattern;
  std::string content;
  std::optional<SplitSpec> regex;

  // Returns whether it replaces the text `from` by `to`.
  bool is_text(std::string_view from, std::string_view to) const {
    return !regex && pattern == from && content == to;
  }
};

// The replacement rules of SentencePiece (charsmap.hpp).
struct CharsmapData {
  std::vector<std::uint8_t> bytes;
  std::size_t growth = 1; // Charsmap::max_growth()
};

// The maximum length of a text of a step in a file, in characters. A long replacement could
// multiply the size of a text.
inline constexpr std::size_t MAX_STEP_TEXT = 256;
// The maximum value of a count.
inline constexpr std::uint32_t MAX_STEP_COUNT = 256;

// When Metaspace puts a mark before a text.
enum class PrependScheme : std::uint8_t { ALWAYS, FIRST, NEVER };

// Visits the fields of a step, in their order in a .pretok file. `name` is the name of the
// field in a tokenizer.json. bpe/normalizers/step.py has the same types of fields.
class StepFields {
public:
  virtual ~StepFields() = default;
  virtual void flag(const char *name, bool &value) = 0;
  virtual void optional_flag(const char *name, std::optional<bool> &value) = 0;
  // A text of at most MAX_STEP_TEXT characters.
  virtual void text(const char *name, std::string &value, bool may_be_empty) = 0;
  virtual void any_text(const char *name, std::string &value) = 0;
  virtual void character(const char *name, std::string &value) = 0;
  virtual void count(const char *name, std::uint32_t &value) = 0;
  virtual void scheme(const char *name, PrependScheme &value) = 0;
  virtual void pattern(const char *name, Replacement &value) = 0; // not its content
  virtual void charsmap(const char *name, CharsmapData &value, bool may_be_empty) = 0;
};

// All types of normalizers, or of decoders. The code of a type in a .pretok file is its index.
template <typename Step> struct StepTypes {
  const typename Step::Type *first;
  std::size_t count;
  std::size_t json_count; // a tokenizer.json can hold the first ones

  // Returns a step of the type with this name, which must exist.
  Step make(std::string_view name) const {
    Step step;
    step.type = first;
    while (step.type->name != name)
      ++step.type;
    return step;
  }
};

} // namespace pretok
