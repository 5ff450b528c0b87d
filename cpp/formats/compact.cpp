#include "compact.hpp"

#include "crc32.hpp"
#include "faults.hpp"
#include "presets.hpp"
#include "program.hpp"
#include "rank_file.hpp"
#include "unicode.hpp"
#include "vocabulary.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

constexpr char COMPACT_MAGIC[] = "\x89PRETOK\n";
constexpr std::uint32_t COMPACT_VERSION = 1;
constexpr std::size_t COMPACT_HEAD = 16; // magic, version, CRC-32 of all behind it

struct CompactFlag {
  enum : std::uint32_t {
    FROM_RANKS = 1,
    IGNORE_MERGES = 2,
    NFC = 4,
    ADD_PREFIX_SPACE = 8,
    OWN_PRESET = 16,
    ALL = 31
  };
};
struct CompactTokenFlag {
  enum : std::uint32_t {
    SPECIAL = 1,
    NORMALIZED = 2,
    LSTRIP = 4,
    RSTRIP = 8,
    SINGLE_WORD = 16,
    ALL = 31
  };
};

std::uint32_t little_endian(const std::uint8_t *bytes, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | bytes[i];
  return number;
}

// Reads from `at` on. What reads returns false once there is a fault.
class CompactReader {
public:
  CompactReader(const std::uint8_t *data, std::size_t size, std::size_t at)
      : data_(data), size_(size), at_(at) {}

  Fault &fault() { return fault_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return size_ - at_; }
  const std::uint8_t *here() const { return data_ + at_; }

  bool skip(std::size_t size) {
    if (size > left())
      return wrong("ends too early");
    at_ += size;
    return true;
  }

  // Seven bits in each byte, the lowest first; all but the last have the eighth. No byte more
  // than are needed.
  bool number(std::uint32_t &found) {
    std::uint64_t read = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (at_ == size_)
        return wrong("ends too early");
      const std::uint8_t byte = data_[at_++];
      read |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        found = static_cast<std::uint32_t>(read);
        return (byte != 0 || shift == 0) && read <= 0xFFFFFFFF
                   ? true
                   : wrong("has a number that is not written as it is to be");
      }
    }
    return wrong("has a number of more than 32 bits");
  }

  // A number of things, each of at least `least` bytes: fewer than there is room for.
  bool count(std::size_t least, std::uint32_t &found) {
    return number(found) &&
           (found <= left() / least || wrong("says that there are " + std::to_string(found) +
                                             " of what it has no room for"));
  }

  bool text(std::string_view &found) {
    std::uint32_t size = 0;
    if (!count(1, size))
      return false;
    found = {reinterpret_cast<const char *>(here()), size};
    at_ += size;
    return is_utf8(found) || wrong("has text that is not UTF-8");
  }

  bool id(std::uint32_t &found) {
    return number(found) && (found < ID_LIMIT || wrong("has an id that is too large"));
  }

  bool wrong(const std::string &what) {
    fault_ = malformed("the file " + what + ", at offset " + std::to_string(at_) +
                       "; it was not written by pretok");
    return false;
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  std::size_t at_;
  Fault fault_;
};

bool read_ids(CompactReader &reader, std::vector<std::uint32_t> &ids) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  ids.resize(count);
  return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t &id) { return reader.id(id); });
}

bool read_program(CompactReader &reader, Model &model) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  model.program.resize(count);
  for (std::uint32_t &word : model.program)
    if (!reader.number(word))
      return false;
  std::vector<StageProgram> stages;
  const char *wrong = read_stages(model.program.data(), model.program.size(), stages);
  return wrong == nullptr || reader.wrong(std::string("has a split of its own: ") + wrong);
}

bool read_split(CompactReader &reader, bool is_own, Model &model) {
  std::string_view name;
  std::string_view unicode;
  if (!reader.text(name) || !reader.text(unicode))
    return false;
  if (unicode_table(unicode).size == 0) {
    reader.fault() = unsupported("the file says Unicode " + shown(unicode) +
                                 ", of which there are no tables here");
    return false;
  }
  model.unicode = unicode;
  if (is_own)
    return read_program(reader, model);
  const Preset *found = find_preset(name);
  // By its name, not by an alias.
  if (found != nullptr && name == found->name)
    model.preset = name;
  else
    model.why_no_preset =
        "the file says preset " + shown(name) + ", which this version of pretok does not have";
  return true;
}

bool read_added(CompactReader &reader, Model &model) {
  std::uint32_t count = 0;
  if (!reader.count(3, count))
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    AddedToken token;
    std::string_view content;
    std::uint32_t flags = 0;
    if (!reader.text(content) || !reader.id(token.id) || !reader.number(flags))
      return false;
    if (flags > CompactTokenFlag::ALL)
      return reader.wrong("has an added token with unknown flags");
    token.content = content;
    token.normalized = (flags & CompactTokenFlag::NORMALIZED) != 0;
    token.lstrip = (flags & CompactTokenFlag::LSTRIP) != 0;
    token.rstrip = (flags & CompactTokenFlag::RSTRIP) != 0;
    token.single_word = (flags & CompactTokenFlag::SINGLE_WORD) != 0;
    model.added.push_back(std::move(token));
    model.added_special.push_back((flags & CompactTokenFlag::SPECIAL) != 0);
  }
  return true;
}

// The tokens, each known by its place among them, and what merges them.
class CompactTokens {
public:
  CompactTokens(CompactReader &reader, VocabularyData &data) : reader_(reader), data_(data) {}

  bool read() {
    std::uint32_t merge_count = 0;
    if (!read_literals() || !reader_.number(merge_count) || !read_repeated(merge_count))
      return false;
    token_count_ = data_.lengths.size() + merge_count - repeated_.size();
    if (token_count_ > ID_LIMIT)
      return reader_.wrong("has more tokens than there can be");
    width_ = token_count_ <= 1 << 8 ? 1 : token_count_ <= 1 << 16 ? 2 : 3;
    if (merge_count > reader_.left() / (2 * width_))
      return reader_.wrong("says that there are merges for which it has no room");
    const std::uint8_t *const merges = reader_.here();
    if (!reader_.skip(merge_count * 2 * width_) || !read_runs())
      return false;
    return width_ == 1   ? make<1>(merges, merge_count)
           : width_ == 2 ? make<2>(merges, merge_count)
                         : make<3>(merges, merge_count);
  }

private:
  struct Repeated {
    std::uint32_t rank;
    std::uint32_t place; // of the token that this merge makes again
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
        return reader_.wrong("has a token of no bytes, or of more than there are");
    }
    data_.bytes.assign(reader_.here(), reader_.here() + size);
    return reader_.skip(size);
  }

  // The merges that make a token which is there already.
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
        return reader_.wrong("names a merge that is not there");
      repeated_.push_back({static_cast<std::uint32_t>(next++), place});
    }
    return !data_.from_ranks || count == 0 || reader_.wrong("has merges that ranks make twice");
  }

  // The ids, as runs of ids that follow each other.
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
        return reader_.wrong("has ids that are not written as they are to be");
      end = start + length;
      for (std::uint32_t id = start; id < end; ++id)
        data_.ids.push_back(id);
    }
    if (data_.ids.size() != token_count_ || token_count_ == 0)
      return reader_.wrong("has not as many ids as tokens");
    return reader_.left() == 0 ? differ() : reader_.wrong("goes on behind its end");
  }

  bool differ() {
    std::vector<bool> seen(std::size_t{*std::max_element(data_.ids.begin(), data_.ids.end())} +
                           1);
    for (const std::uint32_t id : data_.ids) {
      if (seen[id])
        return reader_.wrong("has two tokens with id " + std::to_string(id));
      seen[id] = true;
    }
    return true;
  }

  template <std::size_t WIDTH>
  bool make(const std::uint8_t *merges, std::uint32_t merge_count) {
    if (!find_places<WIDTH>(merges, merge_count))
      return false;
    data_.bytes.resize(starts_.back());
    std::uint8_t *const bytes = data_.bytes.data();
    std::size_t next = literal_count_;
    for (const Merge &merge : data_.merges) {
      const auto [left, right, made] = merge;
      const std::size_t first = starts_[left + 1] - starts_[left];
      const std::size_t last = starts_[right + 1] - starts_[right];
      std::uint8_t *const to = bytes + starts_[made];
      if (made == next) {
        std::memcpy(to, bytes + starts_[left], first);
        std::memcpy(to + first, bytes + starts_[right], last);
        ++next;
      } else if (starts_[made + 1] - starts_[made] != first + last ||
                 std::memcmp(to, bytes + starts_[left], first) != 0 ||
                 std::memcmp(to + first, bytes + starts_[right], last) != 0) {
        return reader_.wrong("has a merge that does not make the token it names");
      }
    }
    for (Merge &merge : data_.merges)
      merge = {data_.ids[merge.left], data_.ids[merge.right], data_.ids[merge.id]};
    data_.mergeable = data_.ids.size();
    return !data_.from_ranks || tokens_differ(data_.bytes, data_.lengths) ||
           reader_.wrong("has ranks, and two tokens of the same bytes");
  }

  // Reads the merges, of places of tokens, and where the bytes of each token are.
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
    auto repeated = repeated_.begin();
    for (std::uint32_t rank = 0; rank < merge_count; ++rank, merges += 2 * WIDTH) {
      const std::uint32_t left = little_endian(merges, WIDTH);
      const std::uint32_t right = little_endian(merges + WIDTH, WIDTH);
      const auto known = static_cast<std::uint32_t>(data_.lengths.size());
      const bool again = repeated != repeated_.end() && repeated->rank == rank;
      const std::uint32_t made = again ? repeated++->place : known;
      if (left >= known || right >= known || (again && made >= known))
        return reader_.wrong("merges a token before it is there");
      data_.merges.push_back({left, right, made});
      if (again)
        continue;
      const std::uint32_t length = data_.lengths[left] + data_.lengths[right];
      if (length > COMPACT_MOST_MADE)
        return reader_.wrong("makes a token that is too long of two others");
      data_.lengths.push_back(length);
      starts_.push_back(static_cast<std::uint32_t>(end));
      end += length;
    }
    starts_.push_back(static_cast<std::uint32_t>(end));
    return end < UINT32_MAX || reader_.wrong("has tokens of more than 4 GiB");
  }

  CompactReader &reader_;
  VocabularyData &data_;
  std::size_t literal_count_ = 0;
  std::vector<std::uint32_t> starts_; // of the bytes of each token, and their end
  std::vector<Repeated> repeated_;
  std::size_t token_count_ = 0;
  std::size_t width_ = 1;
};

bool read_all(CompactReader &reader, Model &model) {
  std::uint32_t flags = 0;
  if (!reader.number(flags))
    return false;
  if (flags > CompactFlag::ALL)
    return reader.wrong("has unknown flags");
  model.nfc = (flags & CompactFlag::NFC) != 0;
  model.add_prefix_space = (flags & CompactFlag::ADD_PREFIX_SPACE) != 0;
  model.vocabulary.from_ranks = (flags & CompactFlag::FROM_RANKS) != 0;
  model.vocabulary.ignore_merges = (flags & CompactFlag::IGNORE_MERGES) != 0;
  if (model.vocabulary.from_ranks && !model.vocabulary.ignore_merges)
    return reader.wrong("has ranks, but says that they do not count for whole tokens");
  return read_split(reader, (flags & CompactFlag::OWN_PRESET) != 0, model) &&
         read_ids(reader, model.before) && read_ids(reader, model.after) &&
         read_added(reader, model) && CompactTokens(reader, model.vocabulary).read();
}

} // namespace

bool is_compact(const std::uint8_t *data, std::size_t size) {
  return size >= 8 && std::memcmp(data, COMPACT_MAGIC, 8) == 0;
}

Fault read_compact(const std::uint8_t *data, std::size_t size, Model &model) {
  if (size < COMPACT_HEAD)
    return malformed("the file has " + std::to_string(size) +
                     " bytes, fewer than its head; it is cut off");
  const std::uint32_t version = little_endian(data + 8, 4);
  if (version != COMPACT_VERSION)
    return unsupported("this is version " + std::to_string(version) + " of the .pretok file; " +
                       std::to_string(COMPACT_VERSION) +
                       " is read, so save the tokenizer again with this version of pretok");
  if (crc32(data + COMPACT_HEAD, size - COMPACT_HEAD) != little_endian(data + 12, 4))
    return malformed("the file does not have the CRC-32 that it says; it is damaged or cut "
                     "off, so get it again");
  CompactReader reader(data, size, COMPACT_HEAD);
  read_all(reader, model);
  return std::move(reader.fault());
}

Fault read_compact_tokens(const std::uint8_t *data, std::size_t size, std::size_t at,
                          VocabularyData &vocabulary) {
  CompactReader reader(data, size, at);
  CompactTokens(reader, vocabulary).read();
  return std::move(reader.fault());
}

} // namespace pretok
