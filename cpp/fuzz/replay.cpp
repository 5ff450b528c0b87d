// Runs a target over its corpus, without libFuzzer: a file with an input on each line, in
// hexadecimal; lines that begin with # are comments.
#include "fuzz/input.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

int value_of(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

} // namespace

int main(int count, char **arguments) {
  std::ifstream file(count == 2 ? arguments[1] : "");
  if (!file) {
    std::printf("usage: %s CORPUS\n", arguments[0]);
    return 2;
  }
  std::size_t passed = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::uint8_t> input;
    bool good = line.size() % 2 == 0;
    for (std::size_t i = 0; good && i < line.size(); i += 2) {
      const int high = value_of(line[i]);
      const int low = value_of(line[i + 1]);
      good = high >= 0 && low >= 0;
      input.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    if (!good) {
      std::printf("%s: line %zu is not hexadecimal\n", arguments[1], number);
      return 2;
    }
    input.shrink_to_fit();
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++passed;
  }
  std::printf("%zu passed, 0 failed\n", passed);
  return passed != 0 ? 0 : 1;
}
