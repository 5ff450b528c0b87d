// Short texts for fuzz targets, of letters near which splits and added tokens are hard.
#pragma once

#include "fuzz/input.hpp"

#include <cstddef>
#include <string>

namespace pretok {

inline const char *const TEXTS[] = {"a",    "the", " the", " ",     "  ",   "\n",   "\r\n",
                                    "\t",   "'s",  "'",    "12",    "1",    "!",    "done!",
                                    "<x>",  "<",   "x>y",  ">",     "\xC3", "\xA9", "中",
                                    "\xE4", "é",   "A",    " word", "0",    "ll",   "-"};

// Returns a text that `input` chooses; some are long runs.
inline std::string text_of(Input &input) {
  constexpr std::size_t COUNT = sizeof TEXTS / sizeof *TEXTS;
  std::string text;
  for (std::size_t left = input.below(6); left > 0; --left)
    text += TEXTS[input.below(COUNT)];
  const std::string once = text;
  if (input.below(8) == 0)
    for (std::size_t left = input.below(24); left > 0; --left)
      text += once;
  return text;
}

} // namespace pretok
