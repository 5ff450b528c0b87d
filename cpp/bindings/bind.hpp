// The functions that add classes and functions to the module _core, one for each subject whose
// code only Python calls.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_added(pybind11::module_ &module);       // added tokens
void bind_chat_calls(pybind11::module_ &module);  // texts of rendered chats (bpe/chat/text.py)
void bind_chat_json(pybind11::module_ &module);   // JSON for templates (bpe/chat/filters.py)
void bind_chat_values(pybind11::module_ &module); // messages and tools (bpe/chat/inputs.py)
void bind_chunks(pybind11::module_ &module);      // texts divided by a number of ids
void bind_huggingface_call(pybind11::module_ &module); // calls of bpe.compat.huggingface
void bind_normalizing(pybind11::module_ &module);      // normalizers
void bind_padding(pybind11::module_ &module);          // the ids of many texts in one array
void bind_prompt_cache(pybind11::module_ &module);     // PromptCache
void bind_split_ways(pybind11::module_ &module);       // SplitFinder
void bind_training(pybind11::module_ &module);         // counting, merges, safe cuts

} // namespace pretok
