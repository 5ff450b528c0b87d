// Builds a vocabulary from the texts, ids and merges of a GGUF file or tokenizer.json.
// bpe/formats/bpe_model.py does the same in Python.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// The bytes of a text of at most MAX_BYTES bytes as two numbers. Two such texts of one size are
// equal if and only if their keys are.
struct TextKey {
  static constexpr std::size_t MAX_BYTES = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  explicit TextKey(std::string_view text);
  bool operator==(const TextKey &other) const { return low == other.low && high == other.high; }
};

// A hash table from a text to its index in a list.
class TextIndex {
public:
  static constexpr std::uint32_t NO_TEXT = 0xFFFFFFFF;

  // `texts` must outlive the TextIndex. If several texts are equal, find() returns the largest
  // of their indices.
  explicit TextIndex(const std::vector<std::string_view> &texts);

  // Returns the index of `text` in `texts`, or NO_TEXT.
  std::uint32_t find(std::string_view text) const;
  // Sets places[i] to find(texts[i]) for `count` texts. Takes less time than calls of `find`,
  // because it waits for the memory of many texts at once.
  void find_all(const std::string_view *texts, std::size_t count, std::uint32_t *places) const;

  // Returns the number of different texts.
  std::size_t size() const { return slots_.size(); }

private:
  // `tag` is half of the hash of the text. find() compares texts only if their tags are equal.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t place = NO_TEXT; // the index of the text

    bool is_free() const { return place == NO_TEXT; }
  };

  std::uint32_t find(std::string_view text, std::uint64_t hash) const;
  std::uint64_t hash_of(std::string_view text) const;
  static bool is_same(std::string_view a, std::string_view b);
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
  auto is_text(std::string_view text, std::uint64_t hash) const {
    return [this, text, hash](const Slot &slot) {
      return slot.tag == tag_of(hash) && is_same(texts_[slot.place], text);
    };
  }

  const std::vector<std::string_view> &texts_;
  HashKey key_ = hash_key();
  OpenTable<Slot> slots_;
};

struct TextMerge {
  std::string_view left;
  std::string_view right;
};

// Splits "left right" at its space. Returns false if the text does not have exactly one space.
bool split_merge(std::string_view text, TextMerge &result);

// A vocabulary as a file stores it: entries with a text and an id. The texts are UTF-8, and
// view the bytes of the file.
struct TextModel {
  std::vector<std::string_view> texts; // unique, except for empty texts
  std::vector<std::uint32_t> ids;      // the ids of the texts; unique, below ID_LIMIT
  std::vector<TextMerge> merges;
  const char *merges_name = ""; // the name that the file gives the merges, for messages
  // For each text, whether its entry is loose. A loose entry is a token only if a merge names
  // the text, or if the text stands for an ASCII byte. If `loose` is empty, no entry is loose.
  std::vector<bool> loose;

  // Makes room for `count` texts and merges.
  void reserve(std::size_t count) {
    texts.reserve(count);
    ids.reserve(count);
    merges.reserve(count);
  }
};

// Appends the merges of `source` to `merges`, as ids. The text of the result omits the `prefix`
// of the right token (continuing_subword_prefix), which must begin with it. Fails if a token of
// a merge is empty or not in the vocabulary. `places` is the index of source.texts.
LoadError find_merges(const TextModel &source, const TextIndex &places,
                      std::vector<Merge> &merges, std::string_view prefix = {});

// Fills spec.vocabulary. Omits these entries:
//   - an added token of `spec` that has two or more bytes and that no merge names. If
//     `ignore_merges`, omits only special tokens of this kind;
//   - a loose entry that no merge names and that is not an ASCII byte;
//   - an entry of one ASCII character that stands for no byte, such as a space, unless another
//     token has this character as its byte.
LoadError build_vocabulary(const TextModel &source, bool ignore_merges, const TextIndex &places,
                           TokenizerSpec &spec);

} // namespace pretok
