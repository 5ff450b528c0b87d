// Reads the vocabulary and the merges of a tokenizer.json while the file is parsed.
#pragma once

#include "core/json/json_document.hpp"
#include "formats/load_error.hpp"
#include "formats/text_model.hpp"

namespace pretok {

// Appends the members of the object "vocab", which begins at `json`: texts with unique ids.
// Does not compare the texts. Returns false if the JSON is not valid. Sets `error` if an entry
// is not a token and its id.
bool read_json_vocab(JsonReader &json, JsonStrings &strings, TextModel &model,
                     LoadError &error);

// Appends the items of the list "merges", which begins at `json`. Each item is a pair of texts,
// or a text "left right". Returns false if the JSON is not valid. Sets `error` if an item is
// something else.
bool read_json_merges(JsonReader &json, JsonStrings &strings, TextModel &model,
                      LoadError &error);

} // namespace pretok
