// The readers of the parts of a tokenizer.json. The modules of bpe/formats read the same in
// Python, and also compile any regex.
#pragma once

#include "core/json/json_document.hpp"
#include "core/normalize/normalizer_step.hpp"
#include "formats/json_part.hpp"
#include "formats/load_error.hpp"
#include "formats/text_model.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string_view>
#include <vector>

namespace pretok {

// Sets spec.preset and spec.add_prefix_space from the parts of a pre_tokenizer. If no built-in
// preset has the same parts, sets only spec.why_no_preset. If `drops_text`, the preset may drop
// text.
void find_split(const std::vector<JsonPart> &parts, bool drops_text, TokenizerSpec &spec);

// Sets the split of a model whose tokens are text, and spec.metaspace. Fails if the
// pre_tokenizer has a part that only Python reads.
void read_text_split(const std::vector<JsonPart> &parts, TokenizerSpec &spec);

// Returns whether the last part of a pre_tokenizer is ByteLevel.
bool ends_byte_level(const std::vector<JsonPart> &parts);

// Returns the stage that Metaspace makes of a text.
StageProgram metaspace_stage(std::string_view mark);
// Returns the stage that does not split.
StageProgram whole_stage();

// Files often have the stages of these two functions, which are generated. Only Python
// compiles any other regex.
//
// Appends the stage of a part of a pre_tokenizer to split.stages, and sets split.table. `part`
// is in the canonical form of json_split.cpp. Returns false if the part is unknown, or if the
// library lacks the Unicode version of the stage.
bool find_json_stage(std::string_view part, SplitSpec &split);

// Does the same for a regex of a Replace.
bool find_json_regex(std::string_view pattern, SplitSpec &split);

// Returns the Unicode version of these stages.
std::string_view json_unicode();

// Appends the steps of the member "normalizer". Fails if a step is malformed or not supported.
void read_normalizer_steps(const JsonPart &normalizer, std::vector<NormalizerStep> &steps);

// Appends the steps of the member "decoder". Returns whether they only join the bytes of
// byte-level tokens.
bool read_decoder_steps(const JsonPart &decoder, std::vector<DecoderStep> &steps);

// Reads a Metaspace, which may be a pre_tokenizer or a decoder.
MetaspaceSpec read_json_metaspace(const JsonPart &part);

// Sets spec.before, spec.after and spec.trims. Fails if the template is malformed or not
// supported.
void read_template(const JsonPart &post_processor, TokenizerSpec &spec);

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
