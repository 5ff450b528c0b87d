// Reads tiktoken rank files. Each line has a token in base64, a space, and the rank of the
// token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

struct RankFile {
  std::vector<std::uint8_t> bytes;    // of all tokens, concatenated
  std::vector<std::uint32_t> lengths; // of each token, in bytes
  std::vector<std::uint32_t> ids;     // of each token; the id of a token is its rank
};

// Reads a file in the exact format of tiktoken, in which ranks and tokens are unique, and each
// byte is a token. Returns false for any other file. formats/tiktoken.cpp then reads the file
// line by line, and accepts variants of the format or finds the error.
bool read_rank_file(const std::uint8_t *data, std::size_t size, RankFile &file);

// Decodes the base64 text from `at` to `end`. Returns the number of bytes that it writes to
// `to`. Returns 0 if the text is empty, invalid or not canonical. `to` needs room for 3/4 of
// the size of the text.
std::size_t decode_base64(const std::uint8_t *at, const std::uint8_t *end, std::uint8_t *to);

// Returns whether all tokens are distinct. `bytes` has all tokens, concatenated. It must be
// smaller than 4 GiB.
bool tokens_differ(const std::vector<std::uint8_t> &bytes,
                   const std::vector<std::uint32_t> &lengths);

} // namespace pretok
