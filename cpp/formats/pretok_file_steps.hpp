// Reads the section `steps` of .pretok files. bpe/formats/pretok_steps.py describes it, and
// writes it.
#pragma once

#include "formats/pretok_file_reader.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.steps, spec.metaspace and spec.decoder, or spec.sentencepiece and spec.decoding.
// Returns false after an error.
bool read_steps_section(PretokFileReader &reader, TokenizerSpec &spec);

} // namespace pretok
