// Encodes many texts, or one long text, on several threads.
#pragma once

#include "bindings/convert.hpp"
#include "bindings/id_objects.hpp"

#include "core/encode/tokenizer.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

namespace pretok {

// In all these functions, `threads` is the number of threads to use. If it is 0, the size of
// the texts determines this number.

// Returns the ids of a long text. Builds the list while other threads compute more ids.
py::list encode_to_list(const Tokenizer &tokenizer, IdObjects &objects, const TextView &text,
                        const AddedTokenPhases &added, unsigned threads);

// Returns a list with one list of ids per text.
py::list encode_to_lists(const Tokenizer &tokenizer, IdObjects &objects, const py::list &texts,
                         const AddedTokenPhases &added, unsigned threads);

// Returns one array of the ids of all n texts, and an array of n + 1 offsets. The ids of text i
// are ids[offsets[i]..offsets[i + 1]). `size` is the total size of the texts in code units.
// If `dropout` is not nullptr, merges are left out at random (encode_texts).
py::tuple encode_to_arrays(const Tokenizer &tokenizer, const std::vector<TextView> &texts,
                           std::size_t size, const AddedTokenPhases &added, unsigned threads,
                           const DropoutOptions *dropout = nullptr);

} // namespace pretok
