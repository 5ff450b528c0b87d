// Reads a tokenizer file.
#pragma once

#include "formats/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pretok {

// InputFile copies bytes of the file. It does not map the file into memory: if another process
// truncates a mapped file, reading the mapping crashes.
class InputFile final : public ByteSource {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  // Opens the file with a path in UTF-8. Returns "", or the reason why it failed. Opens regular
  // files only, and does not block on a FIFO. Call `open` once.
  std::string open(const char *path);

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override;

  // Returns the reason why a call of `read` failed, or "" if none failed.
  std::string read_error() const;

private:
  int descriptor_ = -1;
  int error_ = 0;        // the error number of the last read that failed
  std::uint64_t at_ = 0; // the position of the descriptor in the file
  std::uint64_t size_ = 0;
};

} // namespace pretok
