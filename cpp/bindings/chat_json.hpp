// Writes the JSON of tools and messages for chat templates (bpe/chat/filters.py).
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the function json_text.
void bind_chat_json(pybind11::module_ &module);

} // namespace pretok
