#include "core/normalize/normalizer_pass.hpp"

#include "core/normalize/character_map.hpp"
#include "core/normalize/character_tables.hpp"
#include "core/normalize/precompiled.hpp"
#include "core/normalize/text_replacer.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/compositions.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace pretok {
namespace {

using Bytes = std::vector<std::uint8_t>;
using StepKind = NormalizerStep::Kind;

// The maximum number of spellings in all CharacterMaps of a chain that keep pages. A page takes
// as much time as 256 characters, even if a text has only one character of the page.
constexpr std::size_t MAX_SPELLINGS = 16;

// A character of the new text, and a number, as in Hugging Face's tokenizers: 0 replaces the
// next old character; -n also drops the n old characters after it; 1 is inserted, with the
// origin of the old character before it.
struct Change {
  std::uint32_t code_point; // U+DC00 + byte for a byte that is not UTF-8
  std::ptrdiff_t change;
};
using Changes = std::vector<Change>;

std::size_t character_size(std::uint32_t code_point) {
  Bytes character;
  append_character(code_point, character);
  return character.size();
}

// Appends the origins of the bytes of the new text. `starts` are the offsets of the characters
// of the old text.
void append_origins(const Changes &changes, const std::vector<std::size_t> &starts,
                    Origins &origins) {
  std::size_t at = 0;
  for (const Change &each : changes) {
    std::int64_t origin = NO_ORIGIN;
    if (each.change <= 0)
      origin = static_cast<std::int64_t>(starts[at]);
    else if (at != 0)
      origin = static_cast<std::int64_t>(starts[at - 1]);
    origins.insert(origins.end(), character_size(each.code_point), origin);
    at += each.change > 0 ? 0 : static_cast<std::size_t>(1 - each.change);
  }
}

class MapPass final : public NormalizerPass {
public:
  explicit MapPass(std::vector<Spelling> spellings) : map_(std::move(spellings)) {}
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    map_.run(data, size, result);
  }
  CharacterMap &map() { return map_; }

private:
  CharacterMap map_;
};

// A normal form of Unicode.
class FormPass final : public NormalizerPass {
public:
  FormPass(bool composes, bool is_compatible) : composes_(composes) {
    if (is_compatible)
      compatible_.emplace(std::vector<Spelling>{append_compatible});
  }
  // Returns the map of compatibility decompositions of NFKC and NFKD.
  CharacterMap &map() { return *compatible_; }

  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    const auto form = composes_ ? to_nfc : to_nfd;
    if (compatible_) {
      Bytes spelled;
      PassResult compatible{spelled, nullptr};
      compatible_->run(data, size, compatible);
      form(spelled.data(), spelled.size(), result.bytes);
    } else {
      form(data, size, result.bytes);
    }
    if (result.origins == nullptr)
      return;
    if (std::equal(result.bytes.begin(), result.bytes.end(), data, data + size)) {
      result.origins->resize(size);
      std::iota(result.origins->begin(), result.origins->end(), 0);
      return;
    }
    std::vector<std::size_t> starts;
    const Changes changes = decomposed(data, size, starts);
    append_origins(composes_ ? composed_of(changes) : changes, starts, *result.origins);
  }

private:
  // Returns the decomposition of a text, with marks in canonical order. Appends the offsets of
  // its characters to `starts`.
  Changes decomposed(const std::uint8_t *data, std::size_t size,
                     std::vector<std::size_t> &starts) const {
    Changes changes;
    std::size_t sorted = 0; // changes[sorted..) are marks that are not in order yet
    const auto sort_marks = [&] {
      std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(sorted), changes.end(),
                       [](const Change &a, const Change &b) {
                         return combining_class(a.code_point) < combining_class(b.code_point);
                       });
    };
    Bytes compatible;
    for (std::size_t at = 0; at < size;) {
      const Decoded decoded = decode_utf8(data + at, size - at);
      starts.push_back(at);
      at += decoded.width;
      compatible.clear();
      (compatible_ ? append_compatible : append_character)(decoded.code_point, compatible);
      std::ptrdiff_t change = 0; // of the first part; 1 for all others
      for (std::size_t i = 0; i < compatible.size();) {
        const Decoded character = decode_utf8(compatible.data() + i, compatible.size() - i);
        i += character.width;
        std::uint32_t parts[MAX_DECOMPOSITION];
        const std::size_t count = decompose(character.code_point, parts);
        for (std::size_t part = 0; part < count; ++part, change = 1) {
          if (combining_class(parts[part]) == 0) {
            sort_marks();
            sorted = changes.size() + 1;
          }
          changes.push_back({parts[part], change});
        }
      }
    }
    sort_marks();
    return changes;
  }

  // Returns a decomposed text with its characters composed.
  static Changes composed_of(const Changes &changes) {
    Changes result;
    std::size_t starter = changes.size(); // the index in `result` of the last starter
    std::uint32_t last = 0;               // the combining class of the last mark after it
    for (const Change &each : changes) {
      const std::uint32_t order = combining_class(each.code_point);
      const bool has_starter = starter < result.size();
      if (has_starter && (result.size() == starter + 1 || (order != 0 && last < order))) {
        const std::uint32_t composite = composed(result[starter].code_point, each.code_point);
        if (composite != NOT_COMPOSED) {
          // The composed character also stands for the old characters of this one.
          result[starter] = {composite, result[starter].change + each.change - 1};
          continue;
        }
      }
      if (order == 0)
        starter = result.size();
      else if (has_starter)
        last = order;
      result.push_back(each);
    }
    return result;
  }

  bool composes_;
  std::optional<CharacterMap> compatible_; // set for NFKC and NFKD
};

class ByteLevelPass final : public NormalizerPass {
public:
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    for (std::size_t at = 0, width = size; at < size; at += width) {
      if (result.origins != nullptr)
        width = decode_utf8(data + at, size - at).width;
      const std::string text =
          byte_characters({reinterpret_cast<const char *>(data) + at, width});
      result.append(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), at);
    }
  }
};

// Removes white space at the ends of a text.
class StripPass final : public NormalizerPass {
public:
  explicit StripPass(std::uint32_t options) : options_(options) {}
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    const auto is_space = [&](std::size_t at) {
      return WHITE_SPACE_CHARACTERS.has(decode_utf8(data + at, size - at).code_point);
    };
    std::size_t start = 0;
    std::size_t end = size;
    if ((options_ & NormalizerStep::STRIP_LEFT) != 0)
      while (start < size && is_space(start))
        start += decode_utf8(data + start, size - start).width;
    if ((options_ & NormalizerStep::STRIP_RIGHT) != 0)
      while (end > start && is_space(last_start(data, start, end)))
        end = last_start(data, start, end);
    result.keep(data, start, end);
  }

private:
  std::uint32_t options_;
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

class ReplacePass final : public NormalizerPass {
public:
  explicit ReplacePass(const Replacement &replacement) : replacer_(replacement) {}
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    replacer_.run(data, size, result);
  }

private:
  TextReplacer replacer_;
};

class PrecompiledPass final : public NormalizerPass {
public:
  explicit PrecompiledPass(const Bytes &charsmap)
      : precompiled_(Charsmap(charsmap.data(), charsmap.size())) {}

  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override {
    precompiled_.normalize(data, size, result.bytes);
    if (result.origins == nullptr)
      return;
    std::vector<std::size_t> starts;
    Changes changes;
    const auto add = [&](std::size_t start, std::size_t end, const Charsmap::Rule &rule) {
      std::size_t old = 0; // the number of characters that are replaced
      for (std::size_t at = start; at < end; ++old) {
        const Decoded decoded = decode_utf8(data + at, end - at);
        starts.push_back(at);
        at += decoded.width;
        if (rule.size == 0)
          changes.push_back({decoded.code_point, 0});
      }
      if (rule.size == 0)
        return;
      std::size_t count = 0;
      for (std::size_t at = 0; at < rule.replacement_size; ++count) {
        const Decoded decoded = decode_utf8(rule.replacement + at, rule.replacement_size - at);
        changes.push_back({decoded.code_point, count >= old ? 1 : 0});
        at += decoded.width;
      }
      // If `changes` is empty, nothing records the dropped characters, and all later origins
      // are too low, as in Hugging Face's tokenizers.
      if (old > count && !changes.empty())
        changes.back().change -= static_cast<std::ptrdiff_t>(old - count);
    };
    precompiled_.for_parts(data, size, add);
    append_origins(changes, starts, *result.origins);
  }

private:
  Precompiled precompiled_;
};

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

// Makes passes. Adjacent spellings become one pass.
class PassMaker {
public:
  void add(const NormalizerStep &step) {
    switch (step.kind) {
    case StepKind::NFC:
    case StepKind::NFD:
    case StepKind::NFKC:
    case StepKind::NFKD:
      return add_form(step.kind == StepKind::NFC || step.kind == StepKind::NFKC,
                      step.kind == StepKind::NFKC || step.kind == StepKind::NFKD);
    case StepKind::LOWERCASE:
      return spell(append_lower);
    case StepKind::STRIP_ACCENTS:
      return spell(strip_accents);
    case StepKind::NMT:
      return spell(clean_as_nmt);
    case StepKind::BERT:
      if ((step.options & NormalizerStep::CLEAN_TEXT) != 0)
        spell(clean_as_bert);
      if ((step.options & NormalizerStep::CHINESE) != 0)
        spell(space_chinese);
      if (step.strips_accents()) {
        add_form(false, false);
        spell(strip_nonspacing);
      }
      if ((step.options & NormalizerStep::LOWER) != 0)
        spell(append_lower);
      return;
    case StepKind::BYTE_LEVEL:
      return add_pass(std::make_unique<ByteLevelPass>());
    case StepKind::STRIP:
      return add_pass(std::make_unique<StripPass>(step.options));
    case StepKind::PREPEND:
      return add_pass(std::make_unique<PrependPass>(step.replacement.content));
    case StepKind::REPLACE:
    case StepKind::REPLACE_REGEX:
      return add_pass(std::make_unique<ReplacePass>(step.replacement));
    case StepKind::PRECOMPILED:
      return add_pass(std::make_unique<PrecompiledPass>(step.charsmap));
    default:
      return;
    }
  }

  std::vector<std::unique_ptr<const NormalizerPass>> finish() {
    finish_map();
    if (spelling_count_ <= MAX_SPELLINGS)
      for (CharacterMap *map : maps_)
        map->keep_pages();
    return std::move(passes_);
  }

private:
  void spell(Spelling spelling) { spellings_.push_back(spelling); }
  void add_pass(std::unique_ptr<const NormalizerPass> pass) {
    finish_map();
    passes_.push_back(std::move(pass));
  }
  void add_form(bool composes, bool is_compatible) {
    auto pass = std::make_unique<FormPass>(composes, is_compatible);
    if (is_compatible)
      add_map(pass->map(), 1);
    add_pass(std::move(pass));
  }
  void finish_map() {
    if (spellings_.empty())
      return;
    const std::size_t count = spellings_.size();
    auto pass = std::make_unique<MapPass>(std::exchange(spellings_, {}));
    add_map(pass->map(), count);
    passes_.push_back(std::move(pass));
  }
  void add_map(CharacterMap &map, std::size_t spelling_count) {
    maps_.push_back(&map);
    spelling_count_ += spelling_count;
  }

  std::vector<Spelling> spellings_; // of the next MapPass
  std::vector<std::unique_ptr<const NormalizerPass>> passes_;
  std::vector<CharacterMap *> maps_; // of the passes
  std::size_t spelling_count_ = 0;   // in all maps
};

} // namespace

void PassResult::append(const std::uint8_t *text, std::size_t size, std::size_t origin) {
  bytes.insert(bytes.end(), text, text + size);
  if (origins != nullptr)
    origins->insert(origins->end(), size, static_cast<std::int64_t>(origin));
}

void PassResult::keep(const std::uint8_t *data, std::size_t start, std::size_t end) {
  bytes.insert(bytes.end(), data + start, data + end);
  for (std::size_t at = start; origins != nullptr && at < end; ++at)
    origins->push_back(static_cast<std::int64_t>(at));
}

std::vector<std::unique_ptr<const NormalizerPass>>
NormalizerPass::make(const std::vector<NormalizerStep> &steps) {
  PassMaker maker;
  for (const NormalizerStep &step : steps)
    maker.add(step);
  return maker.finish();
}

} // namespace pretok
