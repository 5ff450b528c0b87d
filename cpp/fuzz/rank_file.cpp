// Rank files that nobody has checked: what the reader takes is as it says, and can be used.
#include "formats/rank_file.hpp"
#include "fuzz/files.hpp"
#include "fuzz/rank_lines.hpp"

#include <cstdlib>
#include <string>

namespace {

using namespace pretok;

// A line for some tokens, and often for each byte, damaged.
std::string some_file(Input &input) {
  std::string file;
  const std::size_t kind = input.below(8);
  const bool has_carriage_returns = kind == 0;
  std::uint32_t rank = input.byte();
  const auto add = [&](const std::string &token) {
    file += rank_line(token, rank++);
    if (has_carriage_returns)
      file.insert(file.size() - 1, 1, '\r');
  };
  for (int byte = 0; byte < 256 && kind < 2; ++byte)
    add(std::string(1, static_cast<char>(byte)));
  for (std::size_t left = input.below(16); left != 0; --left) {
    const std::vector<std::uint8_t> token = input.take(1 + input.below(12));
    if (!token.empty())
      add(std::string(token.begin(), token.end()));
  }
  damage(input, file, 0);
  return file;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::vector<std::uint8_t> bytes;
  if (input.below(4) == 0) {
    bytes = input.rest();
  } else {
    const std::string made = some_file(input);
    bytes.assign(made.begin(), made.end());
  }
  RankFile file;
  if (!read_rank_file(bytes.data(), bytes.size(), file))
    return 0;
  // What was read is what is there, line by line.
  check(file.ids.size() == file.lengths.size(), "each token has a rank");
  std::set<std::string> tokens;
  std::size_t start = 0;
  for (std::size_t i = 0; i < file.ids.size(); ++i) {
    check(file.lengths[i] <= file.bytes.size() - start, "tokens are within the bytes");
    const auto *token = reinterpret_cast<const char *>(file.bytes.data()) + start;
    start += file.lengths[i];
    tokens.emplace(token, file.lengths[i]);
  }
  check(start == file.bytes.size() && tokens.size() == file.ids.size(),
        "no token is there twice");
  // So are lines that are written anew.
  const std::string text(bytes.begin(), bytes.end());
  std::size_t at = 0;
  start = 0;
  for (std::size_t i = 0; i < file.ids.size(); ++i) {
    const std::string token = base64(std::string(
        reinterpret_cast<const char *>(file.bytes.data()) + start, file.lengths[i]));
    start += file.lengths[i];
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    check(text.compare(at, token.size() + 1, token + ' ') == 0, "each line has its token");
    check(std::strtoul(text.c_str() + at + token.size(), nullptr, 10) == file.ids[i],
          "each line has its rank");
    at = line_end + 1;
  }
  check(at >= text.size(), "all lines are read");
  VocabularyData vocabulary;
  vocabulary.bytes = file.bytes;
  vocabulary.lengths = file.lengths;
  vocabulary.ids = file.ids;
  vocabulary.mergeable = file.ids.size();
  if (!input.is_one_in(256))
    return 0;
  Vocabulary built;
  check(built.build(std::move(vocabulary)) == nullptr, "what was read can be built");
  return 0;
}
