// Encodes standard input, and writes the ids as 32-bit numbers in the byte order of the
// processor. Checks that one call and a stream give the same ids, and that the ids decode to
// the text.
#include "pretok.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

template <typename T> T expect(pretok::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: ids FILE PRESET\n");
    return 2;
  }
  const auto tokenizer = expect(pretok::Tokenizer::from_file(arguments[1], arguments[2]));
  std::string text;
  std::vector<std::uint32_t> streamed;
  auto stream = expect(pretok::EncodeStream::of(tokenizer));
  char block[1000];
  while (const std::size_t size = std::fread(block, 1, sizeof block, stdin)) {
    text.append(block, size);
    const auto ids = expect(stream.feed({block, size}));
    streamed.insert(streamed.end(), ids.begin(), ids.end());
  }
  const auto last = expect(stream.finish());
  streamed.insert(streamed.end(), last.begin(), last.end());
  const auto ids = expect(tokenizer.encode(text));
  if (ids != streamed || expect(tokenizer.decode(ids)) != text) {
    std::fprintf(stderr, "a stream gives other ids, or the ids decode to another text\n");
    return 1;
  }
  return std::fwrite(ids.data(), sizeof ids[0], ids.size(), stdout) == ids.size() ? 0 : 1;
}
