// Decodes UTF-8 to a Python str.
#pragma once

#include "core/utf/read_utf8.hpp"

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Like PyUnicode_DecodeUTF8, but faster for valid UTF-8.
inline PyObject *new_text(const std::uint8_t *data, std::size_t size, const char *errors) {
  const auto slowly = [&] {
    return PyUnicode_DecodeUTF8(reinterpret_cast<const char *>(data),
                                static_cast<Py_ssize_t>(size), errors);
  };
  // Python decodes short texts: it caches the empty str and each str of one Latin-1 character.
  if (size < 8)
    return slowly();
  const Utf8Shape shape = shape_of(data, size);
  // The str has room for one code point for each byte that is not a continuation byte.
  // read_all_utf8 does not write more code points, even if the bytes are not UTF-8: each code
  // point that it writes has exactly one byte that is not a continuation byte. In valid UTF-8
  // that is not ASCII, the largest byte is a lead byte. Lead bytes below 0xC4 begin code points
  // below U+0100; lead bytes below 0xF0, code points below U+10000.
  const Py_UCS4 max_char = shape.largest < 0x80   ? 0x7F
                           : shape.largest < 0xC4 ? 0xFF
                           : shape.largest < 0xF0 ? 0xFFFF
                                                  : 0x10FFFF;
  if (shape.code_points < 2)
    return slowly();
  PyObject *text = PyUnicode_New(static_cast<Py_ssize_t>(shape.code_points), max_char);
  if (text == nullptr)
    return nullptr;
  bool read = true;
  if (max_char == 0x7F)
    std::memcpy(PyUnicode_DATA(text), data, size);
  else if (max_char == 0xFF)
    read = read_all_utf8(data, size, PyUnicode_1BYTE_DATA(text));
  else if (max_char == 0xFFFF)
    read = read_all_utf8(data, size, PyUnicode_2BYTE_DATA(text));
  else
    read = read_all_utf8(data, size, PyUnicode_4BYTE_DATA(text));
  if (read)
    return text;
  Py_DECREF(text);
  return slowly();
}

} // namespace pretok
