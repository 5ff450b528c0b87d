#include "formats/pretok_file_reader.hpp"

#include "core/base/ids.hpp"
#include "formats/pretok_file.hpp"
#include "formats/rank_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace pretok {
namespace {

// Reads tokens and merges. The file stores the bytes of some tokens, which are called literals.
// All other tokens are results of merges. A merge names tokens by their index. Literals have
// the first indices, and then come the results, in the order of their merges.
class TokenReader {
public:
  TokenReader(PretokFileReader &reader, bool has_any_results, VocabularyData &data)
      : reader_(reader), has_any_results_(has_any_results), data_(data) {}

  bool read() {
    std::uint32_t merge_count = 0;
    if (!read_literals() || !reader_.number(merge_count) || !read_repeated(merge_count))
      return false;
    token_count_ = data_.lengths.size() + merge_count - repeated_.size();
    if (token_count_ > ID_LIMIT)
      return reader_.fail("has more than " + std::to_string(ID_LIMIT) + " tokens");
    width_ = token_count_ <= 1 << 8 ? 1 : token_count_ <= 1 << 16 ? 2 : 3;
    if (merge_count > reader_.left() / (2 * width_))
      return reader_.fail("announces " + std::to_string(merge_count) +
                          " merges, more than it can hold");
    const std::uint8_t *const merges = reader_.here();
    if (!reader_.skip(merge_count * 2 * width_) || !read_runs())
      return false;
    return width_ == 1   ? make<1>(merges, merge_count)
           : width_ == 2 ? make<2>(merges, merge_count)
                         : make<3>(merges, merge_count);
  }

private:
  // A merge whose result is a literal, or is also the result of an earlier merge.
  struct Repeated {
    std::uint32_t rank;  // the index of the merge
    std::uint32_t place; // the index of its result
  };

  bool read_literals() {
    std::uint32_t count = 0;
    if (!reader_.count(2, count))
      return false;
    literal_count_ = count;
    data_.lengths.resize(count);
    std::size_t size = 0;
    for (std::uint32_t &length : data_.lengths) {
      if (!reader_.number(length))
        return false;
      size += length;
      if (length == 0 || size > reader_.left())
        return reader_.fail("has an empty token, or a token that is longer than the file");
    }
    data_.bytes.assign(reader_.here(), reader_.here() + size);
    return reader_.skip(size);
  }

  // Reads the repeated merges. For each repeated merge, the file has the number of merges
  // between the previous repeated merge and this merge, and the index of its result.
  bool read_repeated(std::uint32_t merge_count) {
    std::uint32_t count = 0;
    if (!reader_.count(2, count))
      return false;
    repeated_.reserve(count);
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t gap = 0;
      std::uint32_t place = 0;
      if (!reader_.number(gap) || !reader_.number(place))
        return false;
      next += gap;
      if (next >= merge_count)
        return reader_.fail("refers to merge " + std::to_string(next) + ", but has only " +
                            std::to_string(merge_count) + " merges, numbered from 0");
      repeated_.push_back({static_cast<std::uint32_t>(next++), place});
    }
    return !data_.from_ranks || count == 0 ||
           reader_.fail(
               "lists two merges for one token, but flag 1 (ranks) allows one merge per token");
  }

  // Reads the ids. The file stores runs of consecutive ids: the first id and the length.
  bool read_runs() {
    std::uint32_t count = 0;
    if (!reader_.count(2, count))
      return false;
    data_.ids.reserve(token_count_);
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t start = 0;
      std::uint32_t length = 0;
      if (!reader_.number(start) || !reader_.number(length))
        return false;
      if (length == 0 || length > token_count_ - data_.ids.size() || start >= ID_LIMIT ||
          length > ID_LIMIT - start || (i != 0 && start == end))
        return reader_.fail("stores ids non-canonically");
      end = start + length;
      for (std::uint32_t id = start; id < end; ++id)
        data_.ids.push_back(id);
    }
    if (data_.ids.size() != token_count_ || token_count_ == 0)
      return reader_.fail("has different numbers of ids and tokens");
    return reader_.left() == 0 ? check_unique_ids() : reader_.fail("has data after its end");
  }

  bool check_unique_ids() {
    std::vector<bool> seen(std::size_t{*std::max_element(data_.ids.begin(), data_.ids.end())} +
                           1);
    for (const std::uint32_t id : data_.ids) {
      if (seen[id])
        return reader_.fail("has two tokens with id " + std::to_string(id));
      seen[id] = true;
    }
    return true;
  }

  // Writes the bytes of the tokens that merges make. Checks that a repeated merge makes the
  // bytes of its result. WIDTH is the number of bytes of an index in the file.
  template <std::size_t WIDTH>
  bool make(const std::uint8_t *merges, std::uint32_t merge_count) {
    if (!find_places<WIDTH>(merges, merge_count))
      return false;
    data_.bytes.resize(starts_.back());
    std::uint8_t *const bytes = data_.bytes.data();
    std::size_t next = literal_count_;
    for (const Merge &merge : data_.merges) {
      const auto [left, right, result] = merge;
      const std::size_t first = starts_[left + 1] - starts_[left];
      const std::size_t last = starts_[right + 1] - starts_[right];
      std::uint8_t *const to = bytes + starts_[result];
      if (result == next) {
        std::memcpy(to, bytes + starts_[left], first);
        std::memcpy(to + first, bytes + starts_[right], last);
        ++next;
      } else if (!has_any_results_ &&
                 (starts_[result + 1] - starts_[result] != first + last ||
                  std::memcmp(to, bytes + starts_[left], first) != 0 ||
                  std::memcmp(to + first, bytes + starts_[right], last) != 0)) {
        return reader_.fail("has a merge whose two tokens, joined, are not its result");
      }
    }
    for (Merge &merge : data_.merges)
      merge = {data_.ids[merge.left], data_.ids[merge.right], data_.ids[merge.id]};
    data_.mergeable = data_.ids.size();
    return !data_.from_ranks || tokens_differ(data_.bytes, data_.lengths) ||
           reader_.fail(
               "has two tokens with the same bytes, which flag 1 (ranks) does not allow");
  }

  // Reads the merges. Sets the length of each token, and the start of its bytes in data_.bytes.
  template <std::size_t WIDTH>
  bool find_places(const std::uint8_t *merges, std::uint32_t merge_count) {
    data_.lengths.reserve(token_count_);
    data_.merges.reserve(merge_count);
    starts_.reserve(token_count_ + 1);
    std::uint64_t end = 0;
    for (const std::uint32_t length : data_.lengths) {
      starts_.push_back(static_cast<std::uint32_t>(end));
      end += length;
    }
    const std::uint64_t max_end = end + max_merged_bytes(token_count_);
    auto repeated = repeated_.begin();
    for (std::uint32_t rank = 0; rank < merge_count; ++rank, merges += 2 * WIDTH) {
      const std::uint32_t left = little_endian(merges, WIDTH);
      const std::uint32_t right = little_endian(merges + WIDTH, WIDTH);
      const auto token_count = static_cast<std::uint32_t>(data_.lengths.size());
      const bool is_repeated = repeated != repeated_.end() && repeated->rank == rank;
      const std::uint32_t result = is_repeated ? repeated++->place : token_count;
      if (left >= token_count || right >= token_count || (is_repeated && result >= token_count))
        return reader_.fail("has a merge that refers to a later token");
      data_.merges.push_back({left, right, result});
      if (is_repeated)
        continue;
      const std::uint32_t length = data_.lengths[left] + data_.lengths[right];
      if (length > MAX_MERGED_TOKEN_BYTES)
        return reader_.fail("merges a token of more than " +
                            std::to_string(MAX_MERGED_TOKEN_BYTES) + " bytes");
      data_.lengths.push_back(length);
      starts_.push_back(static_cast<std::uint32_t>(end));
      end += length;
      if (end > max_end)
        return reader_.fail("has merges that make tokens of more than " +
                            std::to_string(max_merged_bytes(token_count_)) + " bytes in total");
    }
    starts_.push_back(static_cast<std::uint32_t>(end));
    return end < UINT32_MAX || reader_.fail("has tokens of more than 4 GiB");
  }

  PretokFileReader &reader_;
  bool has_any_results_;
  VocabularyData &data_;
  std::size_t literal_count_ = 0;
  // The start of each token in data_.bytes, and then the end of the last token.
  std::vector<std::uint32_t> starts_;
  std::vector<Repeated> repeated_;
  std::size_t token_count_ = 0;
  std::size_t width_ = 1; // the number of bytes of an index in the file
};

} // namespace

bool read_tokens(PretokFileReader &reader, bool has_any_results, VocabularyData &data) {
  return TokenReader(reader, has_any_results, data).read();
}

} // namespace pretok
