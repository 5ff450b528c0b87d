// Defines NativeTokenizer, the Python class Tokenizer of the module _core.
#pragma once

#include "bindings/decode_calls.hpp"
#include "bindings/deferred_tokenizer.hpp"
#include "bindings/id_objects.hpp"
#include "bindings/native_machine.hpp"
#include "bindings/native_spec.hpp"
#include "bindings/segment_call.hpp"
#include "bindings/session.hpp"
#include "bindings/span_objects.hpp"
#include "bindings/text_stream.hpp"

#include "core/encode/tokenizer.hpp"
#include "core/threads/encode_texts.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace pretok {

namespace py = pybind11;

class TextView;

// PythonBackend (bpe/encoding/python_backend.py) documents the methods. `added` has the added
// tokens of a value of the argument `special`. If `threads` is 0, the size of the texts
// determines the number of threads.
class NativeTokenizer {
public:
  // `machine` splits text; if it is None, text is split as `native` says. If `is_deferred`, the
  // tables for fast merging are made later. If `takes_normalized_text`, the calls do not
  // normalize. encode_some and encode_batch_some need `for_dropout`, which makes other calls
  // slow.
  NativeTokenizer(const NativeSpec &native, const std::shared_ptr<NativeMachine> &machine,
                  std::size_t cache_limit, bool is_deferred, bool takes_normalized_text,
                  bool for_dropout);

  // The calls normalize the text, and find added tokens before and after this. If
  // `continuation`, no prefix comes before the text.
  py::list encode(const py::object &text, const AddedTokenPhases &added, unsigned threads,
                  bool continuation) const;
  py::array_t<std::uint32_t> encode_array(const py::object &text, const AddedTokenPhases &added,
                                          unsigned threads, bool continuation) const;
  std::size_t count(const py::object &text, const AddedTokenPhases &added, unsigned threads,
                    bool continuation) const;
  py::list encode_batch(const py::list &texts, const AddedTokenPhases &added,
                        unsigned threads) const;
  py::tuple encode_batch_array(const py::list &texts, const AddedTokenPhases &added,
                               unsigned threads) const;
  // Like encode_array and encode_batch_array, but leave out merges with a probability, which is
  // from 0 to 1. The ids of a text depend on its index in the batch, and on `seed`.
  py::array_t<std::uint32_t> encode_some(const py::object &text, const AddedTokenPhases &added,
                                         double dropout, std::uint64_t seed,
                                         bool continuation) const;
  py::tuple encode_batch_some(const py::list &texts, const AddedTokenPhases &added,
                              double dropout, std::uint64_t seed, unsigned threads) const;
  // Encodes texts that lie in one buffer. Text i is data[offsets[i]..offsets[i + 1]), in UTF-8.
  py::tuple encode_packed(const py::object &data, const py::array &offsets,
                          const AddedTokenPhases &added, unsigned threads) const;

  // Spans are in bytes.
  py::tuple spans(const py::object &text, const AddedTokenPhases &added, unsigned threads,
                  bool continuation) const;
  // Does not normalize `text`. A token that is only the prefix has an empty span.
  py::tuple spans_of_normalized(const py::bytes &text, const AddedTokenPhases &added) const;
  // Returns an offset in bytes where `text` can be cut without a change of its ids. Returns 0
  // if find_cut (find_cut.hpp) finds none. The caller passes the part after the cut to
  // encode_array as a continuation.
  std::size_t safe_cut(const py::bytes &text, const AddedTokenPhases &added) const;

  // Returns the ids of one pre-token.
  py::list merge(const py::bytes &pre_token) const;
  py::array_t<std::uint32_t> merges() const;
  // Returns the joined bytes of the tokens of `ids`, or None if one is not the id of a token.
  py::object decode(const py::list &ids) const;

  // Returns the functions that Tokenizer calls to encode short texts. make_fast_calls
  // (bindings/fast_calls.hpp) describes the parameters.
  static py::tuple fast_calls(const py::object &self, const py::object &make_added,
                              const py::tuple &slow_calls, bool only_str, bool only_ascii);
  // bindings/segment_call.hpp explains it.
  static py::object encode_segments(const py::object &self, const py::list &segments,
                                    const py::dict &searches, const py::object &special) {
    return pretok::encode_segments(self, of(self).tokenizers_, segments, searches, special);
  }
  // make_span_call (bindings/span_call.hpp) describes the result. `spaces` has the fields of
  // TokenSpaces: two bytes objects with one byte per id, and a bool.
  static py::object
  span_call(const py::object &self, const AddedTokenPhases &added, bool only_ascii,
            const std::optional<std::tuple<std::string, std::string, bool>> &spaces);
  // Returns the rendered bytes of all tokens, their offsets by id, and the order of the tokens
  // (sorted_by_rendered). Returns None if Python decodes ids. The arrays view memory of `self`.
  static py::object rendered(const py::object &self);
  // Returns the functions that Tokenizer calls to decode; `slow_calls`, if Python decodes ids.
  // make_decode_calls (bindings/decode_calls.hpp) describes the parameters.
  static py::tuple decode_calls(const py::object &self, const py::tuple &slow_calls);
  // Returns a stream that decodes ids, or nullptr if Python decodes ids. `stop` are texts of at
  // least one character.
  static std::unique_ptr<NativeTextStream> text_stream(const py::object &self,
                                                       bool skip_special, bool continuation,
                                                       bool clean_up,
                                                       const std::vector<std::string> &stop);

  // Returns an empty Session. `all` has all added tokens.
  static std::unique_ptr<NativeSession>
  session(const py::object &self, const NativeSession::Added &all, bool continuation);

  // Returns the Tokenizers that the calls use, for other calls that encode.
  const DeferredTokenizer &tokenizers() const { return tokenizers_; }

  // Returns whether spaces stand for marks ("▁"), which makes a copy of the text unnecessary.
  bool takes_spaces() const { return takes_spaces_; }
  // Returns how the calls normalize text: "none", "nfc", "sentencepiece" or "chain".
  const char *normalizer() const { return normalizer_; }
  // Returns the bytes that have no token.
  std::vector<int> missing_bytes() const { return missing_bytes_; }
  bool has_all_tables() const { return tokenizers_.has_whole(); }
  std::size_t cache_bytes() const {
    return tokenizers_.has_any() ? tokenizers_.current()->caches().budget().used() : 0;
  }
  void trim();

  // Throws py::type_error for any other object.
  static const NativeTokenizer &of(const py::object &self) {
    return cast_argument<const NativeTokenizer &>(self, "a Tokenizer");
  }

private:
  // Encodes one text. Throws the Python error for a refused special token.
  EncodeResult encoded(OutputKind output, const TextView &text, const AddedTokenPhases &added,
                       unsigned threads, bool continuation,
                       const DropoutOptions *dropout = nullptr) const;

  // Returns the options of a call. Throws the Python error if they are invalid.
  DropoutOptions dropout_options(double dropout, std::uint64_t seed) const;

  DeferredTokenizer tokenizers_;
  bool for_dropout_;
  DeferredDecoder decoder_;
  bool decodes_; // false: Python decodes ids
  std::size_t limit_;
  const char *normalizer_;
  bool takes_spaces_;
  std::vector<int> missing_bytes_;
  mutable IdObjects id_objects_;
  mutable SpanObjects span_objects_;
};

void bind_tokenizer(py::module_ &module);

} // namespace pretok
