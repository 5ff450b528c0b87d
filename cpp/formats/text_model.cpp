#include "formats/text_model.hpp"

#include "core/unicode/byte_level.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t BATCH_SIZE = 32; // texts whose memory is prefetched together

const std::uint8_t *bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Returns the name of a merge for messages, such as "model.merges[2]".
std::string merge_name(const TextModel &source, std::size_t rank) {
  return source.merges_name + ("[" + std::to_string(rank) + "]");
}

bool is_concatenation(std::string_view whole, std::string_view left, std::string_view right) {
  return whole.size() == left.size() + right.size() && whole.substr(0, left.size()) == left &&
         whole.substr(left.size()) == right;
}

// Returns the error for a merge of which a text is not in the vocabulary. `places` are those of
// its sides and of `result`.
LoadError missing_text(const TextModel &source, std::size_t rank, const std::uint32_t *places,
                       std::string_view result) {
  const auto &[left, right] = source.merges[rank];
  const std::string_view part = places[0] == TextIndex::NO_TEXT   ? left
                                : places[1] == TextIndex::NO_TEXT ? right
                                                                  : result;
  return malformed(merge_name(source, rank) + " merges " + quote(left) + " and " +
                   quote(right) + ", but the vocabulary has no token " + quote(part) +
                   "; the merges belong to another vocabulary, or the file is damaged");
}

// Calls add(rank, at) for each merge. `at` has three indices in source.texts: those of the left
// token, the right token and the result. Fails if one of them is not in the vocabulary.
// The result omits the `prefix` of the right token.
template <typename Add>
LoadError for_merges(const TextModel &source, const TextIndex &places, std::string_view prefix,
                     Add add) {
  constexpr std::size_t MERGES = 256; // their sides are looked up together
  std::vector<std::string_view> sides(2 * MERGES);
  std::vector<std::uint32_t> found(2 * MERGES);
  std::string concatenated;
  std::uint32_t at[3] = {};
  for (std::size_t rank = 0; rank < source.merges.size(); ++rank) {
    const std::size_t index = rank % MERGES * 2;
    if (index == 0) {
      const std::size_t count = std::min(MERGES, source.merges.size() - rank);
      for (std::size_t i = 0; i < count; ++i) {
        sides[2 * i] = source.merges[rank + i].left;
        sides[2 * i + 1] = source.merges[rank + i].right;
      }
      places.find_all(sides.data(), 2 * count, found.data());
    }
    const std::string_view left = source.merges[rank].left;
    const std::string_view right = source.merges[rank].right;
    if (right.substr(0, prefix.size()) != prefix)
      return malformed(merge_name(source, rank), " merges ", quote(left), " and ", quote(right),
                       ", which does not begin with ", quote(prefix),
                       ", the continuing_subword_prefix");
    const std::string_view rest = right.substr(prefix.size());
    // The result of a merge is most often that of the merge before, or the next text.
    const std::uint32_t last = rank == 0 ? TextIndex::NO_TEXT : at[2];
    const auto is_result = [&](std::uint32_t place) {
      return place < source.texts.size() && is_concatenation(source.texts[place], left, rest);
    };
    at[0] = found[index];
    at[1] = found[index + 1];
    if (rank != 0 && is_result(last + 1)) {
      at[2] = last + 1;
    } else if (!is_result(last)) {
      concatenated.assign(left).append(rest);
      at[2] = places.find(concatenated);
    }
    if (at[0] == TextIndex::NO_TEXT || at[1] == TextIndex::NO_TEXT ||
        at[2] == TextIndex::NO_TEXT)
      return missing_text(source, rank, at, concatenated);
    if (LoadError error = add(rank, static_cast<const std::uint32_t *>(at)))
      return error;
  }
  return {};
}

// The entries of a TextModel in the order of its texts, and the bytes that the text of each
// entry stands for. An entry is inert if a character of its text stands for no byte. No text
// may encode to an inert entry.
class Tokens {
public:
  Tokens(const TextModel &source, bool ignore_merges, const TextIndex &places)
      : source_(source), ignore_merges_(ignore_merges), places_(places) {
    std::size_t size = 0;
    for (const std::string_view text : source.texts)
      size += text.size();
    bytes_.resize(size);
    lengths_.resize(source.texts.size());
    std::uint8_t *to = bytes_.data();
    for (std::size_t place = 0; place < source.texts.size(); ++place) {
      const std::string_view text = source.texts[place];
      std::uint8_t *end = write_bytes(text, to);
      if (end == nullptr) {
        // The entry is inert. Its id decodes to the UTF-8 of its text.
        end = std::copy(text.begin(), text.end(), to);
        inert_.resize(source.texts.size());
        inert_[place] = has_inert_ = true;
      }
      lengths_[place] = static_cast<std::uint32_t>(end - to);
      to = end;
    }
    bytes_.resize(static_cast<std::size_t>(to - bytes_.data()));
  }

  // Adds the merges that have no inert entry.
  LoadError add_merges() {
    merges_.reserve(source_.merges.size());
    in_merges_.resize(source_.texts.size());
    return for_merges(source_, places_, {}, [&](std::size_t rank, const std::uint32_t *at) {
      if (has_inert_ && (inert_[at[0]] || inert_[at[1]] || inert_[at[2]]))
        return LoadError{};
      const auto &[left, right] = source_.merges[rank];
      if (left.empty() || right.empty())
        return malformed(merge_name(source_, rank), " merges ", quote(left), " and ",
                         quote(right), "; expected two tokens of at least one byte");
      for (std::size_t i = 0; i < 3; ++i)
        in_merges_[at[i]] = true;
      merges_.push_back({source_.ids[at[0]], source_.ids[at[1]], source_.ids[at[2]]});
      return LoadError{};
    });
  }

  // Removes added tokens that have two or more bytes and that no merge names. With
  // ignore_merges, removes only special tokens.
  void drop_added(const TokenizerSpec &spec) {
    for (const AddedToken &token : spec.added) {
      const std::uint32_t place = places_.find(token.content);
      if (place == TextIndex::NO_TEXT || source_.ids[place] != token.id ||
          lengths_[place] < 2 || in_merges_[place])
        continue;
      // With ignore_merges, keep the entry of an added token that is not special. A pre-token
      // may equal an added token that did not match because of single_word, and then encodes to
      // this entry. Remove the entry of a special token, because text must not encode to it.
      if (token.special || !ignore_merges_)
        drop(place);
    }
  }

  // Removes loose entries (TextModel::loose), unless a merge names them or they are ASCII
  // bytes. Without a token of an ASCII byte, the vocabulary could not encode all texts.
  void drop_loose() {
    for (std::size_t place = 0; place < source_.loose.size(); ++place)
      if (source_.loose[place] && !in_merges_[place] && !is_ascii_byte(place))
        drop(place);
  }

  // Fails if text may encode to an inert entry. The twin of an inert entry is a token that is
  // not inert and has the same bytes. Text may encode to an inert entry in two cases:
  //   - with ignore_merges, a pre-token that has the bytes of the entry encodes to the entry;
  //   - without it, a token of several bytes is made only by a merge, and no merge makes an
  //     inert entry. But merging starts with the tokens of single bytes, and if several tokens
  //     have the same byte, with the one of the lowest id. So a byte encodes to an inert entry
  //     of one byte that has a lower id than its twin, or no twin. An entry without twin is
  //     removed: then the byte has no token, as in the file.
  LoadError drop_inert() {
    for (std::size_t place = 0; has_inert_ && place < lengths_.size(); ++place) {
      if (!inert_[place] || !is_token(place))
        continue;
      const std::string_view text = source_.texts[place];
      const std::uint32_t twin = places_.find(byte_characters(text));
      const bool has_twin = twin != TextIndex::NO_TEXT && is_token(twin);
      const bool is_byte = lengths_[place] == 1;
      if (ignore_merges_ || (has_twin && is_byte && source_.ids[place] < source_.ids[twin]))
        return unsupported(
            "vocabulary entry " + quote(text) + " (id " + std::to_string(source_.ids[place]) +
            ") is not byte-level text: one of its characters stands for no byte. " +
            (has_twin
                 ? "Token " + std::to_string(source_.ids[twin]) +
                       " has the same bytes as its UTF-8, so the id of these bytes is ambiguous"
                 : std::string("A pre-token may have the same bytes as its UTF-8, and would "
                               "wrongly get this id")) +
            "; remove the entry" +
            // drop_added() removes only added tokens of this kind.
            (ignore_merges_ && !is_byte ? ", or make it a special added token" : ""));
      if (!has_twin && is_byte)
        drop(place);
    }
    return {};
  }

  // Moves the tokens and merges to `data`.
  void move_to(VocabularyData &data) {
    data.ids.reserve(lengths_.size());
    std::size_t begin = 0; // of the bytes of the tokens that follow each other
    std::size_t end = 0;
    std::size_t kept = 0; // bytes
    const auto keep = [&] {
      const auto first = bytes_.begin();
      if (begin != kept)
        std::copy(first + static_cast<std::ptrdiff_t>(begin),
                  first + static_cast<std::ptrdiff_t>(end),
                  first + static_cast<std::ptrdiff_t>(kept));
      kept += end - begin;
    };
    for (std::size_t place = 0; place < lengths_.size(); ++place) {
      const std::uint32_t length = lengths_[place];
      if (is_token(place)) {
        lengths_[data.ids.size()] = length;
        data.ids.push_back(source_.ids[place]);
        end += length;
      } else {
        keep();
        begin = end += length;
      }
    }
    keep();
    bytes_.resize(kept);
    lengths_.resize(data.ids.size());
    data.bytes = std::move(bytes_);
    data.lengths = std::move(lengths_);
    data.mergeable = data.ids.size();
    data.from_ranks = false;
    data.merges = std::move(merges_);
    data.ignore_merges = ignore_merges_;
  }

private:
  void drop(std::size_t place) {
    dropped_.resize(lengths_.size());
    dropped_[place] = true;
  }

  bool is_token(std::size_t place) const {
    return lengths_[place] != 0 && (dropped_.empty() || !dropped_[place]);
  }

  bool is_ascii_byte(std::size_t place) const {
    const std::string_view text = source_.texts[place];
    std::vector<std::uint8_t> bytes;
    return lengths_[place] == 1 && ((has_inert_ && inert_[place]) ||
                                    (append_bytes(text, bytes) && bytes.front() < 0x80));
  }

  const TextModel &source_;
  const bool ignore_merges_;
  const TextIndex &places_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> lengths_; // of the bytes of each entry
  std::vector<bool> dropped_;          // whether each entry is no token; or empty
  std::vector<bool> inert_;            // whether each entry is inert
  bool has_inert_ = false;
  std::vector<Merge> merges_;
  std::vector<bool> in_merges_; // by entry: whether a merge in merges_ names it
};

} // namespace

TextKey::TextKey(std::string_view text) {
  const std::size_t size = text.size();
  const char *const first = text.data();
  const char *const last = first + size;
  if (size >= sizeof low) {
    std::memcpy(&low, first, sizeof low);
    std::memcpy(&high, last - sizeof high, sizeof high);
  } else if (size >= sizeof(std::uint32_t)) {
    std::memcpy(&low, first, sizeof(std::uint32_t));
    std::memcpy(&high, last - sizeof(std::uint32_t), sizeof(std::uint32_t));
  } else if (size != 0) {
    low = static_cast<std::uint8_t>(first[0]);
    high = std::uint64_t{static_cast<std::uint8_t>(first[size / 2])} << 8 |
           static_cast<std::uint8_t>(last[-1]);
  }
}

TextIndex::TextIndex(const std::vector<std::string_view> &texts) : texts_(texts) {
  slots_.reset(texts.size());
  std::array<std::uint64_t, BATCH_SIZE> hashes;
  for (std::size_t first = 0; first < texts.size(); first += BATCH_SIZE) {
    const std::size_t count = std::min(texts.size() - first, BATCH_SIZE);
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = hash_of(texts[first + i]);
      slots_.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i)
      slots_.find_or_add(hashes[i], is_text(texts[first + i], hashes[i])) = {
          tag_of(hashes[i]), static_cast<std::uint32_t>(first + i)};
  }
}

std::uint32_t TextIndex::find(std::string_view text) const { return find(text, hash_of(text)); }

std::uint32_t TextIndex::find(std::string_view text, std::uint64_t hash) const {
  return slots_.find(hash, is_text(text, hash)).place;
}

void TextIndex::find_all(const std::string_view *texts, std::size_t count,
                         std::uint32_t *places) const {
  std::array<std::uint64_t, BATCH_SIZE> hashes;
  for (; count != 0; texts += BATCH_SIZE, places += BATCH_SIZE) {
    const std::size_t size = std::min(count, BATCH_SIZE);
    count -= size;
    for (std::size_t i = 0; i < size; ++i) {
      hashes[i] = hash_of(texts[i]);
      slots_.prefetch(hashes[i]);
    }
    // Prefetch the text that has the same tag, and then compare it. It is most often equal.
    for (std::size_t i = 0; i < size; ++i) {
      const auto has_tag = [tag = tag_of(hashes[i])](const Slot &slot) {
        return slot.tag == tag;
      };
      places[i] = slots_.find(hashes[i], has_tag).place;
      if (places[i] != NO_TEXT)
        prefetch(&texts_[places[i]]);
    }
    for (std::size_t i = 0; i < size; ++i)
      if (places[i] != NO_TEXT)
        prefetch(texts_[places[i]].data());
    for (std::size_t i = 0; i < size; ++i)
      if (places[i] != NO_TEXT && !is_same(texts_[places[i]], texts[i]))
        places[i] = find(texts[i], hashes[i]);
  }
}

std::uint64_t TextIndex::hash_of(std::string_view text) const {
  if (text.size() > TextKey::MAX_BYTES)
    return hash_long(bytes_of(text), text.size(), key_);
  const TextKey key(text);
  // Keys of texts of different sizes may be equal.
  return hash_words(key.low ^ std::uint64_t{text.size()} << 56, key.high, key_);
}

bool TextIndex::is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         (a.size() > TextKey::MAX_BYTES ? a == b : TextKey(a) == TextKey(b));
}

bool split_merge(std::string_view text, TextMerge &result) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
    return false;
  result = {text.substr(0, space), text.substr(space + 1)};
  return true;
}

LoadError find_merges(const TextModel &source, const TextIndex &places,
                      std::vector<Merge> &merges, std::string_view prefix) {
  merges.reserve(source.merges.size());
  return for_merges(source, places, prefix, [&](std::size_t rank, const std::uint32_t *at) {
    for (std::size_t i = 0; i < 3; ++i)
      if (source.texts[at[i]].empty())
        return malformed(merge_name(source, rank), " has an empty token");
    merges.push_back({source.ids[at[0]], source.ids[at[1]], source.ids[at[2]]});
    return LoadError{};
  });
}

LoadError build_vocabulary(const TextModel &source, bool ignore_merges, const TextIndex &places,
                           TokenizerSpec &spec) {
  Tokens tokens(source, ignore_merges, places);
  if (LoadError error = tokens.add_merges())
    return error;
  tokens.drop_added(spec);
  tokens.drop_loose();
  if (LoadError error = tokens.drop_inert())
    return error;
  tokens.move_to(spec.vocabulary);
  return {};
}

} // namespace pretok
