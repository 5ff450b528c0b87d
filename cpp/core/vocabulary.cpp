#include "vocabulary.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

std::size_t longest(const VocabularyData &data) {
  return *std::max_element(data.lengths.begin(), data.lengths.end());
}

// The ids of what can be merged, ascending.
std::vector<std::uint32_t> in_order(const VocabularyData &data) {
  const auto end = data.ids.begin() + static_cast<std::ptrdiff_t>(data.mergeable);
  std::vector<std::uint32_t> ids(data.ids.begin(), end);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Trainers that see only text may leave out the bytes that no UTF-8 has.
bool is_in_utf8(std::size_t byte) { return byte != 0xC0 && byte != 0xC1 && byte < 0xF5; }

} // namespace

const char *Vocabulary::build(VocabularyData &&data) {
  bytes_ = std::move(data.bytes);
  if (const char *wrong = place_tokens(data))
    return wrong;
  if (data.from_ranks) {
    pairs_from_ranks(data);
    return nullptr;
  }
  if (const char *wrong = pairs_from_merges(data))
    return wrong;
  whole_.reset(data.mergeable);
  std::vector<std::uint32_t> parts(longest(data));
  for (const std::uint32_t id : in_order(data)) {
    const TokenView token = tokens_[id];
    if (data.ignore_merges) {
      whole_.insert(token.bytes, token.size, id); // the lowest of equal tokens
      continue;
    }
    // Looking up is for speed only here: merging must come to the same.
    if (merge(token.bytes, token.size, parts.data()) == 1)
      whole_.insert(token.bytes, token.size, parts[0]);
  }
  return nullptr;
}

const char *Vocabulary::place_tokens(const VocabularyData &data) {
  if (data.ids.size() != data.lengths.size() || data.mergeable > data.ids.size())
    return "as many ids as lengths expected";
  std::size_t start = 0;
  byte_ids_.fill(NO_ID);
  for (std::size_t i = 0; i < data.ids.size(); ++i) {
    const std::uint32_t id = data.ids[i];
    const std::uint32_t size = data.lengths[i];
    if (id >= ID_LIMIT)
      return "an id is too large";
    if (size == 0 || size > bytes_.size() - start)
      return "a token is empty, or longer than the bytes given";
    if (id >= tokens_.size())
      tokens_.resize(std::size_t{id} + 1);
    if (tokens_[id].bytes != nullptr)
      return "two tokens have one id";
    tokens_[id] = {bytes_.data() + start, size};
    if (size == 1 && i < data.mergeable)
      byte_ids_[bytes_[start]] = std::min(byte_ids_[bytes_[start]], id);
    start += size;
  }
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte)
    if (byte_ids_[byte] == NO_ID && (data.from_ranks || is_in_utf8(byte)))
      return "a byte has no token";
  return nullptr;
}

void Vocabulary::pairs_from_ranks(const VocabularyData &data) {
  whole_.reset(data.mergeable);
  const std::vector<std::uint32_t> order = in_order(data);
  for (const std::uint32_t id : order)
    whole_.insert(tokens_[id].bytes, tokens_[id].size, id);
  pairs_.reset(data.mergeable);
  std::vector<std::uint32_t> parts(longest(data));
  std::vector<std::uint8_t> both;
  for (const std::uint32_t id : order) {
    const TokenView token = tokens_[id];
    if (token.size == 1)
      continue;
    // All lower ranks are in the table, and only those. If they merge the token's bytes into
    // two parts, then these are what makes the token, wherever it is made: nothing that a token
    // is made of has merged with what is around it, so its bytes merge as they do by
    // themselves.
    if (merge(token.bytes, token.size, parts.data()) == 2) {
      insert(parts[0], parts[1], {id, id});
      continue;
    }
    // Otherwise, of the two that its bytes come to with all ranks but its own, if they are two.
    std::vector<std::uint32_t> symbols(token.size);
    for (std::uint32_t i = 0; i < token.size; ++i)
      symbols[i] = byte_ids_[token.bytes[i]];
    merge_long(symbols, [&](std::uint32_t left, std::uint32_t right) {
      const std::uint32_t result = joined(left, right, both);
      return result == NO_ID || result == id ? Merged{NO_RANK, NO_ID} : Merged{result, result};
    });
    if (symbols.size() == 2)
      insert(symbols[0], symbols[1], {id, id});
  }
}

void Vocabulary::put_both(std::uint32_t left, std::uint32_t right,
                          std::vector<std::uint8_t> &both) const {
  both.assign(tokens_[left].bytes, tokens_[left].bytes + tokens_[left].size);
  both.insert(both.end(), tokens_[right].bytes, tokens_[right].bytes + tokens_[right].size);
}

// The token that has the bytes of both, or NO_ID.
std::uint32_t Vocabulary::joined(std::uint32_t left, std::uint32_t right,
                                 std::vector<std::uint8_t> &both) const {
  put_both(left, right, both);
  return whole_.find(both.data(), both.size(), both.data() + both.size());
}

const char *Vocabulary::pairs_from_merges(const VocabularyData &data) {
  pairs_.reset(data.merges.size());
  std::uint32_t rank = 0;
  for (const Merge &merge : data.merges) {
    const TokenView left = token(merge.left);
    const TokenView right = token(merge.right);
    const TokenView result = token(merge.id);
    if (left.bytes == nullptr || right.bytes == nullptr || result.bytes == nullptr ||
        left.size + right.size != result.size ||
        !std::equal(left.bytes, left.bytes + left.size, result.bytes) ||
        !std::equal(right.bytes, right.bytes + right.size, result.bytes + left.size))
      return "a merge names tokens that do not fit each other";
    insert(merge.left, merge.right, {rank++, merge.id});
  }
  return nullptr;
}

void Vocabulary::insert(std::uint32_t left, std::uint32_t right, Merged merged) {
  pairs_.insert(left, right, merged);
  const TokenView a = tokens_[left];
  const TokenView b = tokens_[right];
  if (a.size == 1 && b.size == 1 && byte_ids_[*a.bytes] == left && byte_ids_[*b.bytes] == right)
    pairs_.insert_bytes(*a.bytes, *b.bytes, merged);
}

std::vector<Merge> Vocabulary::merges() const {
  std::vector<PairTable::Entry> found;
  for (const PairTable::Entry &entry : pairs_.entries())
    if (!PairTable::is_free(entry))
      found.push_back(entry);
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a.merged.rank < b.merged.rank; });
  std::vector<Merge> result;
  result.reserve(found.size());
  for (const PairTable::Entry &entry : found)
    result.push_back({static_cast<std::uint32_t>(entry.pair >> 32),
                      static_cast<std::uint32_t>(entry.pair), entry.merged.id});
  return result;
}

// Ids t1 t2 … tn are what their bytes merge into if each two neighbours are what the bytes of
// these two merge into. For think of the first merge that crosses a boundary between two of
// them: until then, and so also then, all that happened within the two is what happens to them
// by themselves, where nothing crosses. For the same reason, neighbours that merging left are
// such a pair. So a long pre-token can be merged in windows: what a window becomes counts, but
// for its end, which might merge with what follows, if it and what comes before it stay apart.
// If they do not, a larger window that begins earlier settles it. Memory is that of a window.
std::size_t Vocabulary::merge_many(const std::uint8_t *bytes, std::size_t size,
                                   std::uint32_t *to) const {
  std::vector<std::uint32_t> ids;
  std::size_t done = 0;  // bytes
  std::size_t count = 0; // ids
  std::size_t window = SHORT;
  std::size_t settled = 0; // up to where a larger window is needed
  std::size_t last =
      0; // where the window was that has `ids`, and its size: in a long run of one
  std::size_t last_size = 0;                                   // character all are alike
  std::pair<std::uint32_t, std::uint32_t> apart{NO_ID, NO_ID}; // that were found to stay so
  while (done < size) {
    const std::size_t taken = std::min(window, size - done);
    if (taken != last_size || std::memcmp(bytes + last, bytes + done, taken) != 0)
      merge_window(bytes + done, taken, ids);
    last = done;
    last_size = taken;
    const bool at_end = taken == size - done;
    std::size_t kept = 0;
    std::size_t length = 0;
    std::size_t longest_kept = 0;
    while (kept < ids.size()) {
      const std::size_t next = width(ids[kept]);
      if (!at_end && length + next > window / 4 * 3)
        break;
      longest_kept = std::max(longest_kept, next);
      length += next;
      ++kept;
    }
    if (kept != 0 && count != 0 && apart != std::make_pair(to[count - 1], ids[0])) {
      apart = {to[count - 1], ids[0]};
      if (!stay_apart(apart.first, apart.second)) {
        apart = {NO_ID, NO_ID};
        kept = 0;
      }
    }
    if (kept == 0) {
      settled = std::max(settled, done + taken);
      for (const std::size_t back = done - std::min(done, window / 2); done > back;)
        done -= width(to[--count]);
      window *= 2;
      continue;
    }
    std::copy(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), to + count);
    count += kept;
    done += length;
    if (done > settled)
      window = std::max(SHORT, 4 * longest_kept);
  }
  return count;
}

void Vocabulary::merge_window(const std::uint8_t *bytes, std::size_t size,
                              std::vector<std::uint32_t> &ids) const {
  if (size >= 0xFFFFFFFF)
    throw std::length_error("4 GiB of text merge only together");
  ids.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    ids[i] = byte_ids_[bytes[i]];
  if (size <= SHORT)
    ids.resize(merge_short(bytes, ids.data(), size, pairs_));
  else
    merge_long(ids, [this](std::uint32_t left, std::uint32_t right) {
      return pairs_.find(left, right);
    });
}

// Whether the bytes of the two merge into the two.
bool Vocabulary::stay_apart(std::uint32_t left, std::uint32_t right) const {
  if (left == NO_ID || right == NO_ID)
    return true;
  std::vector<std::uint8_t> both;
  put_both(left, right, both);
  std::vector<std::uint32_t> ids;
  merge_window(both.data(), both.size(), ids);
  return ids.size() == 2 && ids[0] == left && ids[1] == right;
}

} // namespace pretok
