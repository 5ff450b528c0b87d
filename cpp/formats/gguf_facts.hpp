// Reads the facts about tokens of a GGUF file, as bpe/formats/gguf_facts.py does.
#pragma once

#include "core/encode/token_facts.hpp"
#include "formats/gguf_metadata.hpp"

#include <vector>

namespace pretok {

// Appends the keys that only facts need. `values` has those of GgufKey.
void add_fact_keys(std::vector<GgufValue> &values);

// Reads the chat templates that tokenizer.chat_templates names.
LoadError read_named_templates(ByteSource &file, const std::vector<GgufValue> &values,
                               TokenFacts &facts);

// Sets `facts`. Ignores an id that no token has, and a value of another type than expected.
void read_gguf_facts(const std::vector<GgufValue> &values, TokenFacts &facts);

} // namespace pretok
