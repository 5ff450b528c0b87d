// Fuzzes the reader of rank files. If the reader accepts a file, the result must have exactly
// the tokens and ranks of the file, and a vocabulary can be built from the result.
#include "formats/rank_file.hpp"
#include "fuzz/files.hpp"
#include "fuzz/rank_lines.hpp"

#include <cstdlib>
#include <string>

namespace {

using namespace pretok;

// Returns a file with lines for up to 15 tokens, with random damage. In some files, lines for
// all 256 bytes come first.
std::string some_file(Input &input) {
  std::string file;
  const std::size_t choice = input.below(8);
  const bool has_carriage_returns = choice == 0;
  std::uint32_t rank = input.byte();
  const auto add = [&](const std::string &token) {
    file += rank_line(token, rank++);
    if (has_carriage_returns)
      file.insert(file.size() - 1, 1, '\r');
  };
  for (int byte = 0; byte < 256 && choice < 2; ++byte)
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
    const std::string contents = some_file(input);
    bytes.assign(contents.begin(), contents.end());
  }
  RankFile file;
  if (!read_rank_file(bytes.data(), bytes.size(), file))
    return 0;
  // Check that the result is consistent: each token has a rank, and no token occurs twice.
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
        "no token occurs twice");
  // Check that each line of the file has the token and the rank that the reader returned.
  const std::string text(bytes.begin(), bytes.end());
  std::size_t at = 0;
  start = 0;
  for (std::size_t i = 0; i < file.ids.size(); ++i) {
    const std::string token = base64(std::string(
        reinterpret_cast<const char *>(file.bytes.data()) + start, file.lengths[i]));
    start += file.lengths[i];
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    check(text.compare(at, token.size() + 1, token + ' ') == 0,
          "the line begins with the token");
    check(std::strtoul(text.c_str() + at + token.size(), nullptr, 10) == file.ids[i],
          "the line ends with the rank");
    at = line_end + 1;
  }
  check(at >= text.size(), "the reader read all lines");
  VocabularyData vocabulary;
  vocabulary.bytes = file.bytes;
  vocabulary.lengths = file.lengths;
  vocabulary.ids = file.ids;
  vocabulary.mergeable = file.ids.size();
  if (!input.is_one_in(256))
    return 0; // Building is slow.
  Vocabulary built;
  check(built.build(std::move(vocabulary)) == nullptr,
        "building a vocabulary from the file succeeds");
  return 0;
}
