// Answers tok(text), with or without offsets, and tok.encode(text) for bpe.compat.huggingface.
// They are the most frequent calls of the tokenizers of transformers.
#include "bindings/bind.hpp"
#include "bindings/convert.hpp"
#include "bindings/fast_call_method.hpp"
#include "bindings/fast_calls.hpp"
#include "bindings/fast_function.hpp"
#include "bindings/new_list.hpp"
#include "bindings/span_call.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace pretok {
namespace {

// The arguments of huggingface_call, and interned strs.
struct HuggingfaceCall {
  py::object key;
  py::dict is_plain;
  py::object batch_encoding;
  py::object encoding;
  py::object window;
  py::dict options;

  py::object check = interned("check");
  py::object tokenizer = interned("_tokenizer");
  py::object native_parts = interned("native_parts");
  py::object split_special_tokens = interned("split_special_tokens");
  py::object encode_special_tokens = interned("encode_special_tokens");
  py::object truncation = interned("truncation");
  py::object padding = interned("padding");
  py::object model_max_length = interned("model_max_length");
  py::object model_input_names = interned("model_input_names");
  py::object input_ids = interned("input_ids");
  py::object token_type_ids = interned("token_type_ids");
  py::object attention_mask = interned("attention_mask");
  py::object text = interned("text");
  py::object allow = interned("allow");
  py::object source = interned("_source");
  py::object data = interned("data");
  py::object encodings = interned("_encodings");
  py::object n_sequences = interned("_n_sequences");
  py::object served = interned("served");
  py::object offset_mapping = interned("offset_mapping");
  py::object one = py::int_(1);
  py::object zero = py::int_(0);
  py::object no_arguments = py::tuple();
  py::object no_ids = py::list();
};

// The options of a call.
struct CallOptions {
  bool wants_result; // a BatchEncoding instead of a list of ids
  bool wants_spans;
  bool adds_special_tokens;
};

// The items of State.native_parts (bpe/compat/huggingface/state.py).
enum EnginePart : py::ssize_t {
  ENGINE,
  ENCODE,
  BEFORE,
  AFTER,
  HAS_ZERO_TYPES,
  TAKES_TEXT,
  SPANS
};

py::object attribute(const py::object &object, const py::object &name) {
  return owned(PyObject_GetAttr(object.ptr(), name.ptr()));
}

void set_attribute(const py::object &object, const py::object &name, const py::object &value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value.ptr()) != 0)
    throw py::error_already_set();
}

void set_item(const py::object &dict, const py::object &key, const py::object &value) {
  if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) != 0)
    throw py::error_already_set();
}

py::object names_of(PyObject *object) {
  return owned(PyObject_GenericGetDict(object, nullptr));
}

// Returns the value of a key of a dict, or None. The reference is borrowed from the dict.
PyObject *find(const py::object &dict, py::handle key) {
  PyObject *value = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (value == nullptr && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return value == nullptr ? Py_None : value;
}

// Returns a new object of a class in Python. Calls the __new__ of `object`, because only it
// prepares an object to store its first attributes without a dict.
py::object new_object(const HuggingfaceCall &call, const py::object &type) {
  return owned(PyBaseObject_Type.tp_new(reinterpret_cast<PyTypeObject *>(type.ptr()),
                                        call.no_arguments.ptr(), nullptr));
}

// Returns a new list of `size` references to `item`.
py::list filled(py::ssize_t size, const py::object &item) {
  const auto count = static_cast<std::size_t>(size);
  NewList list(count);
  list.add_copies(item.ptr(), count);
  return list.take();
}

// Returns whether a str is in `names`.
bool contains(PyObject *names, const py::object &name) {
  const bool is_list = PyList_CheckExact(names);
  for (py::ssize_t i = 0; is_list && i < PyList_GET_SIZE(names); ++i) {
    PyObject *const item = PyList_GET_ITEM(names, i);
    if (item == name.ptr())
      return true;
    // Interned strs are equal only if they are the same object.
    if (!PyUnicode_CheckExact(item) || !PyUnicode_CHECK_INTERNED(item))
      break;
    if (i + 1 == PyList_GET_SIZE(names))
      return false;
  }
  const int found = PySequence_Contains(names, name.ptr());
  if (found < 0)
    throw py::error_already_set();
  return found != 0;
}

// Inserts the items of the list `added` at `index` of a list.
void insert(const py::object &list, py::ssize_t index, PyObject *added) {
  const py::ssize_t count = PyList_GET_SIZE(added);
  if (count == 0)
    return;
  // A template usually has one id, for which PyList_Insert is faster.
  const int failed = count == 1 ? PyList_Insert(list.ptr(), index, PyList_GET_ITEM(added, 0))
                                : PyList_SetSlice(list.ptr(), index, index, added);
  if (failed != 0)
    throw py::error_already_set();
}

// Returns whether a call without truncation and padding leaves the real tokenizer unchanged.
bool changes_nothing(const HuggingfaceCall &call, const py::object &real, PyObject *split) {
  return attribute(real, call.encode_special_tokens).ptr() == split &&
         attribute(real, call.truncation).is_none() && attribute(real, call.padding).is_none();
}

// Returns whether `limit`, the maximal length of a text of a model, is an int, and at least
// `size`.
bool is_within(PyObject *limit, py::ssize_t size) {
  if (!PyLong_CheckExact(limit))
    return false;
  int overflow = 0;
  const long long max = PyLong_AsLongLongAndOverflow(limit, &overflow);
  return overflow > 0 || (overflow == 0 && size <= max);
}

// Returns whether `parts` has the items of State.native_parts.
bool are_parts(PyObject *parts) {
  return PyTuple_CheckExact(parts) && PyTuple_GET_SIZE(parts) == SPANS + 1 &&
         PyList_CheckExact(PyTuple_GET_ITEM(parts, BEFORE)) &&
         PyList_CheckExact(PyTuple_GET_ITEM(parts, AFTER)) &&
         PyDict_Check(PyTuple_GET_ITEM(parts, SPANS));
}

// Returns whether `object` is a class in Python whose objects need no memory of their own, as
// those of a subclass of dict do.
bool is_plain_class(PyObject *object) {
  if (!PyType_Check(object))
    return false;
  const auto *type = reinterpret_cast<PyTypeObject *>(object);
  while ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0)
    type = type->tp_base;
  return type == &PyBaseObject_Type;
}

// Adds one to the number of calls that bpe served.
void count_call(const HuggingfaceCall &call, const py::object &state) {
  set_item(state, call.served, owned(PyNumber_Add(find(state, call.served), call.one.ptr())));
}

// Encodes `text` with `parts`, the items of State.native_parts. Sets `ids`, and `spans` if the
// call wants them. Returns false if Python code must answer.
bool encode(const HuggingfaceCall &call, const CallOptions &options, const py::object &parts,
            const py::object &text, const py::object &treatment, py::object &ids,
            py::object &spans) {
  const auto part = [&](EnginePart i) { return PyTuple_GET_ITEM(parts.ptr(), i); };
  PyObject *const before = options.adds_special_tokens ? part(BEFORE) : call.no_ids.ptr();
  PyObject *const after = options.adds_special_tokens ? part(AFTER) : call.no_ids.ptr();
  if (options.wants_spans) {
    // The first call of FastSpans.encode puts the function into the dict.
    const auto encode_spans =
        py::reinterpret_borrow<py::object>(PyDict_GetItem(part(SPANS), treatment.ptr()));
    if (!encode_spans)
      return false;
    std::optional<IdsAndSpans> encoded =
        encode_with_spans(encode_spans.ptr(), text.ptr(), before, after);
    if (!encoded)
      return false;
    ids = std::move(encoded->ids);
    spans = std::move(encoded->spans);
    return true;
  }
  const py::object direct = fast_call_of(part(ENCODE));
  if (direct)
    ids = encode_between(direct.ptr(), text.ptr(), treatment.ptr(), before, after);
  if (ids)
    return true;
  const std::array<PyObject *, 2> arguments{text.ptr(), treatment.ptr()};
  ids = owned(PyObject_Vectorcall(part(ENCODE), arguments.data(), 2, nullptr));
  if (!PyList_CheckExact(ids.ptr()))
    return false;
  insert(ids, 0, before);
  insert(ids, PyList_GET_SIZE(ids.ptr()), after);
  return true;
}

// Returns the BatchEncoding of a text with these `ids`, or None. `names` are the names of its
// items. `spans` may be a null object.
py::object new_result(const HuggingfaceCall &call, const CallOptions &options,
                      const py::object &parts, const py::object &names, const py::object &text,
                      const py::object &treatment, const py::object &ids,
                      const py::object &spans) {
  if (names.is_none())
    return names;
  const py::ssize_t size = PyList_GET_SIZE(ids.ptr());
  py::dict data;
  set_item(data, call.input_ids, ids);
  if (contains(names.ptr(), call.token_type_ids)) {
    if (PyTuple_GET_ITEM(parts.ptr(), HAS_ZERO_TYPES) != Py_True)
      return py::none();
    set_item(data, call.token_type_ids, filled(size, call.zero));
  }
  if (contains(names.ptr(), call.attention_mask))
    set_item(data, call.attention_mask, filled(size, call.one));
  if (spans)
    set_item(data, call.offset_mapping, spans);

  const py::object encoding = new_object(call, call.encoding);
  set_attribute(encoding, call.source,
                owned(PyTuple_Pack(5, call.window.ptr(), PyTuple_GET_ITEM(parts.ptr(), ENGINE),
                                   text.ptr(), treatment.ptr(),
                                   options.adds_special_tokens ? Py_True : Py_False)));
  py::object result = new_object(call, call.batch_encoding);
  set_attribute(result, call.data, data);
  set_attribute(result, call.encodings, filled(1, encoding));
  set_attribute(result, call.n_sequences, call.one);
  return result;
}

// Returns what the call wants, or None.
py::object answer(const HuggingfaceCall &call, const py::object &tok, const py::object &text,
                  const CallOptions &options) {
  if (!PyUnicode_CheckExact(text.ptr()))
    return py::none();
  const py::handle type(reinterpret_cast<PyObject *>(Py_TYPE(tok.ptr())));
  if (TextView(text).has_surrogate() || find(call.is_plain, type) != Py_True)
    return py::none();
  // Attributes in a __dict__ are read from there, since the class of `tok` has a __getattr__,
  // which makes other ways slow. Classes.is_plain excludes classes with properties of these
  // names.
  const py::object settings = names_of(tok.ptr());
  const auto real = py::reinterpret_borrow<py::object>(find(settings, call.tokenizer));
  if (real.is_none())
    return real;
  const auto found = py::reinterpret_borrow<py::object>(find(names_of(real.ptr()), call.key));
  if (found.is_none())
    return found;
  const py::object state = names_of(found.ptr());
  // Another thread may replace the parts while this function uses them.
  const auto parts = py::reinterpret_borrow<py::object>(find(state, call.native_parts));
  PyObject *const split = find(settings, call.split_special_tokens);
  if (!are_parts(parts.ptr()) || !PyBool_Check(split) || !changes_nothing(call, real, split))
    return py::none();
  if (split == Py_True && PyTuple_GET_ITEM(parts.ptr(), TAKES_TEXT) != Py_True)
    return py::none();
  const py::object &treatment = split == Py_True ? call.text : call.allow;
  py::object ids;
  py::object spans;
  if (!encode(call, options, parts, text, treatment, ids, spans))
    return py::none();

  if (!is_within(find(settings, call.model_max_length), PyList_GET_SIZE(ids.ptr())))
    return py::none();
  const auto names = py::reinterpret_borrow<py::object>(find(settings, call.model_input_names));
  py::object result = options.wants_result
                          ? new_result(call, options, parts, names, text, treatment, ids, spans)
                          : ids;
  if (!result.is_none())
    count_call(call, state);
  return result;
}

// Returns the options in the arguments of a call, (tok, text, add_special_tokens) or
// (tok, text, return_offsets_mapping, add_special_tokens).
std::optional<CallOptions> options_of(const Arguments &args) {
  const bool wants_result = args.count == 4;
  if ((args.count != 3 && args.count != 4) ||
      !std::all_of(args.items + 2, args.items + args.count,
                   [](PyObject *option) { return PyBool_Check(option); }))
    return std::nullopt;
  return CallOptions{wants_result, wants_result && args[2] == Py_True,
                     args[args.count - 1] == Py_True};
}

// Returns whether a share of the calls is checked.
bool is_checked(const HuggingfaceCall &call) {
  const int result = PyObject_IsTrue(find(call.options, call.check));
  if (result < 0)
    throw py::error_already_set();
  return result != 0;
}

// Returns `answer`. If it raises an Exception, returns None: the Python code then raises it.
PyObject *call_with_text(HuggingfaceCall &call, const Arguments &args) {
#ifdef Py_GIL_DISABLED
  // Another thread may change an object while this function reads it.
  return nullptr;
#endif
  const std::optional<CallOptions> options = options_of(args);
  if (!options)
    return nullptr;
  PyObject *result = guarded([&]() -> PyObject * {
    if (is_checked(call))
      return nullptr;
    return answer(call, py::reinterpret_borrow<py::object>(args[0]),
                  py::reinterpret_borrow<py::object>(args[1]), *options)
        .release()
        .ptr();
  });
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_Exception) != 0)
    PyErr_Clear();
  return result;
}

// Returns a Python function `answer`:
//   - answer(tok, text, return_offsets_mapping, add_special_tokens) returns the BatchEncoding
//     of a text, like ShortCall.call (bpe/compat/huggingface/short_call.py);
//   - answer(tok, text, add_special_tokens) returns the ids of a text, like ShortCall.encode.
// `answer` returns None if Python code must answer.
//
// The arguments:
//   - key: the name of the attribute of a tokenizers.Tokenizer that holds its State
//     (bpe/compat/huggingface/state.py).
//   - is_plain: a dict. If its value for the class of `tok` is not True, Python code must
//     answer.
//   - batch_encoding, encoding: the classes of the result and of its encoding.
//   - window: a function with the arguments (engine, text, treatment, add_special_tokens). It
//     returns the Window of the encoding (bpe/compat/huggingface/windows.py).
//   - options: a dict with the key "check". While its value is true, Python code must answer.
py::object huggingface_call(py::object key, py::dict is_plain, py::object batch_encoding,
                            py::object encoding, py::object window, py::dict options) {
  if (!is_plain_class(batch_encoding.ptr()) || !is_plain_class(encoding.ptr()))
    throw py::type_error("expected two classes, written in Python");
  auto call = std::make_unique<HuggingfaceCall>(
      HuggingfaceCall{std::move(key), std::move(is_plain), std::move(batch_encoding),
                      std::move(encoding), std::move(window), std::move(options)});
  return FastFunctions<HuggingfaceCall>(std::move(call))
      .make<call_with_text>("huggingface_call");
}

} // namespace

void bind_huggingface_call(py::module_ &module) {
  module.def("huggingface_call", &huggingface_call, py::arg("key"), py::arg("is_plain"),
             py::arg("batch_encoding"), py::arg("encoding"), py::arg("window"),
             py::arg("options"));
}

} // namespace pretok
