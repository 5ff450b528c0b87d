// Divides texts by a number of ids, for bpe/budgets/.
#include "bindings/bind.hpp"
#include "bindings/native_tokenizer.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/texts.hpp"

#include "core/encode/chunk_search.hpp"
#include "core/utf/read_utf8.hpp"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

namespace py = pybind11;

constexpr std::string_view MARK = "\xE2\x96\x81"; // "▁"
constexpr unsigned CODE_POINT_BITS = 21;

// PairProofs with the Python objects that it reads.
class NativeProofs {
public:
  static std::shared_ptr<NativeProofs> of_kinds(const Array<std::uint16_t> &kinds,
                                                const py::bytearray &table,
                                                const py::function &find) {
    const auto *const of = kinds.data();
    const auto size = static_cast<std::size_t>(kinds.size());
    if (kinds.ndim() != 1 || size != PairProofs::CODE_POINTS || kinds.writeable())
      throw py::value_error("expected a read-only kind of each code point");
    const std::size_t count = std::size_t{*std::max_element(of, of + size)} + 1;
    auto buffer = std::make_unique<Buffer>(table);
    if (buffer->size() != count * count)
      throw py::value_error("expected one proof for each two kinds");
    const auto checked = [](std::size_t proof) {
      if (proof > static_cast<std::size_t>(Proof::JOINT))
        throw py::value_error("expected proofs from 0 to 3");
      return static_cast<Proof>(proof);
    };
    for (std::size_t at = 0; at < buffer->size(); ++at)
      checked(buffer->data()[at]);
    PairProofs::Kinds parts{of, buffer->data(), count,
                            [find, checked](std::size_t before, std::size_t after) {
                              return checked(py::cast<std::size_t>(find(before, after)));
                            }};
    return std::shared_ptr<NativeProofs>(
        new NativeProofs(PairProofs(std::move(parts)), kinds, std::move(buffer)));
  }

  static std::shared_ptr<NativeProofs> of_joined(const Array<std::uint64_t> &pairs,
                                                 std::vector<std::uint32_t> spaces) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;
    joined.reserve(static_cast<std::size_t>(pairs.size()));
    for (py::ssize_t i = 0; i < pairs.size(); ++i) {
      const std::uint64_t pair = pairs.data()[i];
      joined.emplace_back(static_cast<std::uint32_t>(pair >> CODE_POINT_BITS),
                          static_cast<std::uint32_t>(pair & ((1U << CODE_POINT_BITS) - 1)));
    }
    std::sort(spaces.begin(), spaces.end());
    return std::shared_ptr<NativeProofs>(
        new NativeProofs(PairProofs(joined, std::move(spaces)), {}, nullptr));
  }

  const PairProofs &proofs() const { return proofs_; }

private:
  NativeProofs(PairProofs proofs, py::object kinds, std::unique_ptr<Buffer> table)
      : proofs_(std::move(proofs)), kinds_(std::move(kinds)), table_(std::move(table)) {}

  PairProofs proofs_;
  py::object kinds_;
  std::unique_ptr<Buffer> table_;
};

// bpe/budgets/token_ends.py does the same in Python.
py::object token_ends(const Array<std::uint32_t> &ids, const Array<std::int32_t> &sizes,
                      const py::bytes &data, bool may_have_prefix, bool may_have_marks) {
  if (ids.ndim() != 1 || sizes.ndim() != 1)
    throw py::value_error("expected arrays of one dimension");
  const std::string_view text = data;
  constexpr std::int64_t MAX = std::numeric_limits<std::int32_t>::max();
  if (static_cast<std::int64_t>(text.size()) >= MAX / 2)
    return py::none();
  const auto count = static_cast<std::size_t>(ids.size());
  const auto known = static_cast<std::size_t>(sizes.size());
  const std::uint32_t *const id = ids.data();
  const std::int32_t *const size = sizes.data();
  std::vector<std::int32_t> ends(count);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (id[i] >= known || size[id[i]] < 0)
      return py::none();
    end += size[id[i]];
    if (end >= MAX)
      return py::none();
    ends[i] = static_cast<std::int32_t>(end);
  }
  constexpr auto TAIL = static_cast<std::int64_t>(MARK.size()) - 1;
  auto whole = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> marks; // where each mark ends if all marks were one byte
  if (may_have_marks && end < whole)
    for (std::size_t at = text.find(MARK); at != std::string_view::npos;
         at = text.find(MARK, at + MARK.size())) {
      marks.push_back(static_cast<std::int64_t>(at) + 1 -
                      TAIL * static_cast<std::int64_t>(marks.size()));
      whole -= TAIL;
    }
  const std::int64_t extra = end - whole;
  if (extra != 0 && !(extra == 1 && may_have_prefix))
    return py::none();
  if (extra != 0)
    for (std::int32_t &each : ends)
      --each;
  std::int32_t shift = 0;
  auto mark = marks.begin();
  if (!marks.empty())
    for (std::int32_t &each : ends) {
      for (; mark != marks.end() && *mark <= each; ++mark)
        shift += static_cast<std::int32_t>(TAIL);
      each += shift;
    }
  return as_array(std::move(ends));
}

// Returns the UTF-8 of a str, or None if it has surrogates.
py::object utf8_of(const py::str &text) {
  const TextView view(text);
  if (!view.is_ascii() && view.has_surrogate())
    return py::none();
  Scratch scratch;
  return view.with_utf8(scratch, [](const std::uint8_t *data, std::size_t size) -> py::object {
    return py::bytes(reinterpret_cast<const char *>(data), size);
  });
}

// A ChunkSearch with the Python objects that it reads.
class NativeChunks {
public:
  NativeChunks(const py::object &tokenizer, std::shared_ptr<const AddedTokenPhases> added,
               std::shared_ptr<const NativeProofs> proofs, py::bytes data,
               const Array<std::int32_t> &ends, bool puts_prefix, const py::object &blocked,
               const py::object &allowed, bool is_normal, std::size_t longest, std::size_t room,
               py::object text)
      : owner_(tokenizer), tokenizer_(NativeTokenizer::of(tokenizer).tokenizers().whole()),
        added_(std::move(added)), proofs_(std::move(proofs)), data_(std::move(data)),
        ends_(ends), source_(std::move(text)) {
    if (added_ == nullptr || proofs_ == nullptr)
      throw py::type_error("expected AddedTokens and PairProofs");
    if (!source_.is_none() && !PyUnicode_Check(source_.ptr()))
      throw py::type_error("expected the str of the data, or None");
    ChunkText parts;
    parts.data = bytes_of(data_).data;
    parts.size = bytes_of(data_).size;
    parts.ends = ends_.data();
    parts.count = static_cast<std::size_t>(ends_.size());
    if (ends_.ndim() != 1 || !ascends(parts.ends, parts.count, parts.size))
      throw py::value_error("expected ends that ascend up to the size of the text");
    parts.blocked = flags(blocked, blocked_, parts.size);
    parts.allowed = flags(allowed, allowed_, parts.size);
    parts.is_normal = is_normal;
    parts.puts_prefix = puts_prefix;
    parts.longest = std::min(longest, parts.size);
    const auto count = [this](std::size_t start, std::size_t end, Encoder::Part part) {
      std::size_t size = 0;
      const Refusal refusal =
          tokenizer_.count(text_.data + start, end - start, *added_, **cache_, size, part);
      return refusal.token == nullptr ? size : ChunkSearch::TOO_MANY;
    };
    text_ = parts;
    // More ids than bytes, and a prefix, are never needed.
    search_ = std::make_unique<ChunkSearch>(parts, proofs_->proofs(), tokenizer_.encoder(),
                                            tokenizer_.vocabulary(), count,
                                            std::min(room, parts.size + 2));
  }

  std::size_t add_borders(const std::string &kind,
                          const std::optional<Array<std::int64_t>> &places) {
    static constexpr std::pair<std::string_view, BorderKind> KINDS[] = {
        {"token", BorderKind::TOKENS},         {"places", BorderKind::PLACES},
        {"spaces", BorderKind::SPACES},        {"line", BorderKind::LINES},
        {"pre-token", BorderKind::PRE_TOKENS}, {"character", BorderKind::CHARACTERS}};
    const auto *const found =
        std::find_if(std::begin(KINDS), std::end(KINDS),
                     [&](const auto &each) { return each.first == kind; });
    if (found == std::end(KINDS) || (found->second == BorderKind::PLACES) != places.has_value())
      throw py::value_error("expected a kind of borders, and places only for \"places\"");
    if (!places)
      return search_->add_borders(found->second);
    const auto size = static_cast<std::size_t>(places->size());
    if (places->ndim() != 1 || !ascends(places->data(), size, text_.size))
      throw py::value_error("expected places that ascend up to the size of the text");
    places_.push_back(*places);
    return search_->add_borders(found->second, places->data(), size);
  }

  std::size_t add_sentences(const Array<std::uint8_t> &kinds) {
    if (kinds.ndim() != 1 || kinds.size() != sentence::CODE_POINTS || kinds.writeable())
      throw py::value_error("expected a read-only kind of each code point below 65,536");
    sentence_kinds_ = kinds;
    return search_->add_borders(BorderKind::SENTENCES, nullptr, 0, sentence_kinds_.data());
  }

  std::optional<std::pair<ChunkSearch::Place, std::size_t>>
  longest(ChunkSearch::Place start, std::size_t borders, ChunkSearch::Place floor) {
    check(start, borders);
    if (floor < start || floor > static_cast<ChunkSearch::Place>(text_.size))
      throw py::value_error("expected a floor from the start to the end of the text");
    const CacheLease cache(tokenizer_.caches());
    cache_ = &cache;
    const auto part = search_->longest(start, borders, floor);
    cache_ = nullptr;
    if (!part)
      return std::nullopt;
    return std::make_pair(part->end, part->size);
  }

  // Returns where the last of the next parts ends, in bytes and in the units of the text, and
  // the parts as objects of `type`, a tuple type: text, start, end, size. `unit` is the offset
  // of `start` in the text. Sizes include `template_size`.
  py::tuple run(ChunkSearch::Place start, std::size_t unit, std::size_t limit,
                std::size_t template_size, const py::type &type) {
    check(start, 0);
    if (unit > (source_.is_none() ? text_.size : py::len(source_)))
      throw py::value_error("expected an offset in the text");
    auto *const tuple_type = reinterpret_cast<PyTypeObject *>(type.ptr());
    if (!PyType_IsSubtype(tuple_type, &PyTuple_Type) ||
        tuple_type->tp_basicsize != PyTuple_Type.tp_basicsize)
      throw py::type_error("expected a tuple type without other fields");
    const CacheLease cache(tokenizer_.caches());
    cache_ = &cache;
    const std::vector<ChunkSearch::Part> parts = search_->run(start, limit);
    cache_ = nullptr;
    py::list chunks(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint8_t *const data = text_.data + start;
      const auto size = static_cast<std::size_t>(parts[i].end - start);
      const std::size_t end =
          unit + (source_.is_none() ? size : shape_of(data, size).code_points);
      py::object chunk = owned(tuple_type->tp_alloc(tuple_type, 4));
      const auto set = [&](Py_ssize_t at, py::object value) {
        PyTuple_SET_ITEM(chunk.ptr(), at, value.release().ptr());
      };
      set(0, owned(source_.is_none()
                       ? PyBytes_FromStringAndSize(reinterpret_cast<const char *>(data),
                                                   static_cast<Py_ssize_t>(size))
                       : PyUnicode_Substring(source_.ptr(), static_cast<Py_ssize_t>(unit),
                                             static_cast<Py_ssize_t>(end))));
      set(1, py::int_(unit));
      set(2, py::int_(end));
      set(3, py::int_(parts[i].size + template_size));
      chunks[i] = std::move(chunk);
      start = parts[i].end;
      unit = end;
    }
    return py::make_tuple(start, unit, chunks);
  }

private:
  template <typename Number>
  static bool ascends(const Number *places, std::size_t count, std::size_t size) {
    if (count == 0)
      return size == 0;
    return places[0] >= 0 && std::is_sorted(places, places + count) &&
           static_cast<std::size_t>(places[count - 1]) == size;
  }

  static const std::uint8_t *flags(const py::object &object, std::unique_ptr<Buffer> &buffer,
                                   std::size_t size) {
    if (object.is_none())
      return nullptr;
    buffer = std::make_unique<Buffer>(object);
    if (buffer->size() != size + 1)
      throw py::value_error("expected a flag for each place of the text");
    return buffer->data();
  }

  void check(ChunkSearch::Place start, std::size_t borders) const {
    if (start < 0 || start > static_cast<ChunkSearch::Place>(text_.size) ||
        borders >= search_->kinds())
      throw py::value_error("expected a place of the text, and the index of borders");
  }

  py::object owner_; // of tokenizer_
  const Tokenizer &tokenizer_;
  std::shared_ptr<const AddedTokenPhases> added_;
  std::shared_ptr<const NativeProofs> proofs_;
  py::bytes data_;
  Array<std::int32_t> ends_;
  py::object source_; // the text if it is a str, else None
  std::unique_ptr<Buffer> blocked_;
  std::unique_ptr<Buffer> allowed_;
  std::vector<Array<std::int64_t>> places_;
  Array<std::uint8_t> sentence_kinds_;
  ChunkText text_;
  std::unique_ptr<ChunkSearch> search_;
  const CacheLease *cache_ = nullptr; // during a call
};

} // namespace

void bind_chunks(py::module_ &module) {
  py::class_<NativeProofs, std::shared_ptr<NativeProofs>>(module, "PairProofs")
      .def_static("of_kinds", &NativeProofs::of_kinds, py::arg("kinds"), py::arg("table"),
                  py::arg("find"))
      .def_static("of_joined", &NativeProofs::of_joined, py::arg("pairs"), py::arg("spaces"));
  py::class_<NativeChunks>(module, "Chunks")
      .def(py::init<const py::object &, std::shared_ptr<const AddedTokenPhases>,
                    std::shared_ptr<const NativeProofs>, py::bytes, const Array<std::int32_t> &,
                    bool, const py::object &, const py::object &, bool, std::size_t,
                    std::size_t, py::object>(),
           py::arg("tokenizer"), py::arg("added"), py::arg("proofs"), py::arg("data"),
           py::arg("ends"), py::arg("puts_prefix"), py::arg("blocked").none(true),
           py::arg("allowed").none(true), py::arg("is_normal"), py::arg("longest"),
           py::arg("room"), py::arg("text").none(true))
      .def("add_borders", &NativeChunks::add_borders, py::arg("kind"),
           py::arg("places").none(true))
      .def("add_sentences", &NativeChunks::add_sentences, py::arg("kinds"))
      .def("longest", &NativeChunks::longest, py::arg("start"), py::arg("borders"),
           py::arg("floor"))
      .def("run", &NativeChunks::run, py::arg("start"), py::arg("unit"), py::arg("limit"),
           py::arg("template_size"), py::arg("type"));
  module.def("utf8_of", &utf8_of, py::arg("text"));
  module.def("token_ends", &token_ends, py::arg("ids"), py::arg("sizes"), py::arg("data"),
             py::arg("may_have_prefix"), py::arg("may_have_marks"));
}

} // namespace pretok
