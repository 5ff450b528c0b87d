// Makes the normalizers of core/normalize callable from Python.
#include "bindings/bind.hpp"
#include "bindings/convert.hpp"

#include "core/normalize/normalizer_chain.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/unicode/code_point_counts.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/utf8_check.hpp"
#include "formats/pretok_file_reader.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Returns the result of Charsmap::find_problem, "" if there is no problem, and the growth.
std::pair<std::string, std::size_t> check_charsmap(const py::bytes &blob) {
  const ByteView bytes = bytes_of(blob);
  Charsmap charsmap(bytes.data, bytes.size);
  const char *const problem = unlocked(bytes.size, [&] { return charsmap.find_problem(); });
  return {problem == nullptr ? "" : problem, charsmap.max_growth()};
}

// The normalizer of a tokenizer, without Metaspace.
class NativeNormalizer {
public:
  // `stored` is the section `steps` of a .pretok file. `symbols` are for SentencePiece.
  NativeNormalizer(const py::bytes &stored, std::vector<std::string> symbols) {
    const ByteView bytes = bytes_of(stored);
    PretokFileReader reader(bytes.data, bytes.size, 0);
    TokenizerSpec spec;
    if (!read_steps_section(reader, spec))
      throw py::value_error(reader.error().message);
    if (spec.sentencepiece) {
      const auto &charsmap = spec.sentencepiece->charsmap;
      sentencepiece_.emplace(spec.sentencepiece->options,
                             Charsmap(charsmap.data(), charsmap.size()),
                             Symbols(std::move(symbols)));
      return;
    }
    chain_.emplace(std::move(spec.steps), std::nullopt);
  }

  py::bytes normalized(const py::bytes &text) const {
    const ByteView bytes = bytes_of(text);
    std::vector<std::uint8_t> normal;
    unlocked(bytes.size, [&] {
      if (sentencepiece_)
        sentencepiece_->normalize(bytes.data, bytes.size, normal);
      else
        chain_->normalize(bytes.data, bytes.size, normal);
    });
    return as_bytes(normal);
  }

  // Returns the normalized text, and for each of its code points the start and the end of a
  // span of the text. The offsets count code points. Returns None if a chain gets bytes that
  // are not UTF-8: such bytes may form a code point in the normalized text.
  py::object align(const py::bytes &text) const {
    const ByteView bytes = bytes_of(text);
    std::vector<std::uint8_t> normal;
    std::vector<std::int64_t> spans;
    bool is_done = true;
    unlocked(bytes.size, [&] {
      is_done = sentencepiece_ || is_utf8(bytes.data, bytes.size);
      if (sentencepiece_)
        spans = align_sentencepiece(bytes, normal);
      else if (is_done)
        spans = align_chain(bytes, normal);
    });
    if (!is_done)
      return py::none();
    return py::make_tuple(as_bytes(normal), as_array(std::move(spans)));
  }

private:
  std::vector<std::int64_t> align_sentencepiece(ByteView text,
                                                std::vector<std::uint8_t> &normal) const {
    std::vector<std::int64_t> origins;
    sentencepiece_->align(text.data, text.size, normal, origins);
    std::vector<std::int64_t> spans;
    spans.reserve(2 * origins.size());
    for (std::size_t i = 1; i < origins.size(); ++i)
      spans.insert(spans.end(), {origins[i - 1], origins[i]});
    return spans;
  }

  std::vector<std::int64_t> align_chain(ByteView text,
                                        std::vector<std::uint8_t> &normal) const {
    Origins origins;
    chain_->align(text.data, text.size, normal, origins);
    const CodePointCounts counts(text.data, text.size);
    std::vector<std::int64_t> spans;
    spans.reserve(2 * normal.size());
    for (std::size_t i = 0; i < normal.size(); ++i) {
      if (origins[i] == SAME_ORIGIN)
        continue;
      const bool is_inserted = origins[i] == NO_ORIGIN; // before all characters of the text
      const auto start = is_inserted ? 0 : counts.before(static_cast<std::size_t>(origins[i]));
      spans.insert(spans.end(), {start, is_inserted ? 0 : start + 1});
    }
    return spans;
  }

  std::optional<SentencePieceNormalizer> sentencepiece_;
  std::optional<NormalizerChain> chain_; // set if sentencepiece_ is not
};

} // namespace

void bind_normalizing(py::module_ &module) {
  py::class_<NativeNormalizer>(module, "Normalizer")
      .def(py::init<const py::bytes &, std::vector<std::string>>(), py::arg("stored"),
           py::arg("symbols"))
      .def("normalized", &NativeNormalizer::normalized, py::arg("text"))
      .def("align", &NativeNormalizer::align, py::arg("text"));
  module.def("check_charsmap", &check_charsmap, py::arg("blob"));
}

} // namespace pretok
