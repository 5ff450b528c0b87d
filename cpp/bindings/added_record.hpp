// An added token as a tuple of Python.
#pragma once

#include "core/encode/added.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace pretok {

// The fields of bpe.encoding.added_tokens.AddedToken: content, id, special, normalized, lstrip,
// rstrip and single_word.
using AddedRecord = std::tuple<std::string, std::uint32_t, bool, bool, bool, bool, bool>;

inline AddedToken added_token(const AddedRecord &record) {
  const auto &[content, id, special, normalized, lstrip, rstrip, single_word] = record;
  return {content, id, normalized, lstrip, rstrip, single_word, special};
}

} // namespace pretok
