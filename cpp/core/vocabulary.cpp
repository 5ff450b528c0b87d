#include "vocabulary.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace pretok {
namespace {

std::size_t longest(const VocabularyData &data) {
  return *std::max_element(data.lengths.begin(), data.lengths.end());
}

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
  for (std::size_t i = 0; i < data.mergeable; ++i) {
    const TokenView token = tokens_[data.ids[i]];
    if (data.ignore_merges) {
      whole_.insert(token.bytes, token.size, data.ids[i]);
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
  if (std::count(byte_ids_.begin(), byte_ids_.end(), NO_ID) != 0)
    return "a byte has no token";
  return nullptr;
}

void Vocabulary::pairs_from_ranks(const VocabularyData &data) {
  whole_.reset(data.mergeable);
  for (std::size_t i = 0; i < data.mergeable; ++i)
    whole_.insert(tokens_[data.ids[i]].bytes, tokens_[data.ids[i]].size, data.ids[i]);
  std::vector<std::uint32_t> order(
      data.ids.begin(), data.ids.begin() + static_cast<std::ptrdiff_t>(data.mergeable));
  std::sort(order.begin(), order.end());
  pairs_.reset(data.mergeable);
  std::vector<std::uint32_t> parts(longest(data));
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
    for (std::uint32_t cut = 1; cut < token.size; ++cut) {
      const std::uint8_t *end = token.bytes + token.size;
      const std::uint32_t left = whole_.find(token.bytes, cut, end);
      const std::uint32_t right = whole_.find(token.bytes + cut, token.size - cut, end);
      if (left != NO_ID && right != NO_ID)
        insert(left, right, {id, id});
    }
  }
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
  const auto order = [this](const PairTable::Entry &entry) {
    return std::make_tuple(entry.merged.rank,
                           token(static_cast<std::uint32_t>(entry.pair >> 32)).size);
  };
  std::sort(found.begin(), found.end(),
            [&order](const auto &a, const auto &b) { return order(a) < order(b); });
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
      const std::size_t next = tokens_[ids[kept]].size;
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
        done -= tokens_[to[--count]].size;
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
    merge_long(ids, pairs_);
}

// Whether the bytes of the two merge into the two.
bool Vocabulary::stay_apart(std::uint32_t left, std::uint32_t right) const {
  std::vector<std::uint8_t> both(tokens_[left].bytes, tokens_[left].bytes + tokens_[left].size);
  both.insert(both.end(), tokens_[right].bytes, tokens_[right].bytes + tokens_[right].size);
  std::vector<std::uint32_t> ids;
  merge_window(both.data(), both.size(), ids);
  return ids.size() == 2 && ids[0] == left && ids[1] == right;
}

} // namespace pretok
