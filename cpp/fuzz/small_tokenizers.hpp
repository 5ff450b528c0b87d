// Tokenizers of the C interface with small vocabularies, for fuzz targets.
#pragma once

#include "capi/pretok.h"
#include "fuzz/input.hpp"
#include "fuzz/rank_lines.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pretok {

struct FreeHandle {
  void operator()(pretok_tokenizer *object) const { pretok_tokenizer_free(object); }
  void operator()(pretok_special_set *object) const { pretok_special_set_free(object); }
  void operator()(pretok_encode_stream *object) const { pretok_encode_stream_free(object); }
  void operator()(pretok_decode_stream *object) const { pretok_decode_stream_free(object); }
  void operator()(pretok_session *object) const { pretok_session_free(object); }
};
template <typename T> using Owned = std::unique_ptr<T, FreeHandle>;

inline const char *const PRESETS[] = {"gpt2",        "cl100k", "o200k",  "qwen2",
                                      "deepseek-v3", "falcon", "llama3", "superbpe"};
inline constexpr std::uint32_t X = 1000; // the id of the special token <x>
inline constexpr std::uint32_t Y = 1001; // the id of the special token <x>y

// Returns a tokenizer with a preset that `number` chooses, created on first use.
inline const pretok_tokenizer *tokenizer_of(std::size_t number) {
  constexpr std::size_t PRESET_COUNT = sizeof PRESETS / sizeof *PRESETS;
  static std::array<Owned<pretok_tokenizer>, PRESET_COUNT> cache;
  Owned<pretok_tokenizer> &tokenizer = cache[number % PRESET_COUNT];
  if (tokenizer == nullptr) {
    std::string file;
    std::uint32_t rank = 0;
    for (int byte = 0; byte < 256; ++byte)
      file += rank_line(std::string(1, static_cast<char>(byte)), rank++);
    for (const char *token :
         {"th",           "he",   " t", " th", " the", "er",      "in",    "  ",
          "    ",         "\n\n", "12", "wo",  "rd",   "word",    " word", "\xE4\xB8",
          "\xE4\xB8\xAD", "'s",   "re", "ll",  "--",   "\xC3\xA9"})
      file += rank_line(token, rank++);
    const pretok_special_token special[] = {{"<x>", 3, X}, {"<x>y", 4, Y}};
    pretok_load_options options{};
    options.struct_size = sizeof options;
    options.preset = PRESETS[number % PRESET_COUNT];
    options.special_tokens = special;
    options.special_token_count = 2;
    pretok_tokenizer *loaded = nullptr;
    pretok_error error{};
    check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &loaded, &error) ==
              PRETOK_OK,
          "a valid file loads");
    tokenizer.reset(loaded);
  }
  return tokenizer.get();
}

} // namespace pretok
