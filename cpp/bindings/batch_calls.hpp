// Many texts to ids, or a long one.
#pragma once

#include "bindings/convert.hpp"
#include "bindings/id_objects.hpp"

#include "core/encode/encoder.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

// Makes the list while other threads make more ids, for a long text. `threads`, here and below:
// 0 is as many as the work is worth.
py::list encode_to_list(const Encoder &encoder, IdObjects &objects, const TextView &text,
                        const AddedTokens &added, unsigned threads);

py::list encode_to_lists(const Encoder &encoder, IdObjects &objects, const py::list &texts,
                         const AddedTokens &added, unsigned threads);

// Returns the ids of all texts, and n + 1 offsets: where those of each start and end.
py::tuple encode_to_arrays(const Encoder &encoder, const py::list &texts,
                           const AddedTokens &added, unsigned threads);

} // namespace pretok
