#include "core/normalize/normalizer_pass.hpp"

#include "core/base/count_steps.hpp"
#include "core/normalize/character_map.hpp"
#include "core/normalize/character_tables.hpp"
#include "core/normalize/precompiled.hpp"
#include "core/normalize/text_replacer.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <utility>

namespace pretok {
namespace {

using Bytes = std::vector<std::uint8_t>;
using StepKind = NormalizerStep::Kind;

// The maximum number of spellings in all MapPasses of a chain. A page takes as much time as 256
// characters, even if a text has only one character of the page.
constexpr std::size_t MAX_SPELLINGS = 16;

// Replaces each character by itself.
class MapPass final : public NormalizerPass {
public:
  explicit MapPass(std::vector<Spelling> spellings) : spellings_(std::move(spellings)) {
    load(0); // before threads share the map
  }

  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    for (std::size_t at = 0; (at = map_.map(data, size, at, to)) < size;) {
      const Decoded decoded = decode_utf8(data + at, size - at);
      if (decoded.width == 1 && data[at] >= 0x80)
        to.push_back(data[at++]); // not UTF-8
      else
        load(decoded.code_point);
    }
  }

private:
  void load(std::uint32_t code_point) const {
    const std::uint32_t first =
        code_point - code_point % static_cast<std::uint32_t>(CHARACTERS_PER_PAGE);
    CharacterPage page;
    Bytes spelled;
    Bytes before;
    for (std::uint32_t i = 0; i < CHARACTERS_PER_PAGE; ++i) {
      page.starts[i] = static_cast<std::uint32_t>(page.text.size());
      spelled.clear();
      if ((first + i) >> 11 != 0xD800 >> 11) // no UTF-8 has surrogates
        append_character(first + i, spelled);
      for (const Spelling spelling : spellings_) {
        before.swap(spelled);
        spelled.clear();
        count_steps(before.size());
        for (std::size_t at = 0; at < before.size();) {
          const Decoded decoded = decode_utf8(before.data() + at, before.size() - at);
          append_spelling(spelling, decoded.code_point, spelled);
          at += decoded.width;
        }
      }
      page.text.insert(page.text.end(), spelled.begin(), spelled.end());
    }
    page.starts[CHARACTERS_PER_PAGE] = static_cast<std::uint32_t>(page.text.size());
    map_.store(first, std::move(page));
  }

  std::vector<Spelling> spellings_;
  mutable CharacterMap map_;
};

// Replaces each character by itself with one spelling, without a map.
class SpellPass final : public NormalizerPass {
public:
  explicit SpellPass(Spelling spelling) : spelling_(spelling) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    for (std::size_t at = 0; at < size;) {
      const Decoded decoded = decode_utf8(data + at, size - at);
      if (decoded.width == 1 && data[at] >= 0x80)
        to.push_back(data[at]); // not UTF-8
      else
        append_spelling(spelling_, decoded.code_point, to);
      at += decoded.width;
    }
  }

private:
  Spelling spelling_;
};

class FormPass final : public NormalizerPass {
public:
  explicit FormPass(bool composes) : composes_(composes) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    (composes_ ? to_nfc : to_nfd)(data, size, to);
  }

private:
  bool composes_;
};

class ByteLevelPass final : public NormalizerPass {
public:
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    const std::string text = byte_characters({reinterpret_cast<const char *>(data), size});
    to.assign(text.begin(), text.end());
  }
};

class StripPass final : public NormalizerPass {
public:
  explicit StripPass(std::uint32_t options) : options_(options) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    const Kept kept = stripped(data, size, options_);
    to.assign(data + kept.start, data + kept.end);
  }

private:
  std::uint32_t options_;
};

class PrependPass final : public NormalizerPass {
public:
  explicit PrependPass(const std::string &prefix) : prefix_(prefix) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    if (size != 0)
      to.assign(prefix_.begin(), prefix_.end());
    to.insert(to.end(), data, data + size);
  }

private:
  std::string prefix_;
};

class ReplacePass final : public NormalizerPass {
public:
  explicit ReplacePass(const Replacement &replacement) : replacer_(replacement) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    replacer_.append(data, size, to);
  }

private:
  TextReplacer replacer_;
};

class PrecompiledPass final : public NormalizerPass {
public:
  explicit PrecompiledPass(const Bytes &charsmap)
      : precompiled_(Charsmap(charsmap.data(), charsmap.size())) {}
  void run(const std::uint8_t *data, std::size_t size, Bytes &to) const override {
    precompiled_.normalize(data, size, to);
  }

private:
  Precompiled precompiled_;
};

} // namespace

void append_spelling(Spelling spelling, std::uint32_t code_point, Bytes &to) {
  const auto keep_unless = [&](bool is_dropped) {
    if (!is_dropped)
      append_character(code_point, to);
  };
  switch (spelling) {
  case Spelling::COMPATIBLE:
    return append_compatible(code_point, to);
  case Spelling::LOWER:
    return append_lower(code_point, to);
  case Spelling::STRIP_ACCENTS:
    return keep_unless(COMBINING_MARK_CHARACTERS.has(code_point));
  case Spelling::STRIP_NONSPACING:
    return keep_unless(NONSPACING_MARK_CHARACTERS.has(code_point));
  case Spelling::NMT:
    if (NMT_SPACE_CHARACTERS.has(code_point))
      return to.push_back(' ');
    return keep_unless(NMT_DROPPED_CHARACTERS.has(code_point));
  case Spelling::CLEAN:
    // "\v", "\f" and U+0085 are white space, but count as controls.
    if (WHITE_SPACE_CHARACTERS.has(code_point) && code_point != '\v' && code_point != '\f' &&
        code_point != 0x85)
      return to.push_back(' ');
    return keep_unless(CONTROL_CHARACTERS.has(code_point));
  case Spelling::CHINESE: {
    const bool is_chinese = CHINESE_CHARACTERS.has(code_point);
    to.insert(to.end(), is_chinese ? 1 : 0, std::uint8_t{' '});
    append_character(code_point, to);
    to.insert(to.end(), is_chinese ? 1 : 0, std::uint8_t{' '});
    return;
  }
  }
}

Kept stripped(const std::uint8_t *data, std::size_t size, std::uint32_t options) {
  Kept kept{0, size};
  const auto is_space = [&](std::size_t at) {
    return WHITE_SPACE_CHARACTERS.has(decode_utf8(data + at, size - at).code_point);
  };
  if ((options & NormalizerStep::STRIP_LEFT) != 0)
    while (kept.start < size && is_space(kept.start))
      kept.start += decode_utf8(data + kept.start, size - kept.start).width;
  while ((options & NormalizerStep::STRIP_RIGHT) != 0 && kept.end > kept.start) {
    const std::size_t last = last_start(data, kept.start, kept.end);
    if (!is_space(last))
      break;
    kept.end = last;
  }
  return kept;
}

StepSpellings spellings_of(const NormalizerStep &step) {
  StepSpellings spellings;
  switch (step.kind) {
  case StepKind::NFKC:
  case StepKind::NFKD:
    spellings.before = {Spelling::COMPATIBLE};
    break;
  case StepKind::LOWERCASE:
    spellings.before = {Spelling::LOWER};
    break;
  case StepKind::STRIP_ACCENTS:
    spellings.before = {Spelling::STRIP_ACCENTS};
    break;
  case StepKind::NMT:
    spellings.before = {Spelling::NMT};
    break;
  case StepKind::BERT:
    if ((step.options & NormalizerStep::CLEAN_TEXT) != 0)
      spellings.before.push_back(Spelling::CLEAN);
    if ((step.options & NormalizerStep::CHINESE) != 0)
      spellings.before.push_back(Spelling::CHINESE);
    spellings.decomposes = step.strips_accents();
    if (spellings.decomposes)
      spellings.after.push_back(Spelling::STRIP_NONSPACING);
    if ((step.options & NormalizerStep::LOWER) != 0)
      spellings.after.push_back(Spelling::LOWER);
    break;
  default:
    break;
  }
  return spellings;
}

std::vector<std::unique_ptr<const NormalizerPass>>
NormalizerPass::make(const std::vector<NormalizerStep> &steps) {
  std::vector<std::unique_ptr<const NormalizerPass>> passes;
  std::vector<Spelling> spellings; // of the next MapPass
  std::size_t spelling_count = 0;
  for (const NormalizerStep &step : steps) {
    const StepSpellings own = spellings_of(step);
    spelling_count += own.before.size() + own.after.size();
  }
  const auto add = [&](std::unique_ptr<const NormalizerPass> pass) {
    if (spelling_count > MAX_SPELLINGS)
      for (const Spelling spelling : spellings)
        passes.push_back(std::make_unique<SpellPass>(spelling));
    else if (!spellings.empty())
      passes.push_back(std::make_unique<MapPass>(spellings));
    spellings.clear();
    if (pass != nullptr)
      passes.push_back(std::move(pass));
  };
  for (const NormalizerStep &step : steps) {
    const StepSpellings own = spellings_of(step);
    spellings.insert(spellings.end(), own.before.begin(), own.before.end());
    if (own.decomposes)
      add(std::make_unique<FormPass>(false));
    spellings.insert(spellings.end(), own.after.begin(), own.after.end());
    switch (step.kind) {
    case StepKind::NFC:
    case StepKind::NFKC:
      add(std::make_unique<FormPass>(true));
      break;
    case StepKind::NFD:
    case StepKind::NFKD:
      add(std::make_unique<FormPass>(false));
      break;
    case StepKind::BYTE_LEVEL:
      add(std::make_unique<ByteLevelPass>());
      break;
    case StepKind::STRIP:
      add(std::make_unique<StripPass>(step.options));
      break;
    case StepKind::PREPEND:
      add(std::make_unique<PrependPass>(step.replacement.content));
      break;
    case StepKind::REPLACE:
    case StepKind::REPLACE_REGEX:
      add(std::make_unique<ReplacePass>(step.replacement));
      break;
    case StepKind::PRECOMPILED:
      add(std::make_unique<PrecompiledPass>(step.charsmap));
      break;
    default:
      break;
    }
  }
  add(nullptr);
  return passes;
}

} // namespace pretok
