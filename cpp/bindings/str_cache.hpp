// Caches slices of a str, because most pre-tokens of a text occur several times.
#pragma once

#include <Python.h>

#include "core/base/hash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// A hash table. For each hash it keeps the last slice with this hash. Use one StrCache for the
// text of one call from Python, on one thread that holds the GIL.
class StrCache {
public:
  explicit StrCache(PyObject *text)
      : text_(text), data_(static_cast<const char *>(PyUnicode_DATA(text))),
        width_(static_cast<std::size_t>(PyUnicode_KIND(text))) {}
  StrCache(const StrCache &) = delete;
  StrCache &operator=(const StrCache &) = delete;

  // Returns a new reference to text[start:end], or nullptr with an exception set.
  PyObject *slice(std::int64_t start, std::int64_t end) {
    const std::size_t size = static_cast<std::size_t>(end - start) * width_;
    if (size > sizeof(Key))
      return PyUnicode_Substring(text_, start, end);
    Key key{};
    std::memcpy(key.data(), data_ + static_cast<std::size_t>(start) * width_, size);
    Entry &entry = entries_[place(key)];
    if (entry.slice == nullptr || entry.key != key || entry.size != size) {
      PyObject *new_slice = PyUnicode_Substring(text_, start, end);
      if (new_slice == nullptr)
        return nullptr;
      // The caller stores each slice in a list, which outlives the cache. So the cache stores
      // borrowed references.
      entry = {key, size, new_slice};
      return new_slice;
    }
    Py_INCREF(entry.slice);
    return entry.slice;
  }

private:
  using Key = std::array<std::uint64_t, 3>; // the bytes of a slice, then zeros
  struct Entry {
    Key key;
    std::size_t size; // in bytes
    PyObject *slice;  // borrowed
  };
  static constexpr std::size_t BITS = 12; // the table has 2^BITS entries

  // Returns the index of the entry for a key.
  static std::size_t place(const Key &key) {
    const std::uint64_t mixed =
        key[0] ^ (key[1] << 23 | key[1] >> 41) ^ (key[2] << 47 | key[2] >> 17);
    return static_cast<std::size_t>(hash_without_key(mixed) >> (64 - BITS));
  }

  PyObject *text_;
  const char *data_;
  std::size_t width_;
  std::array<Entry, std::size_t{1} << BITS> entries_{};
};

} // namespace pretok
