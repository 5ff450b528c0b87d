#include "bindings/decode_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_function.hpp"
#include "bindings/new_text.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/prefetch.hpp"
#include "formats/decoder_spec.hpp"

#include <pybind11/numpy.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Returns the value of a small non-negative int, or a negative number for any other object.
std::int64_t small_value(PyObject *object) {
  if (!PyLong_CheckExact(object))
    return -1;
#if PY_VERSION_HEX >= 0x030C0000
  auto *number = reinterpret_cast<PyLongObject *>(object);
  return PyUnstable_Long_IsCompact(number) ? PyUnstable_Long_CompactValue(number) : -1;
#else
  const Py_ssize_t digits = Py_SIZE(object);
  if (digits == 0)
    return 0;
  return digits == 1 ? std::int64_t{reinterpret_cast<PyLongObject *>(object)->ob_digit[0]} : -1;
#endif
}

// The number of items between the current item and the item to prefetch. Prefetching is worth
// its cost because the ints of a list are scattered in memory.
constexpr std::size_t AHEAD = 24;

template <typename Use> bool use_items(PyObject *const *items, std::size_t count, Use use) {
  return use(count, [items, count](std::size_t i) {
    if (i + AHEAD < count)
      prefetch(items[i + AHEAD]);
    return small_value(items[i]);
  });
}

template <typename Id, typename Use> bool use_array(const py::array &ids, Use use) {
  const auto *at = static_cast<const Id *>(ids.data());
  const auto size = static_cast<std::size_t>(ids.size());
  return unlocked(size, [&] {
    return use(size, [at](std::size_t i) { return static_cast<std::int64_t>(at[i]); });
  });
}

// Returns use(count, id_at) for `ids`; id_at(i) is id i, or a negative number if item i is not
// an id. Returns false if `ids` is not a list, a tuple or an array of one dimension.
template <typename Use> bool use_ids(PyObject *ids, Use use) {
  if (PyList_CheckExact(ids)) {
#ifdef Py_GIL_DISABLED
    const py::object copy = owned(PyList_AsTuple(ids));
    ids = copy.ptr();
#endif
    // use_items runs no Python code, so nothing changes the list during the call.
    return use_items(PySequence_Fast_ITEMS(ids),
                     static_cast<std::size_t>(PySequence_Fast_GET_SIZE(ids)), use);
  }
  if (PyTuple_CheckExact(ids))
    return use_items(PySequence_Fast_ITEMS(ids),
                     static_cast<std::size_t>(PyTuple_GET_SIZE(ids)), use);
  if (!py::isinstance<py::array>(ids))
    return false;
  const auto array = py::reinterpret_borrow<py::array>(ids);
  if (array.ndim() != 1 || (array.flags() & PLAIN_ARRAY) != PLAIN_ARRAY)
    return false;
  if (py::isinstance<py::array_t<std::uint32_t>>(array))
    return use_array<std::uint32_t>(array, use);
  if (py::isinstance<py::array_t<std::int64_t>>(array))
    return use_array<std::int64_t>(array, use);
  if (py::isinstance<py::array_t<std::int32_t>>(array))
    return use_array<std::int32_t>(array, use);
  return false;
}

struct DecodeCalls {
  const DeferredDecoder *decoder = nullptr;
  py::object replace = interned("replace");
};

bool join(JoinedTexts &joined, PyObject *ids) {
  return use_ids(
      ids, [&](std::size_t count, const auto &id_at) { return joined.join(count, id_at); });
}

// Sets `text` to the text of `ids`, and takes more time than `join`. Returns false if an item
// is not the id of a token.
bool decode_all(const Decoder &decoder, PyObject *ids, bool skip_special, bool keeps_invalid,
                std::string &text) {
  std::vector<std::uint32_t> known;
  const bool are_known = use_ids(ids, [&](std::size_t count, const auto &id_at) {
    known.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = id_at(i);
      if (id < 0 || id >= ID_LIMIT ||
          decoder.token(static_cast<std::uint32_t>(id)).bytes == nullptr)
        return false;
      known.push_back(static_cast<std::uint32_t>(id));
    }
    return true;
  });
  if (are_known)
    unlocked(known.size(), [&] {
      text = decoder.decode(known.data(), known.size(), skip_special, keeps_invalid);
    });
  return are_known;
}

// Returns the error handler's name `errors` as a C string. Returns nullptr if `errors` is not a
// str, has no UTF-8, or contains a null character.
const char *handler(const DecodeCalls &calls, PyObject *errors) {
  if (errors == calls.replace.ptr())
    return "replace";
  Py_ssize_t size = 0;
  const char *name =
      PyUnicode_CheckExact(errors) ? PyUnicode_AsUTF8AndSize(errors, &size) : nullptr;
  PyErr_Clear();
  return name != nullptr && std::strlen(name) == static_cast<std::size_t>(size) ? name
                                                                                : nullptr;
}

PyObject *decode(DecodeCalls &calls, const Arguments &args) {
  const char *errors =
      args.count == 3 && PyBool_Check(args[2]) ? handler(calls, args[1]) : nullptr;
  if (errors == nullptr)
    return nullptr;
  const bool skip_special = args[2] == Py_True;
  const Decoder &decoder = calls.decoder->get();
  if (const JoinRules *rules = decoder.join_rules()) {
    JoinedTexts joined(*rules, skip_special);
    if (join(joined, args[0])) {
      PyObject *text =
          new_text(joined.data(), joined.size(), decoder.joins_bytes() ? errors : "strict");
      if (text != nullptr || decoder.joins_bytes() ||
          PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) == 0)
        return text;
      PyErr_Clear(); // each run of fallback bytes is decoded by itself
    }
  }
  std::string text;
  if (std::string_view(errors) != "replace" ||
      !decode_all(decoder, args[0], skip_special, false, text))
    return nullptr;
  return new_text(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), "strict");
}

PyObject *decode_bytes(DecodeCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyBool_Check(args[1]))
    return nullptr;
  return decode_to_bytes(calls.decoder->get(), args[0], args[1] == Py_True);
}

} // namespace

PyObject *decode_to_bytes(const Decoder &decoder, PyObject *ids, bool skip_special) {
  const auto bytes = [](const void *data, std::size_t size) {
    return PyBytes_FromStringAndSize(static_cast<const char *>(data),
                                     static_cast<Py_ssize_t>(size));
  };
  if (const JoinRules *rules = decoder.join_rules()) {
    JoinedTexts joined(*rules, skip_special);
    if (join(joined, ids))
      return bytes(joined.data(), joined.size());
  }
  std::string text;
  return decode_all(decoder, ids, skip_special, true, text) ? bytes(text.data(), text.size())
                                                            : nullptr;
}

const Decoder &DeferredDecoder::get() const {
  return decoder_.get([&] {
    const TokenizerSpec &spec = *spec_;
    return unlocked(MIN_SIZE_TO_RELEASE, [&] {
      const bool has_chain = !spec.steps.empty() || spec.metaspace;
      const NormalizerChain chain(spec.steps, spec.metaspace);
      return make_decoder(spec, spec.vocabulary.ids.size(), has_chain ? &chain : nullptr);
    });
  });
}

py::tuple make_decode_calls(const py::object &owner, const DeferredDecoder &decoder,
                            const py::tuple &slow_calls) {
  if (slow_calls.size() != 2)
    throw py::value_error("expected two slow calls");
  auto calls = std::make_unique<DecodeCalls>();
  calls->decoder = &decoder;
  const FastFunctions<DecodeCalls> functions(std::move(calls), owner);
  return py::make_tuple(functions.make<decode>("decode", slow_calls[0]),
                        functions.make<decode_bytes>("decode_bytes", slow_calls[1]));
}

} // namespace pretok
