#include "core/normalize/aligned_text.hpp"

#include "core/normalize/character_tables.hpp"
#include "core/normalize/normalizer_pass.hpp"
#include "core/normalize/precompiled.hpp"
#include "core/normalize/text_replacer.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/compositions.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <string_view>

namespace pretok {

AlignedText::AlignedText(const std::uint8_t *data, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(data + at, size - at);
    characters_.push_back({decoded.code_point, at});
    at += decoded.width;
  }
}

std::vector<std::uint8_t> AlignedText::bytes() const {
  std::vector<std::uint8_t> result;
  for (const Character &character : characters_)
    append_character(character.code_point, result);
  return result;
}

std::vector<std::size_t> AlignedText::byte_indices() const {
  std::vector<std::size_t> indices;
  std::vector<std::uint8_t> one;
  for (std::size_t i = 0; i < characters_.size(); ++i) {
    one.clear();
    append_character(characters_[i].code_point, one);
    indices.insert(indices.end(), one.size(), i);
  }
  indices.push_back(characters_.size());
  return indices;
}

std::vector<std::size_t> AlignedText::byte_sources() const {
  std::vector<std::size_t> sources = byte_indices();
  sources.pop_back();
  for (std::size_t &source : sources)
    source = characters_[source].source;
  return sources;
}

bool AlignedText::is_ascii_text() const {
  return std::all_of(characters_.begin(), characters_.end(),
                     [](const Character &each) { return each.code_point < 0x80; });
}

template <typename Spell> void AlignedText::expand(Spell spell) {
  std::vector<Character> result;
  std::vector<std::uint8_t> spelled;
  for (const Character &character : characters_) {
    spelled.clear();
    spell(character.code_point, spelled);
    for (std::size_t at = 0; at < spelled.size();) {
      const Decoded decoded = decode_utf8(spelled.data() + at, spelled.size() - at);
      result.push_back({decoded.code_point, character.source});
      at += decoded.width;
    }
  }
  characters_.swap(result);
}

void AlignedText::transform(const std::vector<Change> &changes) {
  std::vector<Character> result;
  std::size_t at = 0;
  for (const Change &each : changes) {
    if (each.change > 0) {
      result.push_back({each.code_point, at != 0 ? characters_[at - 1].source : 0});
    } else {
      result.push_back({each.code_point, characters_[at].source});
      at += static_cast<std::size_t>(1 - each.change);
    }
  }
  characters_.swap(result);
}

void AlignedText::to_form(bool composes, bool is_compatible) {
  if (is_ascii_text())
    return;
  std::vector<Change> changes;
  std::size_t sorted = 0; // changes[sorted..) are marks that are not in order yet
  const auto sort_marks = [&] {
    std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(sorted), changes.end(),
                     [](const Change &a, const Change &b) {
                       return combining_class(a.code_point) < combining_class(b.code_point);
                     });
  };
  std::vector<std::uint8_t> compatible;
  std::vector<std::uint32_t> parts;
  for (const Character &character : characters_) {
    parts.clear();
    compatible.clear();
    (is_compatible ? append_compatible : append_character)(character.code_point, compatible);
    for (std::size_t at = 0; at < compatible.size();) {
      const Decoded decoded = decode_utf8(compatible.data() + at, compatible.size() - at);
      std::uint32_t canonical[MAX_DECOMPOSITION];
      const std::size_t count = decompose(decoded.code_point, canonical);
      parts.insert(parts.end(), canonical, canonical + count);
      at += decoded.width;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (combining_class(parts[i]) == 0) {
        sort_marks();
        sorted = changes.size() + 1;
      }
      changes.push_back({parts[i], i > 0 ? 1 : 0});
    }
  }
  sort_marks();
  if (!composes)
    return transform(changes);
  std::vector<Change> result;
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
  transform(result);
}

void AlignedText::replace(const NormalizerStep &step) {
  const TextReplacer replacer(step.replacement);
  const std::vector<std::uint8_t> text = bytes();
  const std::vector<std::size_t> indices = byte_indices();
  const auto &content = replacer.content();
  const AlignedText inserted(reinterpret_cast<const std::uint8_t *>(content.data()),
                             content.size());
  std::vector<Character> result;
  std::size_t done = 0;
  const auto keep_until = [&](std::size_t index) {
    result.insert(result.end(), characters_.begin() + static_cast<std::ptrdiff_t>(done),
                  characters_.begin() + static_cast<std::ptrdiff_t>(index));
    done = index;
  };
  replacer.for_matches(text.data(), text.size(), [&](std::size_t start, std::size_t end) {
    keep_until(indices[start]);
    done = indices[end];
    for (const Character &character : inserted.characters_)
      result.push_back({character.code_point, characters_[done - 1].source});
  });
  keep_until(characters_.size());
  characters_.swap(result);
}

void AlignedText::precompile(const NormalizerStep &step) {
  const Precompiled precompiled(Charsmap(step.charsmap.data(), step.charsmap.size()));
  const std::vector<std::uint8_t> text = bytes();
  const std::vector<std::size_t> indices = byte_indices();
  std::vector<Change> changes;
  const auto add = [&](std::size_t start, std::size_t end, const Charsmap::Rule &rule) {
    const std::size_t old = indices[end] - indices[start];
    if (rule.size == 0) {
      changes.push_back({characters_[indices[start]].code_point, 0});
      return;
    }
    std::size_t count = 0;
    for (std::size_t at = 0; at < rule.replacement_size; ++count) {
      const Decoded decoded = decode_utf8(rule.replacement + at, rule.replacement_size - at);
      changes.push_back({decoded.code_point, count >= old ? 1 : 0});
      at += decoded.width;
    }
    // If `changes` is empty, nothing records the dropped characters, and all later sources are
    // too low, as in Hugging Face's tokenizers.
    if (old > count && !changes.empty())
      changes.back().change -= static_cast<std::ptrdiff_t>(old - count);
  };
  precompiled.for_parts(text.data(), text.size(), add);
  transform(changes);
}

void AlignedText::apply(const NormalizerStep &step) {
  using Type = NormalizerStep::Kind;
  switch (step.kind) {
  case Type::NFC:
    return to_form(true, false);
  case Type::NFD:
    return to_form(false, false);
  case Type::NFKC:
    return to_form(true, true);
  case Type::NFKD:
    return to_form(false, true);
  case Type::STRIP: {
    const std::vector<std::uint8_t> text = bytes();
    const std::vector<std::size_t> indices = byte_indices();
    const Kept kept = stripped(text.data(), text.size(), step.options);
    const auto start = characters_.begin();
    characters_ = {start + static_cast<std::ptrdiff_t>(indices[kept.start]),
                   start + static_cast<std::ptrdiff_t>(indices[kept.end])};
    return;
  }
  case Type::PREPEND: {
    const auto &content = step.replacement.content;
    AlignedText prefix(reinterpret_cast<const std::uint8_t *>(content.data()), content.size());
    for (Character &character : prefix.characters_)
      character.source = characters_.empty() ? 0 : characters_.front().source;
    if (!characters_.empty())
      characters_.insert(characters_.begin(), prefix.characters_.begin(),
                         prefix.characters_.end());
    return;
  }
  case Type::REPLACE:
  case Type::REPLACE_REGEX:
    return replace(step);
  case Type::PRECOMPILED:
    return precompile(step);
  case Type::BYTE_LEVEL:
    return expand([](std::uint32_t code_point, std::vector<std::uint8_t> &to) {
      std::vector<std::uint8_t> character;
      append_character(code_point, character);
      const std::string text =
          byte_characters({reinterpret_cast<const char *>(character.data()), character.size()});
      to.insert(to.end(), text.begin(), text.end());
    });
  default:
    break;
  }
  const StepSpellings spellings = spellings_of(step);
  const auto spell = [this](const std::vector<Spelling> &listed) {
    for (const Spelling spelling : listed)
      expand([spelling](std::uint32_t code_point, std::vector<std::uint8_t> &to) {
        append_spelling(spelling, code_point, to);
      });
  };
  spell(spellings.before);
  if (spellings.decomposes)
    to_form(false, false);
  spell(spellings.after);
}

} // namespace pretok
