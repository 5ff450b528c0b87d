// Turns the bytes of a fuzz input into choices, and stops the program if a check fails.
#pragma once

#include "core/base/count_steps.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace pretok {

// Prints `property` and aborts unless `holds`; a fuzzer records the abort.
inline void check(bool holds, const char *property) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

inline void reset_steps() {
#ifdef PRETOK_COUNT_STEPS
  counted_steps = 0;
#endif
}

// Returns the steps since the last reset, or 0 if the build does not count steps.
inline std::size_t steps() {
#ifdef PRETOK_COUNT_STEPS
  return counted_steps;
#else
  return 0;
#endif
}

// Returns the bytes of an input one after the other, and zeros after its end.
class Input {
public:
  Input(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  bool coin() { return (byte() & 1) != 0; }
  // Returns a number less than `limit`, which is at most 256.
  std::size_t below(std::size_t limit) { return byte() % limit; }
  // Returns the length of a chain of normalizers or decoders: 0 to 3, or sometimes up to 256.
  std::size_t chain_length() {
    const std::uint8_t choice = byte();
    return choice < 0xC0 ? choice % 4U : std::size_t{1} + byte();
  }
  std::uint32_t word() {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
      word = word << 8 | byte();
    return word;
  }
  // Returns the number of bytes that are left.
  std::size_t left() const { return size_ - at_; }
  // Returns true for about one in `interval` inputs. Targets run slow checks only for these
  // inputs. The result depends on a hash of all bytes of the input, so a fuzzer cannot learn to
  // produce slow inputs.
  bool is_one_in(std::uint32_t interval) const {
    std::uint32_t hash = 0;
    for (std::size_t i = 0; i < size_; ++i)
      hash = (hash ^ data_[i]) * 0x01000193;
    return (hash >> 8) % interval == 0;
  }

  // Returns the next `size` bytes, or all bytes that are left. The allocation has exactly the
  // size of the result, so a sanitizer catches reads after the end.
  std::vector<std::uint8_t> take(std::size_t size) {
    size = size < left() ? size : left();
    const std::vector<std::uint8_t> taken(data_ + at_, data_ + at_ + size);
    at_ += size;
    return taken;
  }
  std::vector<std::uint8_t> rest() { return take(left()); }

  // Returns a text made from all bytes that are left. Random bytes are seldom UTF-8, so most
  // bytes choose an element of PARTS. Each element of PARTS matters to some rule. After a byte
  // 0, text() copies the next byte to the text.
  std::vector<std::uint8_t> text() {
    static const std::string PARTS[] = {"a",
                                        "b",
                                        "s",
                                        "t",
                                        "S",
                                        "A",
                                        "word",
                                        "The",
                                        "re",
                                        "ll",
                                        "1",
                                        "23",
                                        "4567",
                                        " ",
                                        "  ",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        "'",
                                        "'s",
                                        "'LL",
                                        "/",
                                        ".",
                                        "--",
                                        "<",
                                        "<x>",
                                        "|>",
                                        "_",
                                        "\xC3\xA9",
                                        "\xC3\x89",
                                        "\xC5\xBF",
                                        "\xCA\xB0",
                                        "\xCC\x81",
                                        "\xC2\xA0",
                                        "\xD0\xBE",
                                        "\xD9\xA3",
                                        "\xE0\xA4\x95",
                                        "\xE0\xA4\xBF",
                                        "\xE4\xB8\xAD",
                                        "\xE1\x84\x81",
                                        "\xE3\x80\x80",
                                        "\xE3\x80\x87",
                                        "\xE3\x81\x82",
                                        "\xED\x95\x9C",
                                        "\xE2\x84\xAA",
                                        "\xE2\x80\xA8",
                                        "\xF0\x9F\x98\x80",
                                        "\xF0\x9D\x9F\x99",
                                        "\xF0\x90\x90\x80",
                                        "\xF0\xA0\x80\x80",
                                        "\xEF\xBF\xBD",
                                        "\xED\xA0\x80",
                                        "\xE4",
                                        "\xB8",
                                        "\xFF",
                                        "\xF0\x9F"};
    constexpr std::size_t PART_COUNT = sizeof PARTS / sizeof *PARTS;
    std::vector<std::uint8_t> text;
    while (left() != 0) {
      const std::uint8_t choice = byte();
      if (choice == 0) {
        text.push_back(byte());
        continue;
      }
      // Large bytes repeat a part, because most rules match runs.
      const std::string &part = PARTS[choice % PART_COUNT];
      for (std::size_t times = choice < 4 * PART_COUNT ? 1 : 2 + byte() % 40U; times != 0;
           --times)
        text.insert(text.end(), part.begin(), part.end());
    }
    text.shrink_to_fit();
    return text;
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

} // namespace pretok

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
