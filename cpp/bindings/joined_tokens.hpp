// Joins the bytes of tokens for the fast paths of decoding.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/unicode/utf8.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace pretok {

// A view of the bytes of all tokens and of their positions. Copies share the memory.
struct TokenStore {
  const std::uint32_t *starts; // token `id` is bytes[starts[id]..starts[id + 1])
  std::size_t limit;           // the largest id plus one
  const std::uint8_t *bytes;

  // Returns an empty view if `id` is not the id of a token.
  TokenView token(std::int64_t id) const {
    if (static_cast<std::uint64_t>(id) >= limit)
      return {};
    return {bytes + starts[id], starts[id + 1] - starts[id]};
  }
};

// The bytes of all tokens in the order of their ids.
class TokenBytes {
public:
  // `bytes` has the tokens one after the other. Token i has `lengths[i]` bytes and the id
  // `ids[i]`. The ids must ascend. Throws py::value_error if the arguments do not fit together.
  TokenBytes(std::string_view bytes, const std::vector<std::uint32_t> &lengths,
             const std::vector<std::uint32_t> &ids) {
    if (lengths.size() != ids.size() ||
        std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}) != bytes.size())
      throw pybind11::value_error("expected a length for each id, and lengths that sum to the "
                                  "number of bytes");
    if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end() ||
        (!ids.empty() && ids.back() >= ID_LIMIT))
      throw pybind11::value_error("expected ascending ids below 16777216");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      starts_.resize(std::size_t{ids[i]} + 1, static_cast<std::uint32_t>(sum));
      sum += lengths[i];
      if (sum > UINT32_MAX - PADDING)
        throw std::length_error("the tokens have 4 GiB or more in total; expected less");
    }
    starts_.push_back(static_cast<std::uint32_t>(sum));
    bytes_.assign(bytes.begin(), bytes.end());
    bytes_.resize(static_cast<std::size_t>(sum) + PADDING);
  }

  // The ids of all tokens must be below `limit`. An id without a token gets no bytes.
  TokenBytes(const Vocabulary &vocabulary, std::size_t limit) {
    starts_.reserve(limit + 1);
    std::uint64_t sum = 0;
    for (std::size_t id = 0; id < limit; ++id)
      sum += vocabulary.token(static_cast<std::uint32_t>(id)).size;
    if (sum > UINT32_MAX - PADDING)
      throw std::length_error("the tokens have 4 GiB or more in total; expected less");
    const auto size = static_cast<std::size_t>(sum);
    bytes_.reserve(size + PADDING);
    for (std::size_t id = 0; id < limit; ++id) {
      const TokenView token = vocabulary.token(static_cast<std::uint32_t>(id));
      starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_.insert(bytes_.end(), token.bytes, token.bytes + token.size);
    }
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_.resize(size + PADDING);
  }

  // The number of unused bytes in `bytes_` after the last token. With them, code may read
  // PADDING bytes from the start of any token.
  static constexpr std::size_t PADDING = 16;

  TokenStore store() const { return {starts_.data(), starts_.size() - 1, bytes_.data()}; }

private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint8_t> bytes_;
};

// A set of ids.
class IdSet {
public:
  IdSet() = default;
  explicit IdSet(const std::vector<std::uint32_t> &ids) {
    for (const std::uint32_t id : ids) {
      if (id >= ID_LIMIT)
        throw pybind11::value_error("expected ids below 16777216");
      if (id >= has_.size())
        has_.resize(std::size_t{id} + 1);
      has_[id] = true;
    }
  }
  bool has(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) < has_.size() && has_[static_cast<std::size_t>(id)];
  }

private:
  std::vector<bool> has_;
};

// The joined bytes of tokens.
class Joined {
public:
  // `skipped` has the ids to omit. `empty` has the ids of tokens that have no bytes. nullptr is
  // an empty set.
  Joined(TokenStore tokens, const IdSet *skipped, const IdSet *empty)
      : tokens_(tokens), skipped_(skipped), empty_(empty) {}
  Joined(const Joined &) = delete;
  Joined &operator=(const Joined &) = delete;
  ~Joined() {
    if (bytes_ != local_.data())
      std::free(bytes_);
  }

  // Adds the tokens of the ids id_at(0) to id_at(count - 1). Returns false if the slow function
  // (the decoder in Python) must decode the ids, for example if an id has no token. Throws
  // std::bad_alloc.
  template <typename IdAt> bool add_all(std::size_t count, IdAt id_at) {
    if (count * BYTES_PER_TOKEN > capacity_ - size_)
      grow(size_ + count * BYTES_PER_TOKEN);
    // Copy the members to locals. The compiler would reload a member after each store of a
    // byte, since the byte may be part of the member.
    const TokenStore tokens = tokens_;
    const IdSet *const skipped = skipped_;
    std::uint8_t *to = bytes_ + size_;
    const std::uint8_t *end = bytes_ + capacity_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = id_at(i);
      const TokenView token = tokens.token(id);
      if (token.size == 0 && (empty_ == nullptr || !empty_->has(id)))
        return false;
      if (skipped != nullptr && skipped->has(id))
        continue;
      if (token.size == 0) {
        // An empty token ends a run of fallback bytes (tokens such as <0x0A>). If the run ends
        // within a character, bytes after the empty token must not complete this character. So
        // the slow function must decode the ids.
        if (!ends_character(bytes_, to))
          return false;
        continue;
      }
      if (to == bytes_)
        first_ = id;
      if (static_cast<std::size_t>(end - to) < token.size + TokenBytes::PADDING) {
        size_ = static_cast<std::size_t>(to - bytes_);
        grow(size_ + token.size + TokenBytes::PADDING);
        to = bytes_ + size_;
        end = bytes_ + capacity_;
      }
      // First copy PADDING bytes, even of a shorter token: a copy of constant size is fast, and
      // nearly all tokens have no more bytes.
      std::memcpy(to, token.bytes, TokenBytes::PADDING);
      if (token.size > TokenBytes::PADDING)
        std::memcpy(to + TokenBytes::PADDING, token.bytes + TokenBytes::PADDING,
                    token.size - TokenBytes::PADDING);
      to += token.size;
    }
    size_ = static_cast<std::size_t>(to - bytes_);
    return true;
  }

  const std::uint8_t *data() const { return bytes_; }
  std::size_t size() const { return size_; }
  // Returns the id of the first token that added bytes.
  std::int64_t first() const { return first_; }

private:
  // Returns whether there are no bytes, or the bytes end with an ASCII byte, or with a lead
  // byte and exactly as many continuation bytes as it needs.
  static bool ends_character(const std::uint8_t *begin, const std::uint8_t *end) {
    if (begin == end)
      return true;
    std::size_t tails = 0;
    for (; end != begin && tails < 4; ++tails)
      if (!is_tail(*--end))
        break;
    const std::uint8_t lead = tails == 4 || (end == begin && is_tail(*begin)) ? 0xFF : *end;
    const std::size_t expected = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    return tails == expected && lead < 0xF8;
  }

  // The room to reserve for each token: a little more than the average size.
  static constexpr std::size_t BYTES_PER_TOKEN = 5;

  // Allocates room for `min_capacity` bytes or more in total.
  void grow(std::size_t min_capacity) {
    const std::size_t capacity = std::max(min_capacity, capacity_ + capacity_ / 2);
    const bool is_local = bytes_ == local_.data();
    void *larger = std::realloc(is_local ? nullptr : bytes_, capacity);
    if (larger == nullptr)
      throw std::bad_alloc();
    if (is_local)
      std::memcpy(larger, bytes_, size_);
    bytes_ = static_cast<std::uint8_t *>(larger);
    capacity_ = capacity;
  }

  TokenStore tokens_;
  const IdSet *skipped_;
  const IdSet *empty_;
  std::int64_t first_ = -1;
  std::array<std::uint8_t, 1024> local_; // not initialized
  std::uint8_t *bytes_ = local_.data();
  std::size_t size_ = 0;
  std::size_t capacity_ = local_.size();
};

// Adds the tokens of `ids` (a list, a tuple or an array) to `joined`. Returns false if the slow
// function must decode `ids`.
bool add_all(PyObject *ids, Joined &joined);

} // namespace pretok
