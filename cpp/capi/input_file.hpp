// A file of a tokenizer, opened to be read from front to back.
#pragma once

#include "formats/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pretok {

// Reads copy bytes: another process may change or truncate the file meanwhile.
class InputFile final : public ByteSource {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  // Opens the file at a path in UTF-8, once. Returns "", or why it cannot be read. Refuses
  // anything but a regular file, and does not wait for the writer of a FIFO.
  std::string open(const char *path);

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override;

  // Why the system could not read, or "".
  std::string fault() const;

private:
  int descriptor_ = -1;
  int error_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t size_ = 0;
};

} // namespace pretok
