#include "core/normalize/symbols.hpp"

#include <algorithm>
#include <utility>

namespace pretok {

Symbols::Symbols(std::vector<std::string> symbols) : sorted_(std::move(symbols)) {
  std::sort(sorted_.begin(), sorted_.end());
  for (const std::string &symbol : sorted_)
    if (!symbol.empty())
      has_first_[static_cast<std::uint8_t>(symbol[0])] = true;
}

std::size_t Symbols::longest(const std::uint8_t *text, std::size_t size) const {
  // sorted_[first..last) are the symbols that begin with text[0..at).
  auto first = sorted_.begin();
  auto last = sorted_.end();
  std::size_t found = 0;
  for (std::size_t at = 0; at < size; ++at) {
    // The byte of a symbol at `at`, or -1 if the symbol ends there. std::string compares bytes
    // as unsigned, and a prefix is less than a longer text, so this key ascends.
    const auto key = [at](const std::string &symbol) {
      return at < symbol.size() ? int{static_cast<std::uint8_t>(symbol[at])} : -1;
    };
    const int byte = text[at];
    first = std::partition_point(first, last,
                                 [&](const std::string &symbol) { return key(symbol) < byte; });
    last = std::partition_point(first, last,
                                [&](const std::string &symbol) { return key(symbol) == byte; });
    if (first == last)
      break;
    if (first->size() == at + 1)
      found = at + 1;
  }
  return found;
}

} // namespace pretok
