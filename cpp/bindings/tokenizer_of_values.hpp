// Makes a NativeTokenizer of the values of Python.
#pragma once

#include "bindings/native_text_model.hpp"
#include "bindings/native_tokenizer.hpp"
#include "bindings/packed_tokens.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace pretok {

class NativeMachine;

// The fields of a TextSpaces with are_marks: prefix ("never", "unless_space" or "always"),
// only_first, replaces_invalid, prefix_has_span and precedes_tokens.
using MarkedSpaces = std::tuple<std::string, bool, bool, bool, bool>;

// If `text` is not None, the model starts with characters: of the tokens, it uses only those
// that it does not have itself, to decode, and no arguments about merging. All ids are below
// `id_limit`. If `cuts` is not "split", the model splits the text, and not `machine`. If
// `machine` is None, no text is split. `normalizer` is the section `steps` of a .pretok file,
// without a decoder, or "". `symbols` are the user-defined symbols of SentencePiece's
// normalizer.
std::unique_ptr<NativeTokenizer>
tokenizer_of_values(const std::shared_ptr<NativeMachine> &machine, const py::bytes &bytes,
                    const Array<std::uint32_t> &lengths, const Array<std::uint32_t> &ids,
                    std::size_t mergeable, const std::optional<Array<std::uint32_t>> &merges,
                    bool from_ranks, bool ignore_merges, bool add_prefix_space,
                    std::size_t cache_limit, const std::optional<MarkedSpaces> &marked_spaces,
                    const std::optional<AnyTextModel> &text, std::uint32_t id_limit,
                    const std::string &cuts, const py::bytes &normalizer,
                    std::vector<std::string> symbols, bool is_deferred);

} // namespace pretok
