// Makes, joins and reads the texts of rendered chats (bpe/chat/text.py).
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the functions chat_text_calls and field_call.
void bind_chat_calls(pybind11::module_ &module);

} // namespace pretok
