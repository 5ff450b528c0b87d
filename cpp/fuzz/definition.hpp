// Defines encoding by slow, simple code. Fuzz targets compare the fast code with this
// definition. Also generates small random vocabularies.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/encode/added.hpp"
#include "core/split/pre_tokenizer.hpp"
#include "core/unicode/utf8.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pretok {

using Ids = std::vector<std::uint32_t>;

// A random vocabulary, and the maps that the slow definition uses.
struct Example {
  VocabularyData data;
  std::vector<std::string> tokens; // by id; empty if no token has the id
  // The tokens of several bytes that merging can produce, and the first id of each.
  std::map<std::string, std::uint32_t> ids;
  // The merges by the ids of their pairs. Not used if data.from_ranks is true.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Merged> merges;
  std::array<std::uint32_t, 256> byte_ids; // an array, because filling a map takes long
  // Caches the results of look_up, because inputs repeat the same pairs.
  mutable std::unordered_map<std::uint64_t, Merged> look_ups;

  std::uint32_t id_of(const std::string &token) const {
    if (token.size() == 1)
      return byte_ids[static_cast<std::uint8_t>(token[0])];
    const auto entry = ids.find(token);
    return entry == ids.end() ? NO_ID : entry->second;
  }
  Merged merged(std::uint32_t left, std::uint32_t right) const {
    const auto [entry, is_new] =
        look_ups.try_emplace(std::uint64_t{left} << 32 | right, Merged{NO_RANK, NO_ID});
    if (is_new)
      entry->second = look_up(left, right);
    return entry->second;
  }
  Merged look_up(std::uint32_t left, std::uint32_t right) const {
    if (!data.from_ranks) {
      const auto entry = merges.find({left, right});
      return entry == merges.end() ? Merged{NO_RANK, NO_ID} : entry->second;
    }
    if (left == NO_ID || right == NO_ID)
      return {NO_RANK, NO_ID};
    const std::uint32_t id = id_of(tokens[left] + tokens[right]);
    return id == NO_ID ? Merged{NO_RANK, NO_ID} : Merged{id, id};
  }
};

// Returns an example that has the byte tokens in a random order, and up to 39 longer tokens.
// Each longer token consists of two earlier tokens. Some examples lack the tokens of the bytes
// 0xF8 to 0xFF.
inline Example make_example(Input &input) {
  Example example;
  VocabularyData &data = example.data;
  const std::uint8_t choices = input.byte();
  data.from_ranks = (choices & 1) != 0;
  data.ignore_merges = data.from_ranks || (choices & 2) != 0;
  const bool lists_all_splits = (choices & 4) != 0;
  const bool omits_bytes = !data.from_ranks && (choices & 8) != 0;
  const std::uint32_t id_step = (choices & 16) != 0 ? 3 : 1;
  const std::uint32_t order = input.byte();
  example.tokens.reserve(512);
  const auto add = [&](const std::string &token, std::uint32_t id) {
    data.bytes.insert(data.bytes.end(), token.begin(), token.end());
    data.lengths.push_back(static_cast<std::uint32_t>(token.size()));
    data.ids.push_back(id);
    example.tokens.resize(std::max<std::size_t>(example.tokens.size(), id + 1));
    example.tokens[id] = token;
  };
  example.byte_ids.fill(NO_ID);
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t byte = (i * (order | 1) + order) & 0xFF;
    if (omits_bytes && byte >= 0xF8)
      continue;
    add(std::string(1, static_cast<char>(byte)), i);
    example.byte_ids[byte] = i;
  }
  std::uint32_t id = 256;
  for (std::size_t left = input.below(40); left != 0 && input.left() != 0;
       --left, id += id_step) {
    std::string token;
    std::uint32_t parts[2];
    const std::size_t count = data.ids.size();
    for (std::uint32_t &part : parts) {
      const std::uint8_t choice = input.byte();
      // Each part is a byte that is common in the texts, or an earlier longer token.
      static const std::string BYTES = " abs1\n't\xE1\x84\x81\xD0\xBE\x80\xF0\x9F\x98";
      if ((choice & 1) == 0 && count > 256)
        part = data.ids[count - 1 - choice / 2 % (count - 256)];
      else
        part = example.byte_ids[static_cast<std::uint8_t>(BYTES[choice / 2 % BYTES.size()])];
      token += example.tokens[part];
    }
    if (token.size() > 100 || (data.from_ranks && example.ids.count(token) != 0))
      continue; // a token occurs only once in a rank file
    add(token, id);
    example.ids.emplace(token, id);
    if (data.from_ranks)
      continue;
    if (!lists_all_splits) {
      data.merges.push_back({parts[0], parts[1], id});
      continue;
    }
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      const std::uint32_t a = example.id_of(token.substr(0, cut));
      const std::uint32_t b = example.id_of(token.substr(cut));
      if (a != NO_ID && b != NO_ID)
        data.merges.push_back({a, b, id});
    }
  }
  // Sometimes swap two merges, so that they are not in the order of their tokens.
  if ((choices & 96) == 32 && !data.merges.empty())
    std::swap(data.merges[input.below(data.merges.size())], data.merges.back());
  data.mergeable = data.ids.size();
  if (choices >> 7 != 0 && !omits_bytes)
    add("only decoded", id); // a token that no merge produces
  std::uint32_t rank = 0;
  for (const Merge &merge : data.merges)
    example.merges[{merge.left, merge.right}] = {rank++, merge.id};
  return example;
}

// Returns the ids of a pre-token by BPE: merges the pair with the lowest rank until no pair has
// a merge. With ignore_merges, a pre-token that is a token has only the id of this token.
inline Ids merged(const Example &example, const std::string &pre_token) {
  const std::uint32_t whole = example.id_of(pre_token);
  if (example.data.ignore_merges && whole != NO_ID)
    return {whole};
  Ids ids;
  for (const char byte : pre_token)
    ids.push_back(example.byte_ids[static_cast<std::uint8_t>(byte)]);
  for (;;) {
    Merged best{NO_RANK, NO_ID};
    std::size_t best_index = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merged candidate = example.merged(ids[i], ids[i + 1]);
      if (candidate.rank < best.rank) {
        best = candidate;
        best_index = i;
      }
    }
    if (best.rank == NO_RANK)
      return ids;
    ids[best_index] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_index) + 1);
  }
}

struct Encoding {
  Ids ids;
  Refusal refusal;
};

// Searches added tokens by the definition in bpe/encoding/added_tokens.py. A token with
// `rstrip` includes the white space after it. As in Hugging Face's tokenizers, a later token of
// white space may match within this white space.
class SlowAdded {
public:
  SlowAdded(const std::vector<AddedToken> &tokens, const CodePointRanges &words,
            Treatment treatment)
      : tokens_(tokens), words_(words), treatment_(treatment) {}

  // Calls emit(start, end, token) for each segment of text[start, end); `token` is nullptr for
  // plain text. The first phase (`normalized` is false) searches the tokens of the raw text. It
  // calls split() with `normalized` = true for the text between them. Returns the first token
  // that `treatment` refuses, if any.
  template <typename Emit>
  Refusal split(const std::string &text, std::size_t start, std::size_t end, bool normalized,
                Emit &emit) const {
    std::size_t done = start;
    // Emits the text from `done` to `until`, which no token of this phase includes.
    const auto leave = [&](std::size_t until) {
      if (until <= done)
        return Refusal{};
      if (!normalized)
        return split(text, done, until, true, emit);
      emit(done, until, nullptr);
      return Refusal{};
    };
    for (std::size_t at = start; at < end;) {
      const AddedToken *match = nullptr;
      for (const AddedToken &token : tokens_)
        if (token.normalized == normalized && token.content[0] == text[at] &&
            token.content.size() <= end - at &&
            text.compare(at, token.content.size(), token.content) == 0 &&
            (match == nullptr || token.content.size() > match->content.size()))
          match = &token;
      if (match == nullptr) {
        ++at;
        continue;
      }
      std::size_t first = at;
      std::size_t last = at += match->content.size();
      if ((match->special && treatment_ == Treatment::TEXT) ||
          (match->single_word && (is_word(code_point_before(text, start, first)) ||
                                  is_word(code_point_at(text, last, end)))))
        continue;
      if (match->special && treatment_ == Treatment::RAISE) {
        const Refusal earlier = leave(first);
        return earlier.token != nullptr ? earlier : Refusal{match, first};
      }
      while (match->lstrip && first > done && is_space(code_point_before(text, start, first)))
        first -= width(code_point_before(text, start, first));
      if (match->lstrip && first < done)
        first = done;
      while (match->rstrip && is_space(code_point_at(text, last, end)))
        last += width(code_point_at(text, last, end));
      if (first >= last)
        continue;
      const Refusal refusal = leave(first);
      if (refusal.token != nullptr)
        return refusal;
      emit(first, last, match);
      done = last;
    }
    return leave(end);
  }

private:
  static constexpr std::uint32_t NOTHING = 0xFFFFFFFF;

  static Decoded decode(const std::string &text, std::size_t at, std::size_t size) {
    return decode_utf8(reinterpret_cast<const std::uint8_t *>(text.data()) + at, size);
  }
  static std::uint32_t code_point_before(const std::string &text, std::size_t start,
                                         std::size_t at) {
    for (std::size_t size = 1; size <= 4 && size <= at - start; ++size) {
      const Decoded decoded = decode(text, at - size, size);
      // decode_utf8 decodes an invalid byte to a lone surrogate from U+DC00 on.
      if (decoded.width == size && decoded.code_point - 0xDC00 >= 0x400)
        return decoded.code_point;
    }
    return NOTHING;
  }
  static std::uint32_t code_point_at(const std::string &text, std::size_t at, std::size_t end) {
    if (at == end)
      return NOTHING;
    const Decoded decoded = decode(text, at, end - at);
    return decoded.code_point - 0xDC00 < 0x400 ? NOTHING : decoded.code_point;
  }
  static std::size_t width(std::uint32_t code_point) {
    return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  }
  static bool is_space(std::uint32_t code_point) {
    static const std::uint32_t SPACES[] = {
        9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
    for (const std::uint32_t space : SPACES)
      if (code_point == space)
        return true;
    return code_point >= 0x2000 && code_point <= 0x200A;
  }
  bool is_word(std::uint32_t code_point) const {
    for (const auto &[first, last] : words_)
      if (code_point >= first && code_point <= last)
        return true;
    return false;
  }

  const std::vector<AddedToken> &tokens_;
  const CodePointRanges &words_;
  const Treatment treatment_;
};

// Encodes a text by the slow definition.
inline Encoding encoded(const Example &example, const PreTokenizer &tokenizer,
                        const SlowAdded &added, bool add_prefix_space,
                        const std::string &text) {
  Encoding result;
  const auto emit = [&](std::size_t start, std::size_t end, const AddedToken *token) {
    if (token != nullptr) {
      result.ids.push_back(token->id);
      return;
    }
    std::string part = text.substr(start, end - start);
    if (add_prefix_space && part[0] != ' ')
      part.insert(part.begin(), ' ');
    const Utf8 source(reinterpret_cast<const std::uint8_t *>(part.data()), part.size(),
                      tokenizer.classes());
    tokenizer.steps(source, [&](std::size_t from, std::size_t to, int) {
      for (const std::uint32_t id : merged(example, part.substr(from, to - from)))
        result.ids.push_back(id);
    });
  };
  result.refusal = added.split(text, 0, text.size(), false, emit);
  return result;
}

} // namespace pretok
