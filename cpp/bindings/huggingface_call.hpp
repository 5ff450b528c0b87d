// Answers tok(text), with or without offsets, and tok.encode(text) for bpe.compat.huggingface.
// They are the most frequent calls of the tokenizers of transformers.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the function huggingface_call to the module. huggingface_call returns a Python function
// `answer`:
//   - answer(tok, text, return_offsets_mapping, add_special_tokens) returns the BatchEncoding
//     of a text, like ShortCall.call (bpe/compat/huggingface/short_call.py);
//   - answer(tok, text, add_special_tokens) returns the ids of a text, like ShortCall.encode.
// `answer` returns None if Python code must answer.
//
// The arguments of huggingface_call are:
//   - key: the name of the attribute of a tokenizers.Tokenizer that holds its State
//     (bpe/compat/huggingface/state.py).
//   - is_plain: a dict. If its value for the class of `tok` is not True, Python code must
//     answer.
//   - batch_encoding, encoding: the classes of the result and of its encoding.
//   - window: a function with the arguments (engine, text, treatment, add_special_tokens). It
//     returns the Window of the encoding (bpe/compat/huggingface/windows.py).
//   - options: a dict with the key "check". While its value is true, Python code must answer.
void bind_huggingface_call(pybind11::module_ &module);

} // namespace pretok
