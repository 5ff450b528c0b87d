// A tokenizer that C++ has read from a file, or got from Python, for Python.
#pragma once

#include "bindings/packed_tokens.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

namespace pretok {

// Immutable, so several objects may share the TokenizerSpec.
struct NativeSpec {
  std::shared_ptr<const TokenizerSpec> spec;
  bool decodes = true; // false: Python decodes ids
};

// Makes a NativeSpec of the values of Python. `fields` has these items of NativeSpec.fields(),
// if they are not empty or false: mergeable, from_ranks, ignore_merges, add_prefix_space, added
// and text; and also merges, scores, `steps` (the section of a .pretok file with the normalizer
// and the decoder), `invisible` (SentencePieceDecoding), split_at_marks ("yes", "no" or
// "other", as SplitAtMarks), and `decodes`.
NativeSpec spec_of_values(const py::bytes &tokens, const Array<std::uint32_t> &lengths,
                          const Array<std::uint32_t> &ids, const py::dict &fields);

// Throws the Python error: ValueError for a malformed file, NotImplementedError for a file that
// C++ does not support.
void throw_if(const LoadError &error);

void bind_native_spec(pybind11::module_ &module);
void bind_json_file(pybind11::module_ &module); // readers of a tokenizer.json

} // namespace pretok
