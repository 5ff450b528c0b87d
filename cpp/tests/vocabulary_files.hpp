// Checks of the readers of vocabulary files. An intact file must give its tokenizer. A
// truncated or changed file must give an error, or a tokenizer that works. The memory of each
// reader must stay proportional to the file.
//
// Include it in only one source of a program, because it defines operator new.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/byte_source.hpp"
#include "formats/make_tokenizer.hpp"
#include "formats/read_spec.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

std::size_t allocated = 0; // the bytes allocated since a test last set it to 0

void *operator new(std::size_t size) {
  allocated += size;
  if (void *memory = std::malloc(size != 0 ? size : 1))
    return memory;
  std::abort();
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void *operator new[](std::size_t size) { return operator new(size); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void operator delete[](void *what) noexcept { std::free(what); }
void operator delete[](void *what, std::size_t) noexcept { std::free(what); }
void operator delete(void *what) noexcept { std::free(what); }
void operator delete(void *what, std::size_t) noexcept { std::free(what); }

namespace pretok::file_tests {

using Ids = std::vector<std::uint32_t>;

inline int passed = 0;
inline int failed = 0;

inline void expect(bool good, const std::string &what) {
  (good ? passed : failed) += 1;
  if (!good)
    std::printf("failed: %s\n", what.c_str());
}

inline const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

inline LoadError read(const std::string &file, TokenizerSpec &spec) {
  return read_spec(bytes_of(file), file.size(), spec);
}

// Returns the ids of a text of one pre-token, or no ids if the vocabulary cannot be built.
inline Ids encoded(VocabularyData data, const std::string &text) {
  Vocabulary vocabulary;
  if (vocabulary.build(std::move(data)) != nullptr)
    return {};
  Ids ids(text.size());
  ids.resize(
      vocabulary.encode(bytes_of(text), text.size(), bytes_of(text) + text.size(), ids.data()));
  return ids;
}

// ---- The vocabulary of all test files ----

// The tokens are the 256 bytes (ids 0 to 255), "ab" (256), "abc" (257) and, in some formats,
// "<end>" (258). TEXT encodes to IDS.
inline const std::string TEXT = "abcab\xC3\xA9";
inline const Ids IDS = {257, 256, 0xC3, 0xA9};

// Returns an integer as `width` bytes.
inline std::string number(std::uint64_t value, std::size_t width, bool big_endian) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> 8 * (big_endian ? width - 1 - i : i) & 0xFF);
  return bytes;
}

// Returns the UTF-8 of the character that stands for a byte in byte-level vocabularies.
inline std::string byte_character(unsigned byte) {
  const bool is_itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
  unsigned character = byte;
  if (!is_itself)
    character = byte <= 0x20 ? 256 + byte : byte <= 0xA0 ? 256 + 33 + byte - 0x7F : 256 + 67;
  if (character < 0x80)
    return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | character >> 6),
          static_cast<char>(0x80 | (character & 0x3F))};
}

// ---- Checks ----

// Expects that a file gives the vocabulary, and if `has_end`, the special token "<end>" and a
// template that puts it before a text.
inline void reads(const std::string &name, const std::string &file, bool has_end) {
  TokenizerSpec spec;
  const LoadError error = read(file, spec);
  expect(!error, name + " is read: " + error.message);
  expect(encoded(spec.vocabulary, TEXT) == IDS, name + " has its ids");
  expect(spec.added.size() == (has_end ? 1U : 0U) &&
             (!has_end || (spec.added[0].content == "<end>" && spec.added[0].id == 258 &&
                           spec.added[0].special)),
         name + " has its added tokens");
  expect(spec.before == (has_end ? Ids{258} : Ids{}) && spec.after.empty(),
         name + " has its template");
}

// Expects an error of this kind, with a message that contains `part`.
inline void refuses(const std::string &name, const std::string &file, LoadError::Kind kind,
                    const std::string &part) {
  TokenizerSpec spec;
  const LoadError error = read(file, spec);
  expect(error.kind == kind && error.message.find(part) != std::string::npos,
         name + " is refused: " + error.message);
}

// Returns whether reading a file gives an error with a message, or a tokenizer that works, and
// takes memory in proportion to the file. Adds 1 to `errors` for an error.
inline bool is_safe(const std::string &file, int &errors) {
  TokenizerSpec spec;
  allocated = 0;
  const LoadError error = read(file, spec);
  if (allocated > 64 * file.size() + (std::size_t{64} << 20))
    return false;
  if (error) {
    ++errors;
    return !error.message.empty() && error.message.size() < 1000;
  }
  const auto &ids = spec.vocabulary.ids;
  if (*std::max_element(ids.begin(), ids.end()) > 1 << 12)
    return true; // building the large tables of this vocabulary would take long
  // The damage may make the tokens text, which encode by characters.
  if (spec.text) {
    std::unique_ptr<Tokenizer> tokenizer;
    return make_tokenizer(std::move(spec), {}, tokenizer).message.find("damaged") ==
           std::string::npos;
  }
  return !encoded(std::move(spec.vocabulary), TEXT).empty();
}

// Truncates a file at every byte, and flips every bit. Expects that each damaged file is_safe.
// `repair` changes each damaged file before it is read. For a format with a checksum it can
// correct the checksum: otherwise the reader would reject the file without reading its
// contents.
inline void survives_damage(const std::string &name, const std::string &file,
                            std::string (*repair)(std::string)) {
  int errors = 0;
  bool good = true;
  for (std::size_t size = 0; good && size < file.size(); ++size)
    good = is_safe(repair(file.substr(0, size)), errors);
  expect(good, name + ", truncated");
  expect(errors > 0, name + ", truncated: at least one error");
  for (std::size_t at = 0; good && at < file.size(); ++at)
    for (unsigned bit = 0; good && bit < 8; ++bit) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      good = is_safe(repair(changed), errors);
    }
  expect(good, name + ", with one bit flipped");
}

inline std::string unchanged(std::string file) { return file; }

// A file that has shrunk since it was opened. `file` has its old contents, which size() counts;
// read() gives only the first `left` bytes.
class ShrunkSource final : public ByteSource {
public:
  ShrunkSource(const std::string &file, std::size_t left) : file_(file), left_(left) {}

  std::uint64_t size() const override { return file_.size(); }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override {
    return MemorySource(bytes_of(file_), left_).read(at, to, count);
  }

private:
  const std::string &file_;
  std::size_t left_;
};

// Expects that a file gives the same tokens as its bytes in memory.
inline void reads_from_file(const std::string &name, const std::string &file) {
  TokenizerSpec whole; // from memory
  TokenizerSpec spec;  // from a file that has not shrunk
  ShrunkSource all(file, file.size());
  expect(!read(file, whole) && !read_spec(all, spec) &&
             spec.vocabulary.bytes == whole.vocabulary.bytes &&
             spec.vocabulary.ids == whole.vocabulary.ids,
         name + " gives the same tokens as its bytes in memory");
}

// Prints the number of checks. Returns the exit status of the program.
inline int report() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

} // namespace pretok::file_tests
