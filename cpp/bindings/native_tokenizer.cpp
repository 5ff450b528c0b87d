#include "bindings/native_tokenizer.hpp"

#include "bindings/batch_calls.hpp"
#include "bindings/convert.hpp"
#include "bindings/fast_calls.hpp"
#include "bindings/interrupt_check.hpp"
#include "bindings/normal_text.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/results.hpp"
#include "bindings/span_call.hpp"
#include "bindings/texts.hpp"

#include "core/encode/find_cut.hpp"
#include "formats/character_spec.hpp"
#include "formats/make_tokenizer.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace pretok {
namespace {

bool is_normal_text(const py::object &text) {
  const TextView view(text);
  return unlocked(view.size(), [&] { return is_normal(view); });
}

py::tuple spans_result(IdBuffer &&ids, Spans &&spans) {
  return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(spans.starts)),
                        as_array(std::move(spans.ends)));
}

// Returns whether any of `texts`, which must be str, has a surrogate.
bool have_surrogates(const py::list &texts) {
  for (const py::handle text : texts)
    if (!PyUnicode_Check(text.ptr()))
      throw py::type_error("expected a list of str");
  return std::any_of(texts.begin(), texts.end(), [](const py::handle text) {
    const TextView view(py::reinterpret_borrow<py::object>(text));
    return !view.is_ascii() && view.has_surrogate();
  });
}

// Returns the function that makes the Tokenizers of a NativeTokenizer. Throws the Python error
// of the settings, which the function would throw later.
DeferredTokenizer::Make maker_of(const NativeSpec &native, const NativeMachine *machine,
                                 std::size_t cache_limit, bool takes_normalized_text,
                                 bool for_dropout) {
  TokenizerOptions all;
  if (machine != nullptr && !native.spec->characters)
    all.split = NamedPreTokenizer{"", machine->pre_tokenizer()};
  all.cache_limit = cache_limit;
  all.takes_normalized_text = takes_normalized_text;
  all.for_dropout = for_dropout;
  all.decodes = false;
  throw_if(check_settings(*native.spec, all));
  return [spec = native.spec, all = std::move(all)](bool for_short_texts, bool is_alone) {
    TokenizerOptions options = all;
    options.for_short_texts = for_short_texts;
    std::unique_ptr<Tokenizer> result;
    throw_if(unlocked(is_alone ? MIN_SIZE_TO_RELEASE : 0, [&] {
      return make_tokenizer(TokenizerSpec(*spec), std::move(options), result);
    }));
    return result;
  };
}

const char *normalizer_of(const TokenizerSpec &spec) {
  return spec.sentencepiece                      ? "sentencepiece"
         : !spec.steps.empty() || spec.metaspace ? "chain"
         : spec.nfc                              ? "nfc"
                                                 : "none";
}

// Returns the bytes that have no token. If the tokens are text, there are none.
std::vector<int> bytes_without_token(const TokenizerSpec &spec) {
  const VocabularyData &data = spec.vocabulary;
  std::array<bool, 256> has_token{};
  std::size_t start = 0;
  for (std::size_t i = 0; i < data.mergeable; ++i) {
    if (data.lengths[i] == 1)
      has_token[data.bytes[start]] = true;
    start += data.lengths[i];
  }
  std::vector<int> bytes;
  for (int byte = 0; byte < 256; ++byte)
    if (!spec.text && !has_token[static_cast<std::size_t>(byte)])
      bytes.push_back(byte);
  return bytes;
}

} // namespace

NativeTokenizer::NativeTokenizer(const NativeSpec &native,
                                 const std::shared_ptr<NativeMachine> &machine,
                                 std::size_t cache_limit, bool is_deferred,
                                 bool takes_normalized_text, bool for_dropout)
    : tokenizers_(
          maker_of(native, machine.get(), cache_limit, takes_normalized_text, for_dropout),
          is_deferred && !for_dropout),
      for_dropout_(for_dropout), decoder_(native.spec), decodes_(native.decodes),
      limit_(first_step(*native.spec)),
      normalizer_(takes_normalized_text ? "none" : normalizer_of(*native.spec)),
      takes_spaces_(!takes_normalized_text && native.spec->characters &&
                    !native.spec->sentencepiece),
      missing_bytes_(bytes_without_token(*native.spec)), id_objects_(limit_) {}

py::list NativeTokenizer::encode(const py::object &text, const AddedTokenPhases &added,
                                 unsigned threads, bool continuation) const {
  const TextView view(text);
  if (!continuation && plan_tasks(view.size(), threads).threads > 1)
    return encode_to_list(tokenizers_.whole(), id_objects_, view, added, threads);
  const EncodeResult result = encoded(OutputKind::IDS, view, added, threads, continuation);
  return id_objects_.as_list(result.ids.data(), result.ids.size());
}

py::array_t<std::uint32_t> NativeTokenizer::encode_array(const py::object &text,
                                                         const AddedTokenPhases &added,
                                                         unsigned threads,
                                                         bool continuation) const {
  return as_array_of_ids(
      std::move(encoded(OutputKind::IDS, TextView(text), added, threads, continuation).ids));
}

std::size_t NativeTokenizer::count(const py::object &text, const AddedTokenPhases &added,
                                   unsigned threads, bool continuation) const {
  return encoded(OutputKind::COUNT, TextView(text), added, threads, continuation).count;
}

py::list NativeTokenizer::encode_batch(const py::list &texts, const AddedTokenPhases &added,
                                       unsigned threads) const {
  return encode_to_lists(tokenizers_.whole(), id_objects_, texts, added, threads);
}

py::tuple NativeTokenizer::encode_batch_array(const py::list &texts,
                                              const AddedTokenPhases &added,
                                              unsigned threads) const {
  const Texts batch(texts);
  return encode_to_arrays(tokenizers_.whole(), batch.views, batch.size, added, threads);
}

DropoutOptions NativeTokenizer::dropout_options(double dropout, std::uint64_t seed) const {
  if (!for_dropout_)
    throw py::value_error("expected a Tokenizer with for_dropout");
  if (!(dropout >= 0 && dropout <= 1))
    throw py::value_error("expected a dropout from 0 to 1");
  return {dropout, seed};
}

py::array_t<std::uint32_t> NativeTokenizer::encode_some(const py::object &text,
                                                        const AddedTokenPhases &added,
                                                        double dropout, std::uint64_t seed,
                                                        bool continuation) const {
  const DropoutOptions options = dropout_options(dropout, seed);
  return as_array_of_ids(std::move(
      encoded(OutputKind::IDS, TextView(text), added, 1, continuation, &options).ids));
}

py::tuple NativeTokenizer::encode_batch_some(const py::list &texts,
                                             const AddedTokenPhases &added, double dropout,
                                             std::uint64_t seed, unsigned threads) const {
  const DropoutOptions options = dropout_options(dropout, seed);
  const Texts batch(texts);
  return encode_to_arrays(tokenizers_.whole(), batch.views, batch.size, added, threads,
                          &options);
}

py::tuple NativeTokenizer::encode_packed(const py::object &data, const py::array &offsets,
                                         const AddedTokenPhases &added,
                                         unsigned threads) const {
  const auto ends = cast_argument<Array<std::int64_t>>(offsets, "an array of int64");
  if (ends.ndim() != 1)
    throw py::value_error("expected offsets of one dimension");
  const Buffer bytes(data);
  const auto count = static_cast<std::size_t>(ends.size());
  const std::vector<TextView> views = packed_texts(bytes, ends.data(), count);
  const std::size_t size =
      count == 0 ? 0 : static_cast<std::size_t>(ends.data()[count - 1] - ends.data()[0]);
  return encode_to_arrays(tokenizers_.whole(), views, size, added, threads);
}

py::tuple NativeTokenizer::spans(const py::object &text, const AddedTokenPhases &added,
                                 unsigned threads, bool continuation) const {
  EncodeResult result =
      encoded(OutputKind::SPANS, TextView(text), added, threads, continuation);
  return spans_result(std::move(result.ids), std::move(result.spans));
}

py::tuple NativeTokenizer::spans_of_normalized(const py::bytes &text,
                                               const AddedTokenPhases &added) const {
  const ByteView bytes = bytes_of(text);
  const DeferredTokenizer::Lease tokenizer = tokenizers_.for_text(bytes.size);
  IdBuffer ids;
  Spans spans;
  const Refusal refusal = unlocked(bytes.size, [&] {
    const CacheLease cache(tokenizer->caches());
    return tokenizer->encoder().encode_spans(bytes.data, bytes.size, added.all, *cache, ids,
                                             spans.starts, spans.ends);
  });
  if (refusal.token != nullptr)
    throw py::value_error("expected a text without refused tokens");
  return spans_result(std::move(ids), std::move(spans));
}

std::size_t NativeTokenizer::safe_cut(const py::bytes &text,
                                      const AddedTokenPhases &added) const {
  const Tokenizer &tokenizer = tokenizers_.whole();
  const ByteView bytes = bytes_of(text);
  return unlocked(bytes.size, [&] {
    return find_cut(tokenizer.encoder(), added, tokenizer.normalizer(), bytes.data, bytes.size)
        .position;
  });
}

py::list NativeTokenizer::merge(const py::bytes &pre_token) const {
  const Vocabulary &vocabulary = tokenizers_.whole().vocabulary();
  const ByteView bytes = bytes_of(pre_token);
  IdBuffer ids;
  if (bytes.size != 0)
    ids.add(unlocked(bytes.size, [&] {
      return vocabulary.encode(bytes.data, bytes.size, bytes.data + bytes.size,
                               ids.room(bytes.size));
    }));
  return id_objects_.as_list(ids.data(), ids.size());
}

py::array_t<std::uint32_t> NativeTokenizer::merges() const {
  const Vocabulary &vocabulary = tokenizers_.whole().vocabulary();
  return as_rows(unlocked(MIN_SIZE_TO_RELEASE, [&] { return vocabulary.merges(); }));
}

py::object NativeTokenizer::decode(const py::list &ids) const {
  PyObject *const bytes = decode_to_bytes(decoder_.get(), ids.ptr(), false);
  if (bytes == nullptr && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return bytes == nullptr ? py::none() : py::reinterpret_steal<py::object>(bytes);
}

py::tuple NativeTokenizer::fast_calls(const py::object &self, const py::object &make_added,
                                      const py::tuple &slow_calls, bool only_str,
                                      bool only_ascii) {
  const NativeTokenizer &native = of(self);
  return make_fast_calls(self, native.tokenizers_, native.id_objects_, make_added, slow_calls,
                         only_str, only_ascii);
}

py::object NativeTokenizer::span_call(
    const py::object &self, const AddedTokenPhases &added, bool only_ascii,
    const std::optional<std::tuple<std::string, std::string, bool>> &spaces) {
  const NativeTokenizer &native = of(self);
  const Tokenizer &tokenizer = native.tokenizers_.whole();
  SpanOptions options{only_ascii, tokenizer.normalizer() == Normalizer::NFC, std::nullopt};
  if (spaces) {
    const auto &[leading, trailing, keeps_first] = *spaces;
    if (leading.size() != trailing.size())
      throw py::value_error("expected two numbers of spaces for each id: leading, trailing");
    options.spaces.emplace();
    options.spaces->keeps_first = keeps_first;
    options.spaces->counts.reserve(leading.size());
    for (std::size_t id = 0; id < leading.size(); ++id)
      options.spaces->counts.push_back(
          {static_cast<std::uint8_t>(leading[id]), static_cast<std::uint8_t>(trailing[id])});
  }
  return make_span_call(self, tokenizer.encoder(), tokenizer.vocabulary(), native.limit_,
                        native.id_objects_, native.span_objects_, added.all, options);
}

py::tuple NativeTokenizer::decode_calls(const py::object &self, const py::tuple &slow_calls) {
  const NativeTokenizer &native = of(self);
  return native.decodes_ ? make_decode_calls(self, native.decoder_, slow_calls) : slow_calls;
}

std::unique_ptr<NativeTextStream>
NativeTokenizer::text_stream(const py::object &self, bool skip_special, bool continuation,
                             bool clean_up, const std::vector<std::string> &stop) {
  const NativeTokenizer &native = of(self);
  if (!native.decodes_)
    return nullptr;
  std::size_t size = 0;
  for (const std::string &text : stop) {
    size += text.size();
    if (text.empty() || size > StopStrings::MAX_BYTES)
      throw py::value_error("a stop string is empty or too long");
  }
  TextStreamOptions options{skip_special, continuation, clean_up, nullptr, true};
  if (!stop.empty())
    options.stop = std::make_shared<const StopStrings>(
        std::vector<std::string_view>(stop.begin(), stop.end()));
  return std::make_unique<NativeTextStream>(self, native.decoder_.get(), std::move(options));
}

void NativeTokenizer::trim() {
  id_objects_.trim();
  span_objects_.trim();
  if (!tokenizers_.has_any())
    return;
  const DeferredTokenizer::Lease tokenizer = tokenizers_.current();
  const py::gil_scoped_release released;
  tokenizer->caches().trim();
#if defined(__GLIBC__)
  // Return the freed memory to the system. If a program has many threads, free() alone would
  // keep much of this memory.
  malloc_trim(0);
#endif
}

py::object NativeTokenizer::rendered(const py::object &self) {
  const NativeTokenizer &native = of(self);
  if (!native.decodes_)
    return py::none();
  const Decoder &decoder = native.decoder_.get();
  std::vector<std::uint32_t> sorted;
  TokenTexts::View texts{};
  unlocked(MIN_SIZE_TO_RELEASE, [&] {
    texts = decoder.rendered().view();
    sorted = sorted_by_rendered(decoder, texts.size);
  });
  const auto view = [&](auto *data, std::size_t size) {
    py::array array(py::dtype::of<std::remove_const_t<std::remove_pointer_t<decltype(data)>>>(),
                    {static_cast<py::ssize_t>(size)}, {}, data, self);
    array.attr("flags").attr("writeable") = false;
    return array;
  };
  return py::make_tuple(view(texts.bytes, texts.starts[texts.size]),
                        view(texts.starts, texts.size + 1), as_array(std::move(sorted)));
}

EncodeResult NativeTokenizer::encoded(OutputKind output, const TextView &text,
                                      const AddedTokenPhases &added, unsigned threads,
                                      bool continuation, const DropoutOptions *dropout) const {
  const Encoder::Part part = continuation ? Encoder::Part::LATER : Encoder::Part::FIRST;
  const DeferredTokenizer::Lease tokenizer = tokenizers_.for_text(text.size());
  EncodeResult result;
  unlocked(text.size(), [&] {
    if (output != OutputKind::COUNT)
      // The system allocates a memory page at the first write, so room that the ids do not
      // need takes no memory.
      result.ids.reserve(text.size() / 2);
    if (dropout == nullptr && plan_tasks(text.size(), threads).task_size == 0) {
      const CacheLease cache(tokenizer->caches());
      Scratch scratch;
      text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
        result.add(*tokenizer, output, data, size, added, *cache, part, true);
      });
    } else {
      encode_texts(*tokenizer, output, std::vector<TextView>{text}, added, threads, result,
                   is_not_refused, InterruptCheck(), part, dropout);
    }
  });
  raise_if_refused(result.refusal, py::none());
  return result;
}

std::unique_ptr<NativeSession> NativeTokenizer::session(const py::object &self,
                                                        const NativeSession::Added &all,
                                                        bool continuation) {
  return std::make_unique<NativeSession>(self, of(self).tokenizers_.whole(), all, continuation);
}

void bind_tokenizer(py::module_ &module) {
  using Native = NativeTokenizer;
  py::class_<Native>(module, "Tokenizer")
      .def(py::init<const NativeSpec &, const std::shared_ptr<NativeMachine> &, std::size_t,
                    bool, bool, bool>(),
           py::arg("spec"), py::arg("machine").none(true),
           py::arg("cache_limit") = CacheBudget::DEFAULT_LIMIT, py::arg("is_deferred") = false,
           py::arg("takes_normalized_text") = false, py::arg("for_dropout") = false)
      .def("encode", &Native::encode, py::arg("text"), py::arg("added"), py::arg("threads") = 0,
           py::arg("continuation") = false)
      .def("encode_array", &Native::encode_array, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0, py::arg("continuation") = false)
      .def("count", &Native::count, py::arg("text"), py::arg("added"), py::arg("threads") = 0,
           py::arg("continuation") = false)
      .def("spans", &Native::spans, py::arg("text"), py::arg("added"), py::arg("threads") = 0,
           py::arg("continuation") = false)
      .def("spans_of_normalized", &Native::spans_of_normalized, py::arg("text"),
           py::arg("added"))
      .def("encode_batch", &Native::encode_batch, py::arg("texts"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_batch_array", &Native::encode_batch_array, py::arg("texts"),
           py::arg("added"), py::arg("threads") = 0)
      .def("encode_some", &Native::encode_some, py::arg("text"), py::arg("added"),
           py::arg("dropout"), py::arg("seed"), py::arg("continuation") = false)
      .def("encode_batch_some", &Native::encode_batch_some, py::arg("texts"), py::arg("added"),
           py::arg("dropout"), py::arg("seed"), py::arg("threads") = 0)
      .def("encode_packed", &Native::encode_packed, py::arg("data"), py::arg("offsets"),
           py::arg("added"), py::arg("threads") = 0)
      .def("encode_segments", &Native::encode_segments, py::arg("segments"),
           py::arg("searches"), py::arg("special"))
      .def("safe_cut", &Native::safe_cut, py::arg("text"), py::arg("added"))
      .def("merge", &Native::merge, py::arg("pre_token"))
      .def("merges", on_self(&Native::merges))
      .def("decode", &Native::decode, py::arg("ids"))
      .def_static("all_take_fast_path", &all_take_fast_path, py::arg("texts"),
                  py::arg("only_str"), py::arg("only_ascii"))
      .def_static("is_normal", &is_normal_text, py::arg("text"))
      .def("fast_calls", &Native::fast_calls, py::arg("make_added"), py::arg("slow_calls"),
           py::arg("only_str"), py::arg("only_ascii"))
      .def("span_call", &Native::span_call, py::arg("added"), py::arg("only_ascii"),
           py::arg("spaces").none(true))
      .def("text_stream", &Native::text_stream, py::arg("skip_special"),
           py::arg("continuation"), py::arg("clean_up"), py::arg("stop"))
      .def("session", &Native::session, py::arg("all").none(false), py::arg("continuation"))
      .def("decode_calls", &Native::decode_calls, py::arg("slow_calls"))
      .def("rendered", &Native::rendered)
      .def_property_readonly("takes_spaces", on_self(&Native::takes_spaces))
      .def_property_readonly("normalizer", on_self(&Native::normalizer))
      .def_property_readonly("missing_bytes", on_self(&Native::missing_bytes))
      .def_property_readonly("has_all_tables", on_self(&Native::has_all_tables))
      .def_property_readonly("cache_bytes", on_self(&Native::cache_bytes))
      .def("trim", on_self(&Native::trim));
  module.def("have_surrogates", &have_surrogates, py::arg("texts"));
  // For tests.
  module.def("set_task_size", &set_task_size, py::arg("size"));
  module.def("set_first_size", &DeferredTokenizer::set_first_size, py::arg("size"));
}

} // namespace pretok
