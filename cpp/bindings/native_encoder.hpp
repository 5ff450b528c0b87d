// Defines NativeEncoder, the Python class Encoder of the module _core.
#pragma once

#include "bindings/batch_calls.hpp"
#include "bindings/convert.hpp"
#include "bindings/decode_calls.hpp"
#include "bindings/fast_calls.hpp"
#include "bindings/id_objects.hpp"
#include "bindings/interrupt_check.hpp"
#include "bindings/native_machine.hpp"
#include "bindings/native_text_model.hpp"
#include "bindings/normal_text.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/results.hpp"
#include "bindings/span_call.hpp"
#include "bindings/texts.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/encode/encoder.hpp"
#include "core/encode/find_cut.hpp"
#include "core/threads/encode_texts.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace pretok {

// The fields of a TextSpaces with are_marks: prefix ("never", "unless_space" or "always"),
// only_first, replaces_invalid, prefix_has_span and precedes_tokens.
using MarkedSpaces = std::tuple<std::string, bool, bool, bool, bool>;

inline TextSpaces make_spaces(bool add_prefix_space,
                              const std::optional<MarkedSpaces> &marked) {
  TextSpaces spaces = TextSpaces::of(add_prefix_space);
  if (!marked)
    return spaces;
  const auto &[prefix, only_first, replaces_invalid, prefix_has_span, precedes_tokens] =
      *marked;
  if (prefix != "never" && prefix != "always" && prefix != "unless_space")
    throw py::value_error("expected the prefix \"never\", \"always\" or \"unless_space\"");
  spaces.prefix = prefix == "never"    ? TextSpaces::Prefix::NONE
                  : prefix == "always" ? TextSpaces::Prefix::ALWAYS
                                       : TextSpaces::Prefix::UNLESS_SPACE;
  spaces.are_marks = true;
  spaces.only_first = only_first;
  spaces.replaces_invalid = replaces_invalid;
  spaces.prefix_has_span = prefix_has_span;
  spaces.precedes_tokens = precedes_tokens;
  return spaces;
}

class NativeEncoder {
public:
  // If `text` is not None, the model starts with characters: of the tokens, it uses only those
  // that it does not have itself, to decode, and no arguments about merging. All ids are below
  // `id_limit`. If `cuts` is not "split", the model splits the text, and not `machine`.
  NativeEncoder(std::shared_ptr<NativeMachine> machine, const py::bytes &bytes,
                const Array<std::uint32_t> &lengths, const Array<std::uint32_t> &ids,
                std::size_t mergeable, const std::optional<Array<std::uint32_t>> &merges,
                bool from_ranks, bool ignore_merges, bool add_prefix_space,
                std::size_t cache_limit, const std::optional<MarkedSpaces> &marked_spaces,
                const std::optional<AnyTextModel> &text, std::uint32_t id_limit,
                const std::string &cuts, bool for_short_texts)
      : machine_(std::move(machine)), limit_(text ? id_limit : 0) {
    VocabularyData data;
    const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(bytes.ptr()));
    data.bytes.assign(first, first + PyBytes_GET_SIZE(bytes.ptr()));
    data.lengths = as_vector(lengths);
    data.ids = as_vector(ids);
    data.mergeable = mergeable;
    data.from_ranks = from_ranks;
    data.ignore_merges = ignore_merges;
    data.for_short_texts = for_short_texts;
    if (merges)
      data.merges = merges_of(*merges);
    if (!text)
      for (const std::uint32_t id : data.ids)
        limit_ = std::max(limit_, id + std::size_t{1});
    const TextCuts text_cuts = cuts_of(cuts);
    TextParts parts;
    const char *build_error = nullptr;
    if (from_ranks && for_short_texts) {
      build_error = build_ranks(bytes, std::move(data), vocabulary_);
    } else {
      unlocked(MIN_SIZE_TO_RELEASE, [&] {
        build_error = text
                          ? build_text(*text, std::move(data), id_limit,
                                       marked_spaces.has_value(), text_cuts, vocabulary_, parts)
                          : vocabulary_.build(std::move(data));
      });
    }
    if (build_error != nullptr)
      throw py::value_error(build_error);
    set_encoder(std::move(parts), make_spaces(add_prefix_space, marked_spaces), cache_limit);
  }
  NativeEncoder(const NativeEncoder &) = delete;
  NativeEncoder &operator=(const NativeEncoder &) = delete;

  // In all methods, if `threads` is 0, the size of the texts determines the number of threads.

  py::list encode(const py::object &text, const AddedTokens &added, unsigned threads) const {
    const TextView view(text);
    if (plan_tasks(view.size(), threads).threads > 1)
      return encode_to_list(encoder(), *id_objects_, view, added, threads);
    const EncodeResult result = encoded(OutputKind::IDS, view, added, threads);
    return id_objects_->as_list(result.ids.data(), result.ids.size());
  }

  py::array_t<std::uint32_t> encode_array(const py::object &text, const AddedTokens &added,
                                          unsigned threads) const {
    return as_array_of_ids(
        std::move(encoded(OutputKind::IDS, TextView(text), added, threads).ids));
  }

  // Encodes a part of a text that begins at a safe cut, as a LATER part.
  py::array_t<std::uint32_t> encode_later(const py::object &text,
                                          const AddedTokens &added) const {
    return as_array_of_ids(std::move(
        encoded(OutputKind::IDS, TextView(text), added, 1, Encoder::Part::LATER).ids));
  }

  std::size_t count(const py::object &text, const AddedTokens &added, unsigned threads) const {
    return encoded(OutputKind::COUNT, TextView(text), added, threads).count;
  }

  py::tuple spans(const py::object &text, const AddedTokens &added, unsigned threads) const {
    EncodeResult result = encoded(OutputKind::SPANS, TextView(text), added, threads);
    return py::make_tuple(as_array_of_ids(std::move(result.ids)),
                          as_array(std::move(result.starts)), as_array(std::move(result.ends)));
  }

  py::list encode_batch(const py::list &texts, const AddedTokens &added,
                        unsigned threads) const {
    return encode_to_lists(encoder(), *id_objects_, texts, added, threads);
  }

  py::tuple encode_batch_array(const py::list &texts, const AddedTokens &added,
                               unsigned threads) const {
    const Texts batch(texts);
    return encode_to_arrays(encoder(), batch.views, batch.size, added, threads);
  }

  // Encodes texts that lie in one buffer. Text i is data[offsets[i]..offsets[i + 1]), in UTF-8.
  py::tuple encode_packed(const py::object &data, const Array<std::int64_t> &offsets,
                          const AddedTokens &added, unsigned threads) const {
    if (offsets.ndim() != 1)
      throw py::value_error("expected offsets of one dimension");
    const Buffer bytes(data);
    const auto count = static_cast<std::size_t>(offsets.size());
    const std::vector<TextView> views = packed_texts(bytes, offsets.data(), count);
    const std::size_t size =
        count == 0 ? 0
                   : static_cast<std::size_t>(offsets.data()[count - 1] - offsets.data()[0]);
    return encode_to_arrays(encoder(), views, size, added, threads);
  }

  // Returns the ids of one pre-token.
  py::list merge(const py::bytes &pre_token) const {
    const auto *data =
        reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(pre_token.ptr()));
    const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(pre_token.ptr()));
    IdBuffer ids;
    if (size != 0)
      unlocked(size,
               [&] { ids.add(vocabulary_.encode(data, size, data + size, ids.room(size))); });
    return id_objects_->as_list(ids.data(), ids.size());
  }

  // Returns the joined bytes of the tokens of `ids`. Returns None if an item is not an int, or
  // is not the id of a token.
  py::object decode(const py::object &ids) const {
    std::string bytes;
    if (py::isinstance<py::array>(ids)) {
      if (!decode_array(py::reinterpret_borrow<py::array>(ids), bytes))
        return py::none();
      return py::bytes(bytes);
    }
    // Copy the list: __index__ of an item may run code that changes the list.
    const auto items = py::reinterpret_steal<py::tuple>(PySequence_Tuple(ids.ptr()));
    if (!items)
      throw py::error_already_set();
    for (const py::handle item : items) {
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()));
      int overflow = 0;
      const long long id = number ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : -1;
      PyErr_Clear();
      if (overflow != 0 || !append_token(id, bytes))
        return py::none();
    }
    return py::bytes(bytes);
  }

  static bool is_normal_text(const py::object &text) {
    const TextView view(text);
    bool result = false;
    unlocked(view.size(), [&] { result = is_normal(view); });
    return result;
  }

  // Returns an offset in bytes where `text` can be cut without a change of its ids. Returns 0
  // if find_cut (find_cut.hpp) finds none. If `later`, the caller passes the part after the cut
  // to encode_later.
  std::size_t safe_cut(const py::bytes &text, const AddedTokens &added, bool nfc,
                       bool later) const {
    const auto *data = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(text.ptr()));
    const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr()));
    std::size_t cut = 0;
    unlocked(size, [&] {
      cut =
          find_cut(encoder(), AddedTokenPhases(added), nfc ? Normalizer::NFC : Normalizer::NONE,
                   data, size, later ? Encoder::Part::LATER : Encoder::Part::FIRST);
    });
    return cut;
  }

  // Returns the functions that Tokenizer calls to encode short texts. make_fast_calls
  // (bindings/fast_calls.hpp) describes the parameters.
  static py::tuple fast_calls(const py::object &self, const py::object &make_added,
                              const py::tuple &slow_calls, bool only_str, bool only_ascii,
                              bool only_normal) {
    const NativeEncoder &native = of(self);
    return make_fast_calls(self, native.encoder(), *native.id_objects_, make_added, slow_calls,
                           only_str, only_ascii,
                           only_normal ? Normalizer::NFC : Normalizer::NONE);
  }

  // make_span_call (bindings/span_call.hpp) describes the result. `spaces` has the fields of
  // TokenSpaces: two bytes objects with one byte per id, and a bool.
  static py::object
  span_call(const py::object &self, const AddedTokens &added, bool only_ascii, bool only_normal,
            const std::optional<std::tuple<std::string, std::string, bool>> &spaces) {
    const NativeEncoder &native = of(self);
    SpanOptions options{only_ascii, only_normal, std::nullopt};
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
    return make_span_call(self, native.encoder(), native.vocabulary_, native.limit_,
                          *native.id_objects_, native.span_objects_, added, options);
  }

  // Returns the functions that Tokenizer calls to decode. make_decode_calls
  // (bindings/decode_calls.hpp) describes the parameters.
  static py::tuple decode_calls(const py::object &self,
                                const std::vector<std::uint32_t> &special,
                                const py::tuple &slow_calls) {
    const NativeEncoder &native = of(self);
    return make_decode_calls(self, native.vocabulary_, native.limit_, special, slow_calls);
  }

  std::size_t cache_bytes() const { return encoder_ ? encoder_->caches().budget().used() : 0; }

  void trim() {
    id_objects_->trim();
    span_objects_.trim();
    const py::gil_scoped_release released;
    if (encoder_)
      encoder_->caches().trim();
#if defined(__GLIBC__)
    // Return the freed memory to the system. If a program has many threads, free() alone would
    // keep much of this memory.
    malloc_trim(0);
#endif
  }

  py::array_t<std::uint32_t> merges() const {
    std::vector<Merge> result;
    unlocked(MIN_SIZE_TO_RELEASE, [&] { result = vocabulary_.merges(); });
    return as_rows(result);
  }

private:
  static TextCuts cuts_of(const std::string &name) {
    if (name != "split" && name != "at_marks" && name != "whole")
      throw py::value_error("expected the cuts \"split\", \"at_marks\" or \"whole\"");
    return name == "split"      ? TextCuts::SPLIT
           : name == "at_marks" ? TextCuts::AT_MARKS
                                : TextCuts::WHOLE;
  }

  void set_encoder(TextParts &&parts, const TextSpaces &spaces, std::size_t cache_limit) {
    id_objects_.emplace(limit_);
    if (!parts.stages.empty())
      own_split_.emplace(std::move(parts.stages), UnicodeTable{ONE_CLASS, 1});
    if (own_split_ || machine_)
      encoder_.emplace(own_split_ ? *own_split_ : machine_->pre_tokenizer(), vocabulary_,
                       spaces, cache_limit, parts.is_whole);
  }

  static const NativeEncoder &of(const py::object &self) {
    if (!py::isinstance<NativeEncoder>(self))
      throw py::type_error("expected an Encoder");
    return py::cast<const NativeEncoder &>(self);
  }

  const Encoder &encoder() const {
    if (!encoder_)
      throw py::value_error(
          "this encoder has no pre-tokenizer, since its argument `machine` was None; "
          "only merge() can encode");
    return *encoder_;
  }

  // Encodes one text, or a LATER part with one thread. Throws the Python error for a refused
  // special token.
  EncodeResult encoded(OutputKind output, const TextView &text, const AddedTokens &added,
                       unsigned threads, Encoder::Part part = Encoder::Part::FIRST) const {
    EncodeResult result;
    unlocked(text.size(), [&] {
      if (output != OutputKind::COUNT)
        // The system allocates a memory page at the first write, so room that the ids do not
        // need takes no memory.
        result.ids.reserve(text.size() / 2);
      if (plan_tasks(text.size(), threads).task_size == 0) {
        const CacheLease cache(encoder().caches());
        Scratch scratch;
        text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
          result.add(encoder(), output, data, size, added, *cache, part, true);
        });
      } else {
        encode_texts(encoder(), output, std::vector<TextView>{text}, added, threads, result,
                     is_not_refused, InterruptCheck());
      }
    });
    raise_if_refused(result, py::none());
    return result;
  }

  // Like `decode`, for an array. Returns false instead of None.
  bool decode_array(const py::array &ids, std::string &bytes) const {
    const char kind = ids.dtype().kind();
    if (ids.ndim() != 1 || (kind != 'i' && kind != 'u'))
      return false;
    // Ids of 2^63 or more become negative.
    const py::array_t<std::int64_t, PLAIN_ARRAY | py::array::forcecast> wide(ids);
    const std::int64_t *at = wide.data();
    return std::all_of(at, at + wide.size(),
                       [&](std::int64_t id) { return append_token(id, bytes); });
  }

  // Appends a token to `bytes`. Returns false if `id` has no token.
  bool append_token(long long id, std::string &bytes) const {
    if (id < 0 || static_cast<std::size_t>(id) >= limit_)
      return false;
    const TokenView token = vocabulary_.token(static_cast<std::uint32_t>(id));
    if (token.bytes == nullptr)
      return false;
    bytes.append(reinterpret_cast<const char *>(token.bytes), token.size);
    return true;
  }

  // The cuts of a TextModel depend on no Unicode version: all code points have the same class.
  static constexpr std::uint32_t ONE_CLASS[] = {0};

  std::shared_ptr<NativeMachine> machine_;
  std::optional<PreTokenizer> own_split_; // in place of `machine_`
  Vocabulary vocabulary_;
  std::size_t limit_ = 0; // the largest id plus one, not counting steps (VocabularyData)
  std::optional<Encoder> encoder_;
  mutable std::optional<IdObjects> id_objects_;
  mutable SpanObjects span_objects_;
};

} // namespace pretok
