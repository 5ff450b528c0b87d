#include "bindings/normalizing.hpp"

#include "bindings/convert.hpp"

#include "core/normalize/character_map.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "core/normalize/precompiled.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/unicode/code_point_counts.hpp"
#include "core/unicode/utf8.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

struct Bytes {
  explicit Bytes(const py::bytes &object)
      : data(reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(object.ptr()))),
        size(static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))) {}
  const std::uint8_t *data;
  std::size_t size;
};

py::bytes as_bytes(const std::vector<std::uint8_t> &data) {
  return py::bytes(reinterpret_cast<const char *>(data.data()), data.size());
}

Charsmap charsmap_of(const py::bytes &blob) {
  const Bytes bytes(blob);
  return Charsmap(bytes.data, bytes.size);
}

// Returns the result of Charsmap::find_problem, "" if there is no problem, and the growth.
std::pair<std::string, std::size_t> check_charsmap(const py::bytes &blob) {
  const char *problem = nullptr;
  Charsmap charsmap = charsmap_of(blob);
  unlocked(Bytes(blob).size, [&] { problem = charsmap.find_problem(); });
  return {problem == nullptr ? "" : problem, charsmap.max_growth()};
}

class NativeSentencePieceNormalizer {
public:
  NativeSentencePieceNormalizer(const py::bytes &charsmap, bool add_dummy_prefix,
                                bool remove_extra_whitespaces, bool escape_whitespaces,
                                bool treat_whitespace_as_suffix,
                                std::vector<std::string> symbols)
      : normalizer_({add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces,
                     treat_whitespace_as_suffix},
                    charsmap_of(charsmap), Symbols(std::move(symbols))) {}

  py::bytes normalized(const py::bytes &text) const {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    unlocked(bytes.size, [&] { normalizer_.normalize(bytes.data, bytes.size, normal); });
    return as_bytes(normal);
  }

  py::tuple align(const py::bytes &text) const {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    std::vector<std::int64_t> origins;
    unlocked(bytes.size, [&] { normalizer_.align(bytes.data, bytes.size, normal, origins); });
    return py::make_tuple(as_bytes(normal), as_array(std::move(origins)));
  }

private:
  SentencePieceNormalizer normalizer_;
};

// Calls run(at) for each part of a text until the text ends. run(at) normalizes the text from
// `at` on, and returns the position where it stopped. If it stopped at a character, and not at
// the end of the text, calls load(code_point) to load the page of the character. `stopped` is
// the position of the character; run sets it. Returns false if a byte is not UTF-8.
template <typename Run, typename Load>
bool run_by_pages(const Bytes &text, const std::size_t &stopped, Run run, Load load) {
  for (std::size_t at = 0;;) {
    unlocked(text.size - at, [&] { at = run(at); });
    if (at == text.size)
      return true;
    const std::uint32_t code_point =
        decode_utf8(text.data + stopped, text.size - stopped).code_point;
    if (code_point - 0xDC00 < 0x100)
      return false;
    load(code_point);
  }
}

std::uint32_t first_of_page(std::uint32_t code_point) {
  return code_point - code_point % static_cast<std::uint32_t>(CHARACTERS_PER_PAGE);
}

class NativeCharacterMap {
public:
  explicit NativeCharacterMap(py::function spell_page) : spell_page_(std::move(spell_page)) {
    load(0);
  }

  py::object normalized(const py::bytes &text) {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    std::size_t stopped = 0;
    const auto run = [&](std::size_t at) {
      return stopped = map_.map(bytes.data, bytes.size, at, normal);
    };
    if (!run_by_pages(bytes, stopped, run, [this](std::uint32_t at) { load(at); }))
      return py::none();
    return as_bytes(normal);
  }

  py::object align(const py::bytes &text) {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    CharacterMap::Origins origins;
    std::size_t stopped = 0;
    const auto run = [&](std::size_t at) {
      return stopped = map_.map(bytes.data, bytes.size, at, normal, origins);
    };
    if (!run_by_pages(bytes, stopped, run, [this](std::uint32_t at) { load(at); }))
      return py::none();
    return py::make_tuple(as_bytes(normal), as_array(std::move(origins.indices)));
  }

private:
  void load(std::uint32_t code_point) {
    const auto spellings = cast_argument<std::vector<std::string>>(
        spell_page_(first_of_page(code_point)), "a list of 256 texts");
    if (spellings.size() != CHARACTERS_PER_PAGE)
      throw py::value_error("expected 256 texts");
    CharacterPage page;
    page.starts[0] = 0;
    for (std::size_t i = 0; i < CHARACTERS_PER_PAGE; ++i) {
      page.text.insert(page.text.end(), spellings[i].begin(), spellings[i].end());
      page.starts[i + 1] = static_cast<std::uint32_t>(page.text.size());
    }
    map_.store(code_point, std::move(page));
  }

  CharacterMap map_;
  py::function spell_page_;
};

class NativePrecompiled {
public:
  explicit NativePrecompiled(const py::bytes &charsmap) : precompiled_(charsmap_of(charsmap)) {}

  py::bytes normalized(const py::bytes &text) const {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    unlocked(bytes.size, [&] { precompiled_.normalize(bytes.data, bytes.size, normal); });
    return as_bytes(normal);
  }

private:
  Precompiled precompiled_;
};

// A normal form of Unicode. Keeps bytes that are not UTF-8.
class NativeUnicodeForm {
public:
  explicit NativeUnicodeForm(unsigned form) : chain_(steps_of(form), std::nullopt) {}

  py::bytes normalized(const py::bytes &text) const {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    unlocked(bytes.size, [&] { chain_.normalize(bytes.data, bytes.size, normal); });
    return as_bytes(normal);
  }

  py::tuple align(const py::bytes &text) const {
    const Bytes bytes(text);
    std::vector<std::uint8_t> normal;
    bool is_kept = false;
    std::vector<std::int64_t> origins;
    unlocked(bytes.size, [&] {
      chain_.normalize(bytes.data, bytes.size, normal);
      is_kept = std::equal(normal.begin(), normal.end(), bytes.data, bytes.data + bytes.size);
      if (is_kept)
        return;
      const CodePointCounts counts(bytes.data, bytes.size);
      const std::vector<std::size_t> sources = chain_.sources(bytes.data, bytes.size);
      for (std::size_t i = 0; i < normal.size(); ++i)
        if (!is_tail(normal[i]))
          origins.push_back(counts.before(sources[i]));
    });
    if (is_kept)
      return py::make_tuple(text, py::none());
    return py::make_tuple(as_bytes(normal), as_array(std::move(origins)));
  }

private:
  static std::vector<NormalizerStep> steps_of(unsigned form) {
    if (form > static_cast<unsigned>(NormalizerStep::Kind::NFKD))
      throw py::value_error("expected a form from 0 to 3");
    NormalizerStep step;
    step.kind = static_cast<NormalizerStep::Kind>(form);
    return {step};
  }

  NormalizerChain chain_;
};

} // namespace

void bind_normalizing(py::module_ &module) {
  using SentencePiece = NativeSentencePieceNormalizer;
  py::class_<SentencePiece>(module, "SentencePieceNormalizer")
      .def(py::init<const py::bytes &, bool, bool, bool, bool, std::vector<std::string>>(),
           py::arg("charsmap"), py::arg("add_dummy_prefix"),
           py::arg("remove_extra_whitespaces"), py::arg("escape_whitespaces"),
           py::arg("treat_whitespace_as_suffix"), py::arg("symbols"))
      .def("normalized", &SentencePiece::normalized, py::arg("text"))
      .def("align", &SentencePiece::align, py::arg("text"));
  py::class_<NativeCharacterMap>(module, "CharacterMap")
      .def(py::init<py::function>(), py::arg("spell_page"))
      .def("normalized", &NativeCharacterMap::normalized, py::arg("text"))
      .def("align", &NativeCharacterMap::align, py::arg("text"));
  py::class_<NativePrecompiled>(module, "Precompiled")
      .def(py::init<const py::bytes &>(), py::arg("charsmap"))
      .def("normalized", &NativePrecompiled::normalized, py::arg("text"));
  py::class_<NativeUnicodeForm>(module, "UnicodeForm")
      .def(py::init<unsigned>(), py::arg("form"))
      .def("normalized", &NativeUnicodeForm::normalized, py::arg("text"))
      .def("align", &NativeUnicodeForm::align, py::arg("text"));
  module.def("check_charsmap", &check_charsmap, py::arg("blob"));
}

} // namespace pretok
