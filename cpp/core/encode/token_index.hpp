// Finds tokens by their bytes, and orders them.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"
#include "core/base/open_table.hpp"
#include "core/decode/decoder.hpp"
#include "core/encode/added.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// A hash table from the bytes of a token to its id.
class TokenIndex {
public:
  // The arguments must outlive the TokenIndex.
  TokenIndex(const Decoder &decoder, const std::vector<AddedToken> &added,
             std::size_t id_limit);

  // Returns the id of a token with these bytes, or NO_ID. If there are several, returns the id
  // of an added token, or else the lowest id. Prefers other tokens to fallback tokens.
  std::uint32_t find(std::string_view bytes) const;

private:
  struct Slot {
    std::uint32_t tag = 0;       // half of the hash
    std::uint32_t place = NO_ID; // an index in added_, or added_.size() plus an id

    bool is_free() const { return place == NO_ID; }
  };

  std::string_view bytes_at(std::uint32_t place) const;
  const Slot &slot_of(std::string_view bytes, std::uint64_t hash) const;
  void add(std::uint32_t place);

  const Decoder &decoder_;
  const std::vector<AddedToken> &added_;
  HashKey key_ = hash_key();
  OpenTable<Slot> slots_;
};

// Returns the ids below `id_limit` that have a token, in the order of their rendered bytes;
// equal bytes in the order of ids.
std::vector<std::uint32_t> sorted_by_rendered(const Decoder &decoder, std::size_t id_limit);

} // namespace pretok
