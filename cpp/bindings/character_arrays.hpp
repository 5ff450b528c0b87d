// Makes a CharacterMerge of the arguments of Python.
#pragma once

#include "bindings/packed_tokens.hpp"
#include "core/bpe/character_merge.hpp"

#include <cstdint>
#include <memory>
#include <tuple>

namespace pretok {

// The fields of CharacterArrays in bpe/encoding/character_arrays.py: code_points, places, ids;
// whole_bytes, whole_lengths, whole_ids; unknown, fuses_unknown, fallback and byte_widths.
using CharacterArrays =
    std::tuple<Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>, py::bytes,
               Array<std::uint32_t>, Array<std::uint32_t>, std::uint32_t, bool,
               Array<std::uint32_t>, py::bytes>;

// Throws py::value_error if the arrays are wrong.
std::unique_ptr<CharacterMerge> make_character_merge(const CharacterArrays &arrays);

} // namespace pretok
