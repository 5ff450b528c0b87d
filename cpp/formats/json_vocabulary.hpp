// Reads the vocabulary and the merges of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/text_model.hpp"

namespace pretok {

// Appends the members of the object "vocab": texts with unique ids. The texts view the file.
// Does not compare the texts.
void read_json_vocab(const JsonPart &vocab, TextModel &model);

// Appends the items of the list "merges". Each item is a pair of texts, or a text "left right".
void read_json_merges(const JsonPart &merges, TextModel &model);

} // namespace pretok
