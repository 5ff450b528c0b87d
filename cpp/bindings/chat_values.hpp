// Converts messages, tools and documents for chat templates (bpe/chat/inputs.py).
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the function chat_value_calls.
void bind_chat_values(pybind11::module_ &module);

} // namespace pretok
