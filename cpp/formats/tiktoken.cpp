#include "formats/tiktoken.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "formats/rank_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

constexpr std::size_t MAX_RANK_DIGITS = 9;

// One line of a rank file.
struct RankLine {
  std::vector<std::uint8_t> token;
  std::uint32_t rank = 0;
};

// Removes the first line from `text`, and returns it without its line end.
std::string_view next_line(std::string_view &text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  return line;
}

// Reads one line. Returns the problem of the line, or "".
std::string read_line(std::string_view line, RankLine &to) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space + 1 == line.size())
    return quote(line) + " has no rank; expected base64, a space and a number";
  const std::string_view digits = line.substr(space + 1);
  to.rank = 0;
  bool is_rank = digits.size() <= MAX_RANK_DIGITS;
  for (std::size_t i = 0; is_rank && i < digits.size(); ++i) {
    is_rank = digits[i] >= '0' && digits[i] <= '9';
    to.rank = to.rank * 10 + static_cast<std::uint32_t>(digits[i] - '0');
  }
  if (!is_rank || to.rank >= ID_LIMIT)
    return "the rank is " + quote(digits) + "; expected a number from 0 to " +
           std::to_string(ID_LIMIT - 1);
  const std::string_view text = line.substr(0, space);
  to.token.clear();
  if (text.empty() || text == "=") // an empty token
    return "";
  to.token.resize(text.size());
  const auto *first = reinterpret_cast<const std::uint8_t *>(text.data());
  to.token.resize(decode_base64(first, first + text.size(), to.token.data()));
  return to.token.empty() ? quote(text) + " is not base64" : "";
}

// Reads a rank file line by line, if read_rank_file does not read it. Accepts variants of the
// format, and reports the first line with an error.
class RankLines {
public:
  LoadError read(std::string_view text) {
    RankLine line;
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::string_view next = next_line(text);
      if (next.empty())
        continue;
      const std::string line_error = read_line(next, line);
      if (!line_error.empty())
        return at_line(number, line_error);
      places_.push_back({bytes_.size(), line.token.size(), line.rank, number});
      bytes_.insert(bytes_.end(), line.token.begin(), line.token.end());
    }
    return places_.empty()
               ? malformed("no line has a token and its rank; expected a rank file of tiktoken")
               : check();
  }

  void move_to(VocabularyData &data) {
    for (const Place &place : places_) {
      if (place.size == 0) // omit an empty token; Whisper's file has one
        continue;
      data.lengths.push_back(static_cast<std::uint32_t>(place.size));
      data.ids.push_back(place.rank);
    }
    data.bytes = std::move(bytes_);
  }

private:
  // A token: bytes_[start..start + size), its rank, and the number of its line.
  struct Place {
    std::size_t start;
    std::size_t size;
    std::uint32_t rank;
    std::size_t line;
  };

  std::string_view token(const Place &place) const {
    return {reinterpret_cast<const char *>(bytes_.data()) + place.start, place.size};
  }

  // Returns an error if two lines have the same rank or the same token.
  LoadError check() const {
    std::vector<Place> sorted = places_;
    const auto find_equal = [&](auto less) {
      std::sort(sorted.begin(), sorted.end(), [&](const Place &a, const Place &b) {
        return less(a, b) || (!less(b, a) && a.line < b.line);
      });
      return std::adjacent_find(sorted.begin(), sorted.end(),
                                [&](const Place &a, const Place &b) { return !less(a, b); });
    };
    auto repeated = find_equal([](const Place &a, const Place &b) { return a.rank < b.rank; });
    if (repeated != sorted.end())
      return at_line(repeated[1].line, "rank " + std::to_string(repeated->rank) +
                                           " is already on line " +
                                           std::to_string(repeated->line));
    repeated = find_equal([&](const Place &a, const Place &b) { return token(a) < token(b); });
    if (repeated != sorted.end())
      return at_line(repeated[1].line, "token " + quote(token(*repeated)) +
                                           " is already on line " +
                                           std::to_string(repeated->line));
    return {};
  }

  static LoadError at_line(std::size_t number, const std::string &problem) {
    return malformed("line ", number, ": ", problem, "; the file is damaged");
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<Place> places_;
};

} // namespace

bool looks_like_ranks(const std::uint8_t *data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data),
                        std::min(size, std::size_t{1} << 16));
  RankLine line;
  for (int seen = 0; seen < 3 && !text.empty();) {
    const std::string_view next = next_line(text);
    if (!next.empty() && read_line(next, line).empty())
      return true;
    seen += next.empty() ? 0 : 1;
  }
  return false;
}

LoadError read_tiktoken(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec) {
  VocabularyData &vocabulary = spec.vocabulary;
  RankFile file;
  if (read_rank_file(data, size, file)) {
    vocabulary.bytes = std::move(file.bytes);
    vocabulary.lengths = std::move(file.lengths);
    vocabulary.ids = std::move(file.ids);
  } else {
    RankLines lines;
    if (LoadError error = lines.read({reinterpret_cast<const char *>(data), size}))
      return error;
    lines.move_to(vocabulary);
  }
  vocabulary.mergeable = vocabulary.ids.size();
  spec.why_no_preset = "a rank file does not say how to split text";
  return {};
}

} // namespace pretok
