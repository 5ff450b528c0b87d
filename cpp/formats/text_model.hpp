// The texts with their ids and merges of texts that GGUF and tokenizer.json have, as a
// vocabulary. bpe/formats/bpe_model.py is the twin.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// The place of each of some texts.
class TextIndex {
public:
  static constexpr std::uint32_t NO_TEXT = 0xFFFFFFFF;

  // `texts` must outlive this and stay where they are. Of equal ones the last counts.
  explicit TextIndex(const std::vector<std::string_view> &texts);

  // Where in `texts` this is, or NO_TEXT.
  std::uint32_t find(std::string_view text) const;

private:
  // So much of the hash of a text that it is hardly ever compared with another.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t place = NO_TEXT; // NO_TEXT: free
  };

  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;

  std::uint64_t hash_of(std::string_view text) const;

  const std::vector<std::string_view> &texts_;
  HashKey key_ = hash_key();
  std::vector<Slot> slots_;
};

struct TextMerge {
  std::string_view left;
  std::string_view right;
};

// Reads "left right"; false if it has not exactly one space.
bool split_merge(std::string_view both, TextMerge &found);

// What stands in a file, in its own bytes, all of it UTF-8.
struct TextModel {
  std::vector<std::string_view> texts; // none twice, but for empty ones
  std::vector<std::uint32_t> ids;      // of each, none twice, all below ID_LIMIT
  std::vector<TextMerge> merges;
  const char *merges_name = ""; // the name of the merges in the file
  bool ignore_merges = false;
  std::vector<bool> loose; // of each text: no token but where a merge names it; or empty
};

// Fills spec.vocabulary. An entry that is one of the added tokens of `model` only, which
// nothing merges to, is not part of it; nor is one that is loose, but for those that a merge
// names and bytes of ASCII.
LoadError build_vocabulary(const TextModel &source, const TextIndex &places,
                           TokenizerSpec &spec);

} // namespace pretok
