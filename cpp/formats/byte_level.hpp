// Tokens in the characters of their bytes: tokenizer.json and GGUF have it.
// bpe/formats/byte_level.py is the twin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// Appends the bytes that the characters of `text`, which is UTF-8, stand for. Returns false,
// and appends nothing, if one stands for none.
bool append_bytes(std::string_view text, std::vector<std::uint8_t> &to);

// The characters that stand for the bytes of `token`.
std::string byte_characters(std::string_view token);

} // namespace pretok
