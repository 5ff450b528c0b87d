// The Python class PromptCache of the module _core.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_prompt_cache(pybind11::module_ &module);

} // namespace pretok
