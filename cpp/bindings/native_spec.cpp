#include "bindings/native_spec.hpp"

#include "bindings/convert.hpp"
#include "core/base/ids.hpp"
#include "formats/byte_source.hpp"
#include "formats/character_spec.hpp"
#include "formats/piece_merges.hpp"
#include "formats/read_spec.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

py::object id_or_none(std::uint32_t id) {
  return id == NO_ID ? py::object(py::none()) : py::int_(id);
}

// Returns the members of TextSpec, or None.
py::object text_fields(const TokenizerSpec &spec) {
  if (!spec.text)
    return py::none();
  const TextSpec &text = *spec.text;
  return py::make_tuple(id_or_none(text.unknown_id), text.fuses_unknown, text.has_fallback,
                        text.byte_level, text.prefix, text.suffix);
}

// Returns the fields of a CharacterSpec that the reader in Python stores too: all but
// `is_normalizer` and some members of `spaces`.
py::object character_fields(const TokenizerSpec &spec) {
  if (!spec.characters)
    return py::none();
  const CharacterSpec &options = *spec.characters;
  py::object normalizer = py::none();
  if (spec.sentencepiece) {
    const auto &[prefix, removes, escapes, suffix] = spec.sentencepiece->options;
    normalizer = py::make_tuple(as_bytes(spec.sentencepiece->charsmap), prefix, removes,
                                escapes, suffix);
  }
  const TextSpaces &spaces = options.spaces;
  const char *const prefix = spaces.prefix == TextSpaces::Prefix::NONE     ? "never"
                             : spaces.prefix == TextSpaces::Prefix::ALWAYS ? "always"
                                                                           : "unless_space";
  return py::make_tuple(prefix, spaces.only_first, spaces.replaces_invalid,
                        options.splits_at_marks, normalizer);
}

// Returns the members of SentencePieceDecoding, or None.
py::object decoding_fields(const TokenizerSpec &spec) {
  if (!spec.decoding)
    return py::none();
  const SentencePieceDecoding &decoding = *spec.decoding;
  return py::make_tuple(decoding.strips_space, decoding.strips_spaces, decoding.invisible,
                        decoding.unknown_surface);
}

// Returns the names of the steps of the normalizer, whether there is a Metaspace, and the names
// of the steps of the decoder.
py::tuple steps_of(const TokenizerSpec &spec) {
  py::list steps;
  for (const NormalizerStep &step : spec.steps)
    steps.append(step.type->name);
  py::object decoder = py::none();
  if (spec.decoder) {
    py::list names;
    for (const DecoderStep &step : *spec.decoder)
      names.append(step.type->name);
    decoder = names;
  }
  return py::make_tuple(steps, spec.metaspace.has_value(), decoder);
}

// Returns an array of `size` rows of `columns` numbers, which views the memory of `owner`.
py::array_t<std::uint32_t> view_rows(const NativeSpec &owner, const std::uint32_t *data,
                                     std::size_t size, std::size_t columns) {
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(size)};
  if (columns != 1)
    shape.push_back(static_cast<py::ssize_t>(columns));
  py::array_t<std::uint32_t> array(shape, data,
                                   owning_capsule(std::make_unique<NativeSpec>(owner)));
  array.attr("flags").attr("writeable") = false;
  return array;
}

// Returns the bytes, lengths and ids of the tokens.
py::tuple tokens_of(const NativeSpec &native) {
  const VocabularyData &data = native.spec->vocabulary;
  return py::make_tuple(as_bytes(data.bytes),
                        view_rows(native, data.lengths.data(), data.lengths.size(), 1),
                        view_rows(native, data.ids.data(), data.ids.size(), 1));
}

// Returns an array with a row for each merge: the ids of the left token, of the right token and
// of the result. Finds the merges if only the scores of the tokens give them.
py::array_t<std::uint32_t> merge_rows_of(const NativeSpec &native) {
  if (!native.spec->scores.empty()) {
    std::vector<Merge> found;
    throw_if(find_piece_merges(scored_pieces(*native.spec), found));
    return as_rows(found);
  }
  const std::vector<Merge> &merges = native.spec->vocabulary.merges;
  static_assert(sizeof(Merge) == 3 * sizeof(std::uint32_t));
  const auto *const data = reinterpret_cast<const std::uint32_t *>(merges.data());
  return view_rows(native, data, merges.size(), 3);
}

// Returns the score of each mergeable token, or NaN; empty if there is a list of merges.
py::array_t<float> scores_of(const NativeSpec &native) {
  return as_array(std::vector<float>(native.spec->scores));
}

// Returns the facts about tokens: types, scores, roles, ends and chat templates.
py::tuple fact_fields(const TokenFacts &facts) {
  py::list roles;
  for (const std::uint32_t id : facts.roles.ids)
    roles.append(id_or_none(id));
  return py::make_tuple(as_array(std::vector<std::uint8_t>(facts.types)),
                        as_array(std::vector<float>(facts.scores)), roles, facts.ends,
                        facts.chat_template, facts.named_templates);
}

// Returns the parts of the tokenizer besides its tokens, merges and scores.
py::dict fields_of(const NativeSpec &native) {
  const TokenizerSpec &spec = *native.spec;
  py::dict result;
  result["from_ranks"] = spec.vocabulary.from_ranks;
  py::list added;
  for (const AddedToken &token : spec.added)
    added.append(py::make_tuple(token.content, token.id, token.special, token.normalized,
                                token.lstrip, token.rstrip, token.single_word));
  result["mergeable"] = spec.vocabulary.mergeable;
  result["ignore_merges"] = spec.vocabulary.ignore_merges;
  result["added"] = added;
  result["preset"] = spec.preset;
  result["why_no_preset"] = spec.why_no_preset;
  result["program"] = spec.program;
  result["unicode"] = spec.unicode;
  result["nfc"] = spec.nfc;
  result["add_prefix_space"] = spec.add_prefix_space;
  result["before"] = spec.before;
  result["after"] = spec.after;
  result["text"] = text_fields(spec);
  result["characters"] = character_fields(spec);
  result["decoding"] = decoding_fields(spec);
  result["steps"] = steps_of(spec);
  result["truncation"] = spec.truncation;
  result["padding"] = spec.padding;
  result["trims"] = spec.trims;
  py::list ignored;
  for (const IgnoredId &each : spec.ignored_ids)
    ignored.append(py::make_tuple(spec.added[each.index].content, each.id));
  result["ignored_ids"] = ignored;
  result["facts"] = fact_fields(spec.facts);
  return result;
}

// A file object of Python, opened in binary mode.
class PythonFile final : public ByteSource {
public:
  explicit PythonFile(py::object file) : file_(std::move(file)) {
    size_ = file_.attr("seek")(0, 2).cast<std::uint64_t>();
  }

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override {
    file_.attr("seek")(at);
    const auto data = py::bytes(file_.attr("read")(count));
    const std::string_view view = view_of(data);
    std::memcpy(to, view.data(), std::min(view.size(), count));
    return std::min(view.size(), count);
  }

private:
  py::object file_;
  std::uint64_t size_;
};

// Reads a tokenizer file as C and C++ programs do. `file` is a file object or bytes. Raises
// ValueError if the file is malformed, and NotImplementedError if C++ does not support it.
NativeSpec read_native_spec(const py::object &file) {
  auto spec = std::make_shared<TokenizerSpec>();
  LoadError error;
  if (py::isinstance<py::bytes>(file)) {
    const std::string_view data = view_of(py::reinterpret_borrow<py::bytes>(file));
    error = unlocked(data.size(), [&] {
      return read_spec(reinterpret_cast<const std::uint8_t *>(data.data()), data.size(), *spec);
    });
  } else {
    if (!py::hasattr(file, "seek") || !py::hasattr(file, "read"))
      throw py::type_error("expected bytes, or a file object, opened in binary mode");
    PythonFile source(file);
    error = read_spec(source, *spec);
  }
  if (!error && spec->facts.dropout != 0)
    error = unsupported("the file has a dropout, of which the reader in Python warns");
  throw_if(error);
  return {std::move(spec)};
}

} // namespace

void throw_if(const LoadError &error) {
  if (!error)
    return;
  PyErr_SetString(error.kind == LoadError::UNSUPPORTED ? PyExc_NotImplementedError
                                                       : PyExc_ValueError,
                  error.message.c_str());
  throw py::error_already_set();
}

void bind_native_spec(pybind11::module_ &module) {
  py::class_<NativeSpec>(module, "Spec")
      .def(py::init(&spec_of_values), py::arg("tokens"), py::arg("lengths"), py::arg("ids"),
           py::arg("fields"))
      .def("tokens", &tokens_of)
      .def("merges", &merge_rows_of)
      .def("scores", &scores_of)
      .def("fields", &fields_of)
      .def_property_readonly("is_text",
                             [](const NativeSpec &self) { return self.spec->text.has_value(); })
      .def_property_readonly("ignore_merges", [](const NativeSpec &self) {
        return self.spec->vocabulary.ignore_merges;
      });
  module.def("read_spec", &read_native_spec, py::arg("file"));
}

} // namespace pretok
