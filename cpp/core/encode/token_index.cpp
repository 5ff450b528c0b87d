#include "core/encode/token_index.hpp"

#include "core/base/short_key.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

std::uint64_t hash_of(std::string_view bytes, const HashKey &key) {
  const auto *const start = reinterpret_cast<const std::uint8_t *>(bytes.data());
  return hash_bytes(start, bytes.size(), start + bytes.size(), key);
}

// Returns the first eight bytes as a number, whose order is that of the bytes.
std::uint64_t first_bytes(TokenView token) {
  std::uint64_t result = 0;
  for (std::uint32_t i = 0; i < 8; ++i)
    result = result << 8 | (i < token.size ? token.bytes[i] : 0U);
  return result;
}

} // namespace

TokenIndex::TokenIndex(const Decoder &decoder, const std::vector<AddedToken> &added,
                       std::size_t id_limit)
    : decoder_(decoder), added_(added), slots_(added.size() + id_limit) {
  for (std::uint32_t i = 0; i < added.size(); ++i)
    add(i);
  const auto first = static_cast<std::uint32_t>(added.size());
  for (const bool is_fallback : {false, true})
    for (std::uint32_t id = 0; id < id_limit; ++id)
      if (decoder.token(id).bytes != nullptr && decoder.is_fallback(id) == is_fallback)
        add(first + id);
}

std::string_view TokenIndex::bytes_at(std::uint32_t place) const {
  if (place < added_.size())
    return added_[place].content;
  const TokenView token = decoder_.token(place - static_cast<std::uint32_t>(added_.size()));
  return {reinterpret_cast<const char *>(token.bytes), token.size};
}

const TokenIndex::Slot &TokenIndex::slot_of(std::string_view bytes, std::uint64_t hash) const {
  return slots_.find(hash, [&](const Slot &slot) {
    return slot.tag == static_cast<std::uint32_t>(hash) && bytes_at(slot.place) == bytes;
  });
}

void TokenIndex::add(std::uint32_t place) {
  const std::string_view bytes = bytes_at(place);
  const std::uint64_t hash = hash_of(bytes, key_);
  if (!slot_of(bytes, hash).is_free())
    return;
  slots_.find_or_add(hash, [](const Slot &) { return false; }) = {
      static_cast<std::uint32_t>(hash), place};
}

std::uint32_t TokenIndex::find(std::string_view bytes) const {
  const Slot &slot = slot_of(bytes, hash_of(bytes, key_));
  return slot.is_free()               ? NO_ID
         : slot.place < added_.size() ? added_[slot.place].id
                                      : slot.place - static_cast<std::uint32_t>(added_.size());
}

std::vector<std::uint32_t> sorted_by_rendered(const Decoder &decoder, std::size_t id_limit) {
  const TokenTexts::View texts = decoder.rendered().view();
  struct Item {
    std::uint64_t first;
    std::uint32_t id;
  };
  std::vector<Item> items;
  items.reserve(id_limit);
  for (std::uint32_t id = 0; id < id_limit; ++id)
    if (decoder.token(id).bytes != nullptr)
      items.push_back({first_bytes(texts[id]), id});
  std::sort(items.begin(), items.end(), [&](const Item &a, const Item &b) {
    if (a.first != b.first)
      return a.first < b.first;
    const TokenView left = texts[a.id];
    const TokenView right = texts[b.id];
    const int order = std::memcmp(left.bytes, right.bytes, std::min(left.size, right.size));
    return order != 0                ? order < 0
           : left.size != right.size ? left.size < right.size
                                     : a.id < b.id;
  });
  std::vector<std::uint32_t> ids;
  ids.reserve(items.size());
  for (const Item &item : items)
    ids.push_back(item.id);
  return ids;
}

} // namespace pretok
