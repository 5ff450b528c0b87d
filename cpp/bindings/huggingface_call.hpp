// Answers tok(text), with or without offsets, and tok.encode(text) for bpe.compat.huggingface.
// They are the most frequent calls of the tokenizers of transformers.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the function huggingface_call to the module. It returns a Python function of
// (tok, text, return_offsets_mapping, add_special_tokens), which does the same as
// ShortCall.call (bpe/compat/huggingface/short_call.py): it returns the BatchEncoding of a
// text. Without the argument return_offsets_mapping, it returns the ids, as ShortCall.encode
// does. It returns None if Python code must answer.
//
// The arguments of huggingface_call are:
//   - key: the attribute of a tokenizers.Tokenizer that holds its State.
//   - is_plain: a dict with the value True for each class of `tok` that may be answered.
//   - batch_encoding, encoding: the classes of the result and of its encoding.
//   - window: the function that makes the window of an encoding, of the arguments (engine,
//   text,
//     treatment, add_special_tokens).
//   - options: a dict with the key "check". While its value is true, Python code must answer.
void bind_huggingface_call(pybind11::module_ &module);

} // namespace pretok
