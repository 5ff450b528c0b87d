#include "bindings/added_record.hpp"
#include "bindings/convert.hpp"
#include "bindings/native_spec.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/ids.hpp"
#include "formats/tokenizer_json.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// A tokenizer.json in memory.
class NativeJsonFile {
public:
  explicit NativeJsonFile(py::bytes file) : file_(std::move(file)) {}

  // Returns false if C++ leaves the file to Python.
  bool open() {
    const std::string_view text = view_of(file_);
    return unlocked(text.size(), [&] { return !json_.open(text); });
  }

  py::bytes rest() const { return json_.rest(); }
  const py::bytes &file() const { return file_; }
  std::size_t size() const { return json_.model().texts.size(); }

  // Returns all texts of the vocabulary and their ids.
  py::dict ids() const {
    py::dict result;
    for (std::size_t i = 0; i < size(); ++i)
      result[py::str(json_.model().texts[i])] = json_.model().ids[i];
    return result;
  }

  // Returns the id of each text in the vocabulary, or None.
  std::vector<std::optional<std::uint32_t>> find_all(const std::vector<py::str> &texts) const {
    std::vector<std::optional<std::uint32_t>> ids;
    for (const py::str &text : texts) {
      Py_ssize_t size = 0;
      const char *const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
      if (utf8 == nullptr) // a lone surrogate
        PyErr_Clear();
      const std::uint32_t id =
          utf8 == nullptr ? NO_ID : json_.find({utf8, static_cast<std::size_t>(size)});
      ids.push_back(id == NO_ID ? std::nullopt : std::optional(id));
    }
    return ids;
  }

  // Returns a NativeSpec of the whole file, or None.
  std::optional<NativeSpec> spec() const {
    const auto result = read([&](TokenizerSpec &spec) { return json_.read(spec); });
    // The reader in Python warns of a dropout.
    return result && result->spec->facts.dropout != 0 ? std::nullopt : result;
  }

  // Returns a NativeSpec with only the vocabulary, or None. `added` replace the added tokens.
  std::optional<NativeSpec> model(const std::vector<AddedRecord> &added,
                                  bool ends_byte_level) const {
    TokenizerJson::ModelOptions options;
    options.ends_byte_level = ends_byte_level;
    for (const AddedRecord &record : added)
      options.added.push_back(added_token(record));
    return read([&](TokenizerSpec &spec) { return json_.read_model(options, spec); });
  }

private:
  template <typename Read> std::optional<NativeSpec> read(Read read_spec) const {
    auto spec = std::make_shared<TokenizerSpec>();
    const LoadError error = unlocked(view_of(file_).size(), [&] { return read_spec(*spec); });
    return error ? std::nullopt : std::optional(NativeSpec{std::move(spec)});
  }

  py::bytes file_;
  TokenizerJson json_;
};

// Returns a NativeJsonFile, or None if C++ leaves the file to Python, which raises the error,
// if there is one.
std::unique_ptr<NativeJsonFile> open_json(const py::bytes &file) {
  auto json = std::make_unique<NativeJsonFile>(file);
  return json->open() ? std::move(json) : nullptr;
}

} // namespace

void bind_json_file(pybind11::module_ &module) {
  py::class_<NativeJsonFile>(module, "JsonFile")
      .def("rest", on_self(&NativeJsonFile::rest))
      .def("file", on_self(&NativeJsonFile::file))
      .def("ids", on_self(&NativeJsonFile::ids))
      .def("__len__", on_self(&NativeJsonFile::size))
      .def("find_all", &NativeJsonFile::find_all, py::arg("texts"))
      .def("spec", on_self(&NativeJsonFile::spec))
      .def("model", &NativeJsonFile::model, py::arg("added"), py::arg("ends_byte_level"));
  module.def("open_json", &open_json, py::arg("file"));
}

} // namespace pretok
