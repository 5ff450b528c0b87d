// Writes the tokenizer.json of a small model whose tokens are text.
#pragma once

#include <string>

namespace pretok {

// Returns a model with the 256 fallback tokens, and the special token <s>. `decoder` is JSON.
inline std::string text_model(const std::string &decoder) {
  std::string vocab =
      "\"<unk>\": 0, \"\u2581\": 1, \"\u2581the\": 2, \"a\": 3, \"\u65e5\": 4, \".\": 5,"
      "\"\u2581\u2581\": 6, \"n't\": 7, \"'\": 8, \"s\": 9, \"a \": 10, \" \": 11";
  constexpr char DIGITS[] = "0123456789ABCDEF";
  for (unsigned byte = 0; byte < 256; ++byte)
    vocab += std::string(", \"<0x") + DIGITS[byte / 16] + DIGITS[byte % 16] +
             ">\": " + std::to_string(12 + byte);
  return "{\"added_tokens\": [{\"id\": 268, \"content\": \"<s>\", \"single_word\": false, "
         "\"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}], "
         "\"decoder\": " +
         decoder +
         ", \"model\": {\"type\": \"BPE\", \"unk_token\": \"<unk>\", \"byte_fallback\": true, "
         "\"vocab\": {" +
         vocab + "}, \"merges\": []}}";
}

} // namespace pretok
