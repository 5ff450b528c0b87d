// Runs a fuzz target over a corpus, without libFuzzer. A corpus is a file with one input in
// hexadecimal per line. Lines that begin with # are comments.
#include "fuzz/input.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

// Returns the value of a hexadecimal digit, or -1.
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
  std::size_t line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::uint8_t> input;
    bool is_hexadecimal = line.size() % 2 == 0;
    for (std::size_t i = 0; is_hexadecimal && i < line.size(); i += 2) {
      const int high = value_of(line[i]);
      const int low = value_of(line[i + 1]);
      is_hexadecimal = high >= 0 && low >= 0;
      input.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    if (!is_hexadecimal) {
      std::printf("%s: line %zu is not hexadecimal\n", arguments[1], line_number);
      return 2;
    }
    input.shrink_to_fit();
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++passed;
  }
  std::printf("%zu passed, 0 failed\n", passed);
  return passed != 0 ? 0 : 1;
}
