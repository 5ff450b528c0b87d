// Random models whose tokens are text, as .pretok files, and their encoding and decoding by
// slow, simple code.
#pragma once

#include "core/split/presets.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/crc32.hpp"
#include "fuzz/definition.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace pretok {

// The ways in which models write spaces.
struct SpacesOf {
  enum : std::uint32_t { SPM, SPM_PREFIX, NEVER, FIRST, ALWAYS, REPLACE, PREPEND };
};

struct TextExample {
  std::vector<std::string> tokens; // by id
  std::vector<Merge> merges;
  std::uint32_t spaces = 0;      // a value of SpacesOf
  bool splits = false;           // whether encoding splits before each space mark
  bool has_fallback = true;      // if false, the tokens of bytes are tokens like others
  bool fuses_unknown = false;    // only without fallback tokens
  bool is_sentencepiece = false; // whether ids are decoded like SentencePiece
  bool strips_again = false;     // whether the token after a stripped space loses one too
  std::uint32_t strips = 0;      // the maximum number of spaces that decoding strips
  std::vector<AddedToken> added;

  bool has_prefix() const {
    return spaces == SpacesOf::SPM_PREFIX || spaces == SpacesOf::PREPEND;
  }
  // Returns whether normalized added tokens are searched after the spaces of the text have
  // changed.
  bool is_normalizer() const { return spaces < SpacesOf::NEVER || spaces > SpacesOf::ALWAYS; }
};

constexpr std::uint32_t UNKNOWN = 0;
constexpr std::uint32_t CONTROL = 1;
constexpr std::uint32_t FIRST_BYTE = 2;
constexpr std::uint32_t FIRST_TEXT = FIRST_BYTE + 256;
constexpr char UNKNOWN_TEXT[] = " ?";

inline TextExample make_text_example(Input &input) {
  TextExample example;
  example.spaces = static_cast<std::uint32_t>(input.below(7));
  const std::uint8_t choices = input.byte();
  example.splits = (choices & 3) == 3;
  // Only models that normalize like SentencePiece decode like it.
  example.is_sentencepiece = example.spaces <= SpacesOf::SPM_PREFIX;
  example.strips_again = example.is_sentencepiece && (choices & 8) != 0;
  example.strips = choices >> 4 & (example.is_sentencepiece ? 1U : 3U);
  example.has_fallback = (choices & 128) == 0;
  example.tokens = {"<unk>", "<s>"};
  for (int byte = 0; byte < 256; ++byte) {
    const char *const digits = "0123456789ABCDEF";
    example.tokens.push_back(std::string(example.has_fallback ? "<0x" : "[0x") +
                             digits[byte >> 4] + digits[byte & 15] + ">");
  }
  const std::string mark(SPACE_MARK);
  // A character that is not chosen is encoded by its bytes.
  const std::uint32_t chosen = input.word();
  example.fuses_unknown = (chosen >> 16 & 1) != 0;
  static const std::string CHARACTERS[] = {"a",
                                           "b",
                                           "s",
                                           "t",
                                           "1",
                                           "'",
                                           "\n",
                                           "\xC3\xA9",
                                           "\xE4\xB8\xAD",
                                           "\xF0\x9F\x98\x80",
                                           "w",
                                           "o",
                                           "\t",
                                           "\xE2\x96\x82",
                                           " ",
                                           "\xEF\xBF\xBD"};
  example.tokens.push_back(mark);
  for (std::size_t i = 0; i < std::size(CHARACTERS); ++i)
    if ((chosen >> i & 1) != 0)
      example.tokens.push_back(CHARACTERS[i]);
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < example.tokens.size(); ++id)
    ids.emplace(example.tokens[id], id);
  for (std::size_t left = input.below(32); left != 0; --left) {
    const auto part = [&] {
      const std::size_t count = example.tokens.size() - FIRST_TEXT;
      const std::uint8_t choice = input.byte();
      return static_cast<std::uint32_t>(choice < 64 ? FIRST_TEXT
                                                    : FIRST_TEXT + (choice - 64U) % count);
    };
    const std::uint32_t first = part();
    const std::uint32_t second = part();
    const std::string text = example.tokens[first] + example.tokens[second];
    if (text.size() > 60)
      continue;
    const auto [entry, is_new] =
        ids.emplace(text, static_cast<std::uint32_t>(example.tokens.size()));
    if (is_new)
      example.tokens.push_back(text);
    example.merges.push_back({first, second, entry->second});
  }
  if ((choices & 64) != 0 && !example.merges.empty())
    std::swap(example.merges[input.below(example.merges.size())], example.merges.back());
  static const std::string CONTENTS[] = {"<x>", "ab", " ", "\n", "<x>y", "\xE2\x96\x81t"};
  for (std::size_t i = 0; i < std::size(CONTENTS); ++i) {
    const std::uint8_t flags = input.byte();
    if ((flags & 0x81) != 0x81 || ids.count(CONTENTS[i]) != 0)
      continue;
    AddedToken token{CONTENTS[i], static_cast<std::uint32_t>(1000 + i)};
    token.special = (flags & 2) != 0;
    token.normalized = (flags & 4) != 0;
    token.lstrip = (flags & 8) != 0;
    token.rstrip = (flags & 16) != 0;
    token.single_word = (flags & 96) == 96;
    const bool is_plain = i != 2 && i != 5 && (flags & 24) == 0 && !token.single_word;
    if (example.is_normalizer() && (example.spaces == SpacesOf::PREPEND || !is_plain))
      token.normalized = false;
    if (i == 5)
      token.special = false;
    example.added.push_back(token);
  }
  AddedToken control{"<s>", CONTROL};
  control.special = true;
  example.added.push_back(control);
  return example;
}

inline std::string leb128(std::size_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

inline std::string sized(const std::string &text) { return leb128(text.size()) + text; }

inline std::string bytes_of(std::size_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

// Returns the normalizer of an example: its steps, and its Metaspace.
inline std::string normalizer_of(const TextExample &example) {
  const std::string mark(SPACE_MARK);
  const std::string replace = leb128(11) + sized(" ") + leb128(0) + sized(mark);
  const auto metaspace = [&](std::size_t scheme) {
    return leb128(0) + leb128(scheme) + sized(mark) + leb128(0);
  };
  switch (example.spaces) {
  case SpacesOf::NEVER:
    return metaspace(3);
  case SpacesOf::FIRST:
    return metaspace(2);
  case SpacesOf::ALWAYS:
    return metaspace(1);
  case SpacesOf::REPLACE:
    return leb128(1) + replace + leb128(0);
  case SpacesOf::PREPEND:
    return leb128(2) + leb128(10) + sized(mark) + replace + leb128(0);
  default: // SentencePiece: no charsmap, and the options of which the third replaces spaces
    return leb128(1) + leb128(13) + leb128(0) +
           leb128(example.spaces == SpacesOf::SPM_PREFIX ? 1 : 0) + leb128(0) + leb128(1) +
           leb128(0) + leb128(0);
  }
}

// Returns the decoder of an example.
inline std::string decoder_of(const TextExample &example) {
  if (example.is_sentencepiece)
    return leb128(2) + leb128(10) + leb128(example.strips) +
           leb128(example.strips_again ? 1 : 0) + sized(UNKNOWN_TEXT);
  const std::string strip =
      example.strips != 0 ? leb128(3) + sized(" ") + leb128(example.strips) + leb128(0) : "";
  return leb128(strip.empty() ? 4 : 5) + leb128(4) + sized(std::string(SPACE_MARK)) +
         leb128(0) + sized(" ") + leb128(1) + leb128(2) + strip;
}

// Returns the .pretok file of an example. All tokens are literals.
inline std::string file_of(const TextExample &example) {
  std::string body = leb128(52) + sized("own") + sized("16.0");
  const std::vector<std::uint32_t> words = preset_at(0).words(); // readers in C++ ignore it
  body += leb128(words.size());
  for (const std::uint32_t word : words)
    body += leb128(word);
  body += sized("{}") + leb128(1) + leb128(CONTROL) + leb128(0);
  body += leb128(example.added.size());
  for (const AddedToken &token : example.added)
    body += sized(token.content) + leb128(token.id) +
            leb128((token.special ? 1U : 0U) | (token.normalized ? 2U : 0U) |
                   (token.lstrip ? 4U : 0U) | (token.rstrip ? 8U : 0U) |
                   (token.single_word ? 16U : 0U));
  body += leb128(UNKNOWN + 1) +
          leb128((example.fuses_unknown ? 1U : 0U) | (example.has_fallback ? 0U : 2U)) +
          leb128(example.splits ? 1 : 0) + sized("") + sized("") + normalizer_of(example) +
          decoder_of(example);
  body += leb128(example.tokens.size());
  for (const std::string &token : example.tokens)
    body += leb128(token.size());
  for (const std::string &token : example.tokens)
    body += token;
  body += leb128(example.merges.size()) + leb128(example.merges.size());
  for (const Merge &merge : example.merges)
    body += leb128(0) + leb128(merge.id);
  for (const Merge &merge : example.merges)
    body += bytes_of(merge.left, 2) + bytes_of(merge.right, 2);
  body += leb128(1) + leb128(0) + leb128(example.tokens.size());
  const std::uint32_t sum =
      crc32(reinterpret_cast<const std::uint8_t *>(body.data()), body.size());
  return "\x89PRETOK\n" + bytes_of(4, 4) + bytes_of(sum, 4) + body;
}

// Returns the normalized characters of a part of a text. A byte that is not UTF-8 is one
// character. `is_first` says whether the part is at the start of the text. `is_begun` says
// whether SPM_PREFIX has already added its space since the last token that is not normalized.
inline std::vector<std::string> characters_of(const TextExample &example,
                                              const std::string &part, bool is_first,
                                              bool is_begun) {
  std::vector<std::string> characters;
  const std::string mark(SPACE_MARK);
  for (std::size_t at = 0; at < part.size();) {
    const Decoded decoded =
        decode_utf8(reinterpret_cast<const std::uint8_t *>(part.data()) + at, part.size() - at);
    std::string character = part.substr(at, decoded.width);
    if (character == " ")
      character = mark;
    else if (example.spaces <= SpacesOf::SPM_PREFIX && decoded.width == 1 &&
             decoded.code_point >= 0x80)
      character = "\xEF\xBF\xBD";
    characters.push_back(character);
    at += decoded.width;
  }
  const bool begins_with_mark = !characters.empty() && characters[0] == mark;
  if ((example.has_prefix() && !is_begun) ||
      (example.spaces == SpacesOf::ALWAYS && !begins_with_mark) ||
      (example.spaces == SpacesOf::FIRST && is_first && !begins_with_mark))
    characters.insert(characters.begin(), mark);
  return characters;
}

// Merges characters by the slow definition, and appends their ids to `result`. A character that
// is no token becomes the fallback tokens of its bytes, or the unknown token.
inline void
append_merged(const TextExample &example, const std::map<std::string, std::uint32_t> &ids,
              const std::map<std::pair<std::uint32_t, std::uint32_t>, Merged> &merges,
              const std::vector<std::string> &characters, Ids &result) {
  Ids symbols;
  bool is_after_unknown = false;
  for (const std::string &character : characters) {
    const auto entry = ids.find(character);
    const bool is_unknown = entry == ids.end() && !example.has_fallback;
    if (is_unknown && !(is_after_unknown && example.fuses_unknown))
      symbols.push_back(UNKNOWN);
    is_after_unknown = is_unknown;
    if (entry != ids.end())
      symbols.push_back(entry->second);
    else if (!is_unknown)
      for (const char byte : character)
        symbols.push_back(FIRST_BYTE + static_cast<std::uint8_t>(byte));
  }
  for (;;) {
    Merged best{NO_RANK, NO_ID};
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto entry = merges.find({symbols[i], symbols[i + 1]});
      if (entry != merges.end() && entry->second.rank < best.rank) {
        best = entry->second;
        place = i;
      }
    }
    if (best.rank == NO_RANK)
      break;
    symbols[place] = best.id;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  result.insert(result.end(), symbols.begin(), symbols.end());
}

// Encodes a text by the slow definition.
inline Encoding text_encoded(const TextExample &example, const SlowAdded &added,
                             const std::string &text) {
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t id = FIRST_TEXT; id < example.tokens.size(); ++id)
    ids.emplace(example.tokens[id], id);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Merged> merges;
  std::uint32_t rank = 0;
  for (const Merge &merge : example.merges)
    merges[{merge.left, merge.right}] = {rank++, merge.id};
  Encoding result;
  bool is_begun = false; // since the last token that is not normalized
  const auto emit = [&](std::size_t start, std::size_t end, const AddedToken *token) {
    if (token != nullptr) {
      const bool meets_prefix = example.spaces == SpacesOf::SPM_PREFIX && token->normalized;
      if (meets_prefix && !is_begun)
        append_merged(example, ids, merges, {std::string(SPACE_MARK)}, result.ids);
      is_begun = meets_prefix;
      result.ids.push_back(token->id);
      return;
    }
    std::vector<std::string> piece;
    for (const std::string &character :
         characters_of(example, text.substr(start, end - start), start == 0, is_begun)) {
      if (example.splits && character == SPACE_MARK) {
        append_merged(example, ids, merges, piece, result.ids);
        piece.clear();
      }
      piece.push_back(character);
    }
    append_merged(example, ids, merges, piece, result.ids);
    is_begun = example.spaces == SpacesOf::SPM_PREFIX;
  };
  result.refusal = added.split(text, 0, text.size(), false, emit);
  return result;
}

// Returns the text of a token that is not a fallback token.
inline std::string surface_of(const TextExample &example, std::uint32_t id) {
  if (example.is_sentencepiece && id == UNKNOWN)
    return UNKNOWN_TEXT;
  if (example.is_sentencepiece && id == CONTROL)
    return "";
  std::string text;
  if (id < example.tokens.size())
    text = example.tokens[id];
  for (const AddedToken &token : example.added)
    if (token.id == id)
      text = token.content;
  if (id >= example.tokens.size() && example.is_sentencepiece)
    return text;
  for (std::size_t at = 0; (at = text.find(SPACE_MARK, at)) != std::string::npos; ++at)
    text.replace(at, SPACE_MARK.size(), " ");
  return text;
}

inline bool is_fallback(const TextExample &example, std::uint32_t id) {
  return example.has_fallback && id >= FIRST_BYTE && id < FIRST_TEXT;
}

// Returns the text of a run of fallback tokens. If `replaces`, invalid bytes become U+FFFD. If
// `replaces` and the model is not SentencePiece, one invalid byte makes all bytes U+FFFD.
inline std::string run_text(const TextExample &example, const std::string &run, bool replaces) {
  if (!replaces)
    return run;
  std::string text;
  bool is_valid = true;
  for (std::size_t at = 0; at < run.size();) {
    const Decoded decoded =
        decode_utf8(reinterpret_cast<const std::uint8_t *>(run.data()) + at, run.size() - at);
    const bool is_invalid = decoded.width == 1 && decoded.code_point >= 0x80;
    text += is_invalid ? std::string("\xEF\xBF\xBD") : run.substr(at, decoded.width);
    is_valid = is_valid && !is_invalid;
    at += decoded.width;
  }
  if (is_valid || example.is_sentencepiece)
    return text;
  text.clear();
  for (std::size_t i = 0; i < run.size(); ++i)
    text += "\xEF\xBF\xBD";
  return text;
}

// Decodes ids by the slow definition. SentencePiece strips only spaces of tokens that are not
// fallback tokens; other decoders strip the spaces of the decoded text.
inline std::string text_decoded(const TextExample &example, const Ids &ids, bool replaces) {
  std::string text;
  bool at_start = example.strips != 0;
  for (std::size_t i = 0; i < ids.size();) {
    if (is_fallback(example, ids[i])) {
      std::string run;
      for (; i < ids.size() && is_fallback(example, ids[i]); ++i)
        run += static_cast<char>(ids[i] - FIRST_BYTE);
      text += run_text(example, run, replaces);
      at_start = false;
      continue;
    }
    std::string surface = surface_of(example, ids[i]);
    if (example.is_sentencepiece && at_start) {
      if (ids[i] < example.tokens.size() && ids[i] >= FIRST_TEXT &&
          example.tokens[ids[i]].compare(0, SPACE_MARK.size(), SPACE_MARK) == 0) {
        surface.erase(0, 1);
        at_start = example.strips_again;
      }
      at_start = at_start && surface.empty();
    }
    text += surface;
    ++i;
  }
  if (!example.is_sentencepiece) {
    std::size_t stripped = 0;
    while (stripped < example.strips && stripped < text.size() && text[stripped] == ' ')
      ++stripped;
    text.erase(0, stripped);
  }
  return text;
}

} // namespace pretok
