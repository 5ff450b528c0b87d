// Reads the numbers, texts and sections of a .pretok file.
#pragma once

#include "core/base/ids.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pretok {

// Returns the number in `width` bytes.
inline std::uint32_t little_endian(const std::uint8_t *bytes, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | bytes[i];
  return number;
}

// Reads a file from offset `at` on. A function that fails sets error() and returns false.
class PretokFileReader {
public:
  PretokFileReader(const std::uint8_t *data, std::size_t size, std::size_t at)
      : data_(data), size_(size), at_(at) {}

  LoadError &error() { return error_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return size_ - at_; }
  const std::uint8_t *here() const { return data_ + at_; }

  bool skip(std::size_t size) {
    if (size > left())
      return fail("ends too early");
    at_ += size;
    return true;
  }

  // Reads a LEB128 number of at most 32 bits, in its shortest form.
  bool number(std::uint32_t &result) {
    std::uint64_t read = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (at_ == size_)
        return fail("ends too early");
      const std::uint8_t byte = data_[at_++];
      read |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        result = static_cast<std::uint32_t>(read);
        return (byte != 0 || shift == 0) && read <= 0xFFFFFFFF
                   ? true
                   : fail("has a number of more than 32 bits, or in more bytes than it needs");
      }
    }
    return fail("has a number of more than 32 bits");
  }

  // Reads the number of elements of a list. Each element takes `min_size` bytes or more. Fails
  // if the rest of the file is too small for so many elements.
  bool count(std::size_t min_size, std::uint32_t &result) {
    return number(result) &&
           (result <= left() / min_size ||
            fail("announces " + std::to_string(result) + " elements, more than it can hold"));
  }

  bool text(std::string_view &result) {
    std::uint32_t size = 0;
    if (!count(1, size))
      return false;
    result = {reinterpret_cast<const char *>(here()), size};
    at_ += size;
    return is_utf8(result) || fail("has text that is not UTF-8");
  }

  bool id(std::uint32_t &result) {
    return number(result) &&
           (result < ID_LIMIT || fail("has id " + std::to_string(result) +
                                      ", expected an id below " + std::to_string(ID_LIMIT)));
  }

  // Sets the error "the file PROBLEM", and returns false.
  bool fail(const std::string &problem) {
    error_ = malformed("the file ", problem, ", at offset ", at_, "; pretok did not write it");
    return false;
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
  std::size_t at_;
  LoadError error_;
};

// The functions below read the sections of a file, as the modules of the same names in
// bpe/formats do, such as pretok_facts.py. They return false after an error.

bool read_facts_section(PretokFileReader &reader, TokenFacts &facts);

// Sets spec.steps, spec.metaspace and spec.decoder, or spec.sentencepiece and spec.decoding.
bool read_steps_section(PretokFileReader &reader, TokenizerSpec &spec);

// Reads the section `text`, and sets spec.text. Sets `has_any_results` for read_tokens.
bool read_text_options(PretokFileReader &reader, TokenizerSpec &spec, bool &has_any_results);

// Checks the tokens and the added tokens of a model with tokens of text. Sets spec.characters
// if the model has such a form.
bool finish_text(PretokFileReader &reader, TokenizerSpec &spec);

// Reads the tokens, merges and ids, to the end of the file. If `has_any_results`, a merge may
// make a token other than its two tokens, joined.
bool read_tokens(PretokFileReader &reader, bool has_any_results, VocabularyData &data);

} // namespace pretok
