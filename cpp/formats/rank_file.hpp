// Rank files of tiktoken: on each line a token in base64, a space, and its rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

struct RankFile {
  std::vector<std::uint8_t> bytes;    // of all tokens, one behind the other
  std::vector<std::uint32_t> lengths; // of each
  std::vector<std::uint32_t> ids;     // of each: its rank
};

// Reads a file without any error into `file`: all its lines are as tiktoken writes them, no
// rank and no token is there twice, and each byte is a token. Returns false for every other
// file, also one that can be read but not so simply; bpe/formats/tiktoken.py says what is wrong
// with it.
bool read_rank_file(const std::uint8_t *data, std::size_t size, RankFile &file);

// Decodes base64 up to `end`, to where there is room; returns how many bytes that are, or 0 if
// they are none, or not written as they are to be.
std::size_t decode_base64(const std::uint8_t *at, const std::uint8_t *end, std::uint8_t *to);

// Whether no two tokens are alike; `bytes` has them one behind the other, fewer than 4 GiB.
bool tokens_differ(const std::vector<std::uint8_t> &bytes,
                   const std::vector<std::uint32_t> &lengths);

} // namespace pretok
