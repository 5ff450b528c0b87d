// Parts of the readers of GGUF files: the keys, and checks of their values.
#pragma once

#include "formats/gguf_metadata.hpp"
#include "formats/load_error.hpp"
#include "formats/text_model.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace pretok {

// The indices of the values of a file.
struct GgufKey {
  enum {
    MODEL,
    PRE,
    TOKENS,
    TYPES,
    MERGES,
    BOS,
    EOS,
    ADD_BOS,
    ADD_EOS,
    ADD_SPACE,
    SCORES,
    NAME
  };
};

LoadError unexpected(const GgufValue &value, const char *expected);

// Checks the types of the tokens. `count` is the number of tokens. Only SentencePiece's models
// may have fallback tokens for bytes.
LoadError check_types(const GgufValue &types, std::size_t count, bool may_have_bytes);

// Fails if two texts are equal and not empty.
LoadError check_unique(const std::vector<std::string_view> &texts, const TextIndex &places);

// Reads the merges of a file.
LoadError read_merges(const GgufValue &value, std::vector<TextMerge> &merges);

// Appends to spec.added each token whose type makes it an added token. The token `lstrip` gets
// the flag lstrip. In files of Phi-3, most added tokens get the flag rstrip.
void list_added(const std::vector<GgufValue> &values, std::string_view lstrip,
                TokenizerSpec &spec);

// Sets `flag` to `value`, or to `fallback` if the file does not have the flag.
LoadError read_flag(const GgufValue &value, bool fallback, bool &flag);

// Sets spec.decoder to the decoders of a model whose tokens are UTF-8, in which "▁" stands for
// a space.
void set_gguf_decoder(bool strips_space, TokenizerSpec &spec);

// Reads a vocabulary of SentencePiece's BPE (tokenizer.ggml.model "llama"), as
// bpe/formats/gguf_text.py does. Does not read the ids around a text.
LoadError read_gguf_pieces(const std::vector<GgufValue> &values, TokenizerSpec &spec);

// Reads a vocabulary whose BPE merges characters by listed merges, such as Gemma 4's, as
// listed_vocabulary of bpe/formats/gguf_text.py does. If `takes_runs`, a run of line breaks
// that is a token becomes this token. Does not read the ids around a text.
LoadError read_gguf_characters(const std::vector<GgufValue> &values, bool takes_runs,
                               TokenizerSpec &spec);

// The functions below read the facts about tokens, as bpe/formats/gguf_facts.py does.

// Appends the keys that only facts need. `values` has those of GgufKey.
void add_fact_keys(std::vector<GgufValue> &values);

// Reads the chat templates that tokenizer.chat_templates names.
LoadError read_named_templates(ByteSource &file, const std::vector<GgufValue> &values,
                               TokenFacts &facts);

// Sets `facts`. Ignores an id that no token has, and a value of another type than expected.
void read_gguf_facts(const std::vector<GgufValue> &values, TokenFacts &facts);

} // namespace pretok
