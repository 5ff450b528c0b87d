// GPT-2's alphabet of 256 characters, which stand for the 256 bytes. tokenizer.json and GGUF
// files write tokens with it. bpe/byte_level.py does the same in Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// Appends the byte that each character of `text` stands for. `text` is UTF-8. Returns false and
// appends nothing if a character stands for no byte.
bool append_bytes(std::string_view text, std::vector<std::uint8_t> &to);

// Decodes `text`: writes one byte for each character, from `to` on. There must be room for
// text.size() bytes. Returns the end of the written bytes, or nullptr if a character stands for
// no byte.
std::uint8_t *write_bytes(std::string_view text, std::uint8_t *to);

// Returns the characters that stand for the bytes of `token`.
std::string byte_characters(std::string_view token);

} // namespace pretok
