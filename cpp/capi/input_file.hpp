// A tokenizer file as a ByteSource.
#pragma once

#include "formats/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pretok {

// Copies the bytes instead of mapping the file: if another process truncates a mapped file,
// reading the mapping crashes.
class InputFile final : public ByteSource {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  // Opens a file by its UTF-8 path. Call it once. Returns "" or the reason of a failure.
  // Accepts regular files only, and does not block on a FIFO.
  std::string open(const char *path);

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override;

  // Returns the reason why a read failed, or "" if none failed.
  std::string read_error() const;

private:
  int descriptor_ = -1;
  int error_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t size_ = 0;
};

} // namespace pretok
