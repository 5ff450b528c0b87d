// A file of a tokenizer, of any format that is known.
#pragma once

#include "model.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Reads a file's bytes into `model`, which is empty. The format is told from the content.
Fault read_model(const std::uint8_t *data, std::size_t size, Model &model);

} // namespace pretok
