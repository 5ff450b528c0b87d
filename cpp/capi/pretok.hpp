// pretok for C++17: the C API (pretok.h) with RAII, views and containers. Header only.
//
//   #include <pretok.hpp>
//
//   auto loaded = pretok::Tokenizer::from_file("cl100k_base.tiktoken", "cl100k");
//   if (!loaded) { puts(loaded.error().message.c_str()); return 1; }
//   const pretok::Tokenizer tokenizer = std::move(*loaded);
//   const auto ids = tokenizer.encode("Hello world!");      // Result<std::vector<uint32_t>>
//   const auto text = tokenizer.decode(*ids);               // Result<std::string>
//
// Functions that can fail return a Result: a value or an Error. The only exception is
// std::bad_alloc, if there is no memory for a string or vector. The header compiles without
// exceptions and without RTTI. pretok.h says which objects threads may share. Objects can be
// moved, but not copied. A moved-from object can only be destroyed or assigned to.
#pragma once

#include "pretok.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pretok {
inline namespace v1 {

// The error of a call.
struct Error {
  pretok_status status = PRETOK_OK;
  std::size_t position = 0; // as in pretok_error
  std::string message;
};

// A value or an Error.
template <typename T> class Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  // Returns whether the Result has a value.
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Return the value. ok() must be true.
  T &operator*() & { return *std::get_if<0>(checked()); }
  const T &operator*() const & { return *std::get_if<0>(checked()); }
  T &&operator*() && { return std::move(*std::get_if<0>(checked())); }
  T *operator->() { return std::get_if<0>(checked()); }
  const T *operator->() const { return std::get_if<0>(checked()); }

  // Returns the error. ok() must be false.
  const Error &error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

private:
  std::variant<T, Error> *checked() {
    assert(ok());
    return &state_;
  }
  const std::variant<T, Error> *checked() const {
    assert(ok());
    return &state_;
  }

  std::variant<T, Error> state_;
};

namespace detail {

// A deleter that calls the C function Free.
template <auto Free> struct Freeing {
  template <typename T> void operator()(T *handle) const { Free(handle); }
};
template <typename T, auto Free> using Owner = std::unique_ptr<T, Freeing<Free>>;

inline Error error_of(const pretok_error &error) {
  return {error.status, error.position, error.message};
}

// An empty view may have a null pointer, which C functions refuse.
inline const char *data_of(std::string_view text) {
  return text.data() != nullptr ? text.data() : "";
}

// Returns NULL for "", since C functions take NULL for an absent option.
inline const char *or_null(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}

} // namespace detail

// A half-open range of bytes: `start` and `end`.
using Span = pretok_span;

// Splits text into pre-tokens.
class PreTokenizer {
public:
  // Makes the pre-tokenizer of a preset. `name` is its name or an alias. If `unicode` is "",
  // uses the Unicode version of the preset.
  static Result<PreTokenizer> named(const std::string &name, const std::string &unicode = "") {
    pretok_error error;
    pretok_pre_tokenizer *result = nullptr;
    if (pretok_pre_tokenizer_named(name.c_str(), detail::or_null(unicode), &result, &error))
      return detail::error_of(error);
    return PreTokenizer(result);
  }

  // Makes the pre-tokenizer of a custom preset, from the words that `pretok program` writes.
  static Result<PreTokenizer> from_program(const std::uint32_t *words, std::size_t count,
                                           const std::string &unicode) {
    pretok_error error;
    pretok_pre_tokenizer *result = nullptr;
    if (pretok_pre_tokenizer_from_program(words, count, unicode.c_str(), &result, &error))
      return detail::error_of(error);
    return PreTokenizer(result);
  }

  // Returns the pre-tokens of a text, in order. Linear time.
  Result<std::vector<Span>> spans(std::string_view text) const {
    pretok_error error;
    std::size_t count = 0;
    if (pretok_spans(get(), detail::data_of(text), text.size(), nullptr, 0, &count, &error))
      return detail::error_of(error);
    std::vector<Span> spans(count);
    if (count != 0 && pretok_spans(get(), detail::data_of(text), text.size(), spans.data(),
                                   spans.size(), &count, &error))
      return detail::error_of(error);
    return spans;
  }

  // The C handle, for functions of pretok.h.
  const pretok_pre_tokenizer *get() const { return handle_.get(); }

private:
  explicit PreTokenizer(pretok_pre_tokenizer *result) : handle_(result) {}

  detail::Owner<pretok_pre_tokenizer, &pretok_pre_tokenizer_free> handle_;
};

// A special token in addition to those of the file.
struct SpecialToken {
  std::string text; // UTF-8
  std::uint32_t id;
};

// Options for loading. For a member that is empty or 0, the value in the file applies. If the
// file has none, the default applies.
struct LoadOptions {
  std::string preset;     // the name of the pre-tokenizer; necessary for tiktoken rank files
  std::string unicode;    // the Unicode version of the preset
  std::string normalizer; // "NFC"; for models that need it if the file does not say so
  std::vector<SpecialToken> special_tokens;
  const PreTokenizer *pre_tokenizer = nullptr; // needs empty `preset` and `unicode`; copied
  std::size_t cache_bytes = 0; // limit on all caches; 0: 128 MiB; 1: none kept between calls
  bool dropout = false;        // prepares the tokenizer for EncodeOptions::dropout
};

class SpecialSet;

// Options for encoding: special tokens in a text, and the template of the file.
struct EncodeOptions {
  pretok_special special = PRETOK_SPECIAL_RAISE;
  const SpecialSet *allowed = nullptr; // if not nullptr, replaces `special`
  bool add_special_tokens = false; // adds the ids that the file puts before and after a text
  bool continuation = false;       // the text continues another text, so no prefix precedes it
  // The probability with which each merge is left out, from 0 to 1, and the seed of the draws.
  // Needs LoadOptions::dropout. Only encode, encode_batch and count take it.
  double dropout = 0;
  std::uint64_t seed = 0;
};

// The ids of a text, and the span of each token in bytes.
struct TokenSpans {
  std::vector<std::uint32_t> ids;
  std::vector<pretok_span> spans;
};

// A part of a text with its own policy: text, and then ids.
struct TextSegment {
  std::string_view text;
  pretok_special special = PRETOK_SPECIAL_RAISE;
  const SpecialSet *allowed = nullptr; // if not nullptr, replaces `special`
  std::vector<std::uint32_t> ids = {};
};

// The ids of several segments, and the place of each token. The tokens that begin before the
// end of segment k are the first ends[k] ones.
struct SegmentedTokens {
  std::vector<std::uint32_t> ids;
  std::vector<pretok_segment_span> spans;
  std::vector<std::size_t> ends;
};

// The ids of several texts. Those of text i are ids[ends[i - 1]] to ids[ends[i] - 1].
struct Batch {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> ends;
};

// Encodes text to ids and decodes ids. A Tokenizer must outlive its streams and special sets.
class Tokenizer {
public:
  // Loads a tokenizer from a file. `path` is UTF-8.
  static Result<Tokenizer> from_file(const std::string &path, const LoadOptions &options = {}) {
    return load(options, [&](const pretok_load_options &c_options, pretok_tokenizer **result,
                             pretok_error *error) {
      return pretok_tokenizer_from_file(path.c_str(), &c_options, result, error);
    });
  }
  static Result<Tokenizer> from_file(const std::string &path, std::string preset) {
    return from_file(path, split_by(std::move(preset)));
  }

  // Loads a tokenizer from the bytes of a file. The bytes are not used after the call.
  static Result<Tokenizer> from_memory(std::string_view data, const LoadOptions &options = {}) {
    return load(options, [&](const pretok_load_options &c_options, pretok_tokenizer **result,
                             pretok_error *error) {
      return pretok_tokenizer_from_memory(detail::data_of(data), data.size(), &c_options,
                                          result, error);
    });
  }
  static Result<Tokenizer> from_memory(std::string_view data, std::string preset) {
    return from_memory(data, split_by(std::move(preset)));
  }

  // Loads a tokenizer from values that an engine has read from its own GGUF file.
  static Result<Tokenizer> from_gguf_values(const std::vector<pretok_gguf_value> &values,
                                            const LoadOptions &options = {}) {
    return load(options, [&](const pretok_load_options &c_options, pretok_tokenizer **result,
                             pretok_error *error) {
      return pretok_tokenizer_from_gguf_values(values.data(), values.size(), &c_options, result,
                                               error);
    });
  }

  // The name of the preset; "" for a custom pre-tokenizer.
  const char *preset() const { return pretok_tokenizer_preset(get()); }
  // The largest id plus one.
  std::size_t vocab_size() const { return pretok_vocab_size(get()); }

  // The bytes of a token. Valid until the Tokenizer is destroyed.
  Result<std::string_view> token_bytes(std::uint32_t id) const {
    pretok_error error;
    const char *bytes = nullptr;
    std::size_t size = 0;
    if (pretok_token_bytes(get(), id, &bytes, &size, &error))
      return detail::error_of(error);
    return std::string_view(bytes, size);
  }

  // Finds the id of a token by its bytes. If several tokens have these bytes, returns the id of
  // an added token, or else the lowest id. Prefers other tokens to fallback tokens.
  Result<std::uint32_t> token_id(std::string_view bytes) const {
    pretok_error error;
    std::uint32_t id = 0;
    if (pretok_token_id(get(), detail::data_of(bytes), bytes.size(), &id, &error))
      return detail::error_of(error);
    return id;
  }

  bool is_special(std::uint32_t id) const { return pretok_is_special(get(), id); }

  // The bytes that a token adds in the middle of a decoded text. Valid until the Tokenizer is
  // destroyed.
  Result<std::string_view> rendered_bytes(std::uint32_t id) const {
    pretok_error error;
    const char *bytes = nullptr;
    std::size_t size = 0;
    if (pretok_rendered_bytes(get(), id, &bytes, &size, &error))
      return detail::error_of(error);
    return std::string_view(bytes, size);
  }
  Result<pretok_token_type> token_type(std::uint32_t id) const {
    pretok_error error;
    pretok_token_type type = PRETOK_TYPE_UNDEFINED;
    if (pretok_token_type_of(get(), id, &type, &error))
      return detail::error_of(error);
    return type;
  }
  // The score of the file. If the file lists merges and no scores: minus the rank of the first
  // merge that makes the token, or 0.
  Result<float> token_score(std::uint32_t id) const {
    pretok_error error;
    float score = 0;
    if (pretok_token_score(get(), id, &score, &error))
      return detail::error_of(error);
    return score;
  }

  pretok_model_kind kind() const { return pretok_tokenizer_kind(get()); }
  // Roles, the ids that end a generation, the chat template and other facts; all tokens at
  // once. Pointers are valid until the Tokenizer is destroyed.
  Result<pretok_token_facts> token_facts() const {
    pretok_error error;
    pretok_token_facts facts{};
    facts.struct_size = sizeof facts;
    if (pretok_token_facts_of(get(), &facts, &error))
      return detail::error_of(error);
    return facts;
  }
  Result<pretok_vocabulary> vocabulary() const {
    pretok_error error;
    pretok_vocabulary all{};
    all.struct_size = sizeof all;
    if (pretok_vocabulary_of(get(), &all, &error))
      return detail::error_of(error);
    return all;
  }

  // Encodes a text.
  Result<std::vector<std::uint32_t>> encode(std::string_view text,
                                            const EncodeOptions &options = {}) const;

  // Encodes a text, with the span of each token in the text.
  Result<TokenSpans> encode_spans(std::string_view text,
                                  const EncodeOptions &options = {}) const;
  // Encodes a text of segments, each with its own policy (pretok_encode_segments).
  Result<SegmentedTokens> encode_segments(const std::vector<TextSegment> &segments,
                                          bool joined = true) const;
  // Encodes texts on up to `threads` threads; 0: one per processor.
  Result<Batch> encode_batch(const std::vector<std::string_view> &texts,
                             const EncodeOptions &options = {},
                             std::uint32_t threads = 0) const;

  // The number of ids of a text, computed without storing them.
  Result<std::size_t> count(std::string_view text, const EncodeOptions &options = {}) const;

  // Decodes ids to bytes.
  Result<std::string> decode(const std::uint32_t *ids, std::size_t count,
                             bool skip_special = false) const {
    pretok_error error;
    std::size_t size = 0;
    if (pretok_decode(get(), ids, count, skip_special, nullptr, 0, &size, &error))
      return detail::error_of(error);
    std::string bytes(size, '\0');
    if (pretok_decode(get(), ids, count, skip_special, bytes.data(), size, &size, &error))
      return detail::error_of(error);
    return bytes;
  }
  Result<std::string> decode(const std::vector<std::uint32_t> &ids,
                             bool skip_special = false) const {
    return decode(ids.data(), ids.size(), skip_special);
  }

  // Decodes several lists of ids on several threads; 0 means one thread per processor.
  Result<std::vector<std::string>>
  decode_batch(const std::vector<std::vector<std::uint32_t>> &lists, bool skip_special = false,
               unsigned threads = 0) const {
    std::vector<std::uint32_t> ids;
    std::vector<std::size_t> id_offsets{0};
    for (const std::vector<std::uint32_t> &list : lists) {
      ids.insert(ids.end(), list.begin(), list.end());
      id_offsets.push_back(ids.size());
    }
    std::vector<std::size_t> offsets(id_offsets.size());
    pretok_error error;
    char *bytes = nullptr;
    if (pretok_decode_batch(get(), ids.data(), id_offsets.data(), lists.size(), skip_special,
                            threads, &bytes, offsets.data(), &error))
      return detail::error_of(error);
    const detail::Owner<char, &pretok_bytes_free> owner(bytes);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lists.size(); ++i)
      texts.emplace_back(bytes + offsets[i], offsets[i + 1] - offsets[i]);
    return texts;
  }

  // The dropout of a tokenizer.json, or 0. No call uses it by itself.
  double dropout() const { return pretok_tokenizer_dropout(get()); }

  // The maximum total size of the caches of all threads in bytes, and their total size now.
  std::size_t cache_limit() const { return pretok_tokenizer_cache_limit(get()); }
  std::size_t cache_bytes() const { return pretok_tokenizer_cache_bytes(get()); }
  // Frees all unused caches. Any thread may call it at any time.
  void trim() const { pretok_tokenizer_trim(get()); }

  // The C handle, for functions of pretok.h.
  const pretok_tokenizer *get() const { return handle_.get(); }

private:
  explicit Tokenizer(pretok_tokenizer *result) : handle_(result) {}

  static LoadOptions split_by(std::string preset) {
    LoadOptions options;
    options.preset = std::move(preset);
    return options;
  }

  template <typename Load>
  static Result<Tokenizer> load(const LoadOptions &options, Load load_it) {
    std::vector<pretok_special_token> tokens;
    for (const SpecialToken &token : options.special_tokens)
      tokens.push_back({token.text.data(), token.text.size(), token.id});
    pretok_load_options c_options{};
    c_options.struct_size = sizeof c_options;
    c_options.preset = detail::or_null(options.preset);
    c_options.unicode = detail::or_null(options.unicode);
    c_options.normalizer = detail::or_null(options.normalizer);
    c_options.special_tokens = tokens.data();
    c_options.special_token_count = tokens.size();
    c_options.pre_tokenizer = options.pre_tokenizer ? options.pre_tokenizer->get() : nullptr;
    c_options.cache_bytes = options.cache_bytes;
    c_options.dropout = options.dropout;
    pretok_error error;
    pretok_tokenizer *result = nullptr;
    if (load_it(c_options, &result, &error))
      return detail::error_of(error);
    return Tokenizer(result);
  }

  detail::Owner<pretok_tokenizer, &pretok_tokenizer_free> handle_;
};

// A set of special tokens to encode as ids. All other special tokens are ordinary text.
class SpecialSet {
public:
  static Result<SpecialSet> of(const Tokenizer &tokenizer,
                               const std::vector<std::string_view> &texts) {
    std::vector<const char *> data;
    std::vector<std::size_t> sizes;
    for (const std::string_view text : texts) {
      data.push_back(detail::data_of(text));
      sizes.push_back(text.size());
    }
    pretok_error error;
    pretok_special_set *result = nullptr;
    if (pretok_special_set_new(tokenizer.get(), data.data(), sizes.data(), data.size(), &result,
                               &error))
      return detail::error_of(error);
    return SpecialSet(result);
  }

  // The C handle, for functions of pretok.h.
  const pretok_special_set *get() const { return handle_.get(); }

private:
  explicit SpecialSet(pretok_special_set *result) : handle_(result) {}

  detail::Owner<pretok_special_set, &pretok_special_set_free> handle_;
};

namespace detail {

inline pretok_encode_options to_c_options(const EncodeOptions &options) {
  pretok_encode_options c_options{};
  c_options.struct_size = sizeof c_options;
  c_options.special = options.special;
  c_options.allowed = options.allowed != nullptr ? options.allowed->get() : nullptr;
  c_options.add_special_tokens = options.add_special_tokens;
  c_options.continuation = options.continuation;
  c_options.dropout = options.dropout;
  c_options.seed = options.seed;
  return c_options;
}

// Stores the ids and spans of call(ids, spans, capacity, &count), for a text of `size` bytes.
// Calls once, or twice if a token has fewer than two bytes on average.
template <typename SpanType, typename Call>
pretok_status fill_with_spans(std::size_t size, std::vector<std::uint32_t> &ids,
                              std::vector<SpanType> &spans, const Call &call) {
  std::size_t count = size / 2 + 64;
  for (;;) {
    const std::size_t capacity = count;
    // Not initialized, unlike the elements of a vector.
    const std::unique_ptr<std::uint32_t[]> new_ids(new std::uint32_t[capacity]);
    const std::unique_ptr<SpanType[]> new_spans(new SpanType[capacity]);
    const pretok_status status = call(new_ids.get(), new_spans.get(), capacity, &count);
    if (status == PRETOK_TOO_SMALL && count > capacity)
      continue;
    if (status == PRETOK_OK) {
      ids.assign(new_ids.get(), new_ids.get() + count);
      spans.assign(new_spans.get(), new_spans.get() + count);
    }
    return status;
  }
}

} // namespace detail

inline Result<std::vector<std::uint32_t>>
Tokenizer::encode(std::string_view text, const EncodeOptions &options) const {
  const pretok_encode_options c_options = detail::to_c_options(options);
  pretok_error error;
  std::size_t count = 0;
  // For a short text, the result is the only allocation.
  std::array<std::uint32_t, 2048> short_ids; // not initialized
  if (pretok_encode_bound(get(), text.size()) <= short_ids.size()) {
    if (pretok_encode(get(), detail::data_of(text), text.size(), &c_options, short_ids.data(),
                      short_ids.size(), &count, &error))
      return detail::error_of(error);
    return std::vector<std::uint32_t>(short_ids.data(), short_ids.data() + count);
  }
  std::uint32_t *result = nullptr;
  if (pretok_encode_new(get(), detail::data_of(text), text.size(), &c_options, &result, &count,
                        &error))
    return detail::error_of(error);
  const detail::Owner<std::uint32_t, &pretok_ids_free> ids(result);
  return std::vector<std::uint32_t>(result, result + count);
}

inline Result<TokenSpans> Tokenizer::encode_spans(std::string_view text,
                                                  const EncodeOptions &options) const {
  const pretok_encode_options c_options = detail::to_c_options(options);
  pretok_error error;
  TokenSpans result;
  const auto call = [&](std::uint32_t *ids, pretok_span *spans, std::size_t capacity,
                        std::size_t *count) {
    return pretok_encode_spans(get(), detail::data_of(text), text.size(), &c_options, ids,
                               spans, capacity, count, &error);
  };
  if (detail::fill_with_spans(text.size(), result.ids, result.spans, call))
    return detail::error_of(error);
  return result;
}

namespace detail {
inline std::vector<pretok_segment> to_c_segments(const std::vector<TextSegment> &segments) {
  std::vector<pretok_segment> result;
  for (const TextSegment &segment : segments)
    result.push_back({data_of(segment.text), segment.text.size(), segment.ids.data(),
                      segment.ids.size(), segment.special,
                      segment.allowed != nullptr ? segment.allowed->get() : nullptr});
  return result;
}
} // namespace detail

inline Result<SegmentedTokens>
Tokenizer::encode_segments(const std::vector<TextSegment> &segments, bool joined) const {
  const std::vector<pretok_segment> c_segments = detail::to_c_segments(segments);
  std::size_t size = 0;
  for (const TextSegment &segment : segments)
    size += segment.text.size() + 2 * segment.ids.size();
  pretok_error error;
  SegmentedTokens result;
  result.ends.resize(segments.size());
  const auto call = [&](std::uint32_t *ids, pretok_segment_span *spans, std::size_t capacity,
                        std::size_t *count) {
    return pretok_encode_segments(get(), c_segments.data(), c_segments.size(), joined, ids,
                                  spans, capacity, count, result.ends.data(), nullptr, &error);
  };
  if (detail::fill_with_spans(size, result.ids, result.spans, call))
    return detail::error_of(error);
  return result;
}

inline Result<Batch> Tokenizer::encode_batch(const std::vector<std::string_view> &texts,
                                             const EncodeOptions &options,
                                             std::uint32_t threads) const {
  const pretok_encode_options c_options = detail::to_c_options(options);
  pretok_error error;
  std::vector<const char *> data;
  std::vector<std::size_t> sizes;
  for (const std::string_view text : texts) {
    data.push_back(detail::data_of(text));
    sizes.push_back(text.size());
  }
  Batch result;
  result.ends.resize(texts.size());
  std::uint32_t *made = nullptr;
  if (pretok_encode_batch_new(get(), data.data(), sizes.data(), texts.size(), &c_options,
                              threads, &made, result.ends.data(), nullptr, &error))
    return detail::error_of(error);
  const detail::Owner<std::uint32_t, &pretok_ids_free> ids(made);
  if (!result.ends.empty())
    result.ids.assign(made, made + result.ends.back());
  return result;
}

inline Result<std::size_t> Tokenizer::count(std::string_view text,
                                            const EncodeOptions &options) const {
  const pretok_encode_options c_options = detail::to_c_options(options);
  pretok_error error;
  std::size_t count = 0;
  if (pretok_count(get(), detail::data_of(text), text.size(), &c_options, &count, &error))
    return detail::error_of(error);
  return count;
}

// A view of the ids of an EncodeStream. Valid until the next call of `feed` or `finish`.
class IdView {
public:
  IdView(const std::uint32_t *ids, std::size_t count) : ids_(ids), count_(count) {}

  const std::uint32_t *data() const { return ids_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const std::uint32_t *begin() const { return ids_; }
  const std::uint32_t *end() const { return ids_ + count_; }
  std::uint32_t operator[](std::size_t at) const { return ids_[at]; }

private:
  const std::uint32_t *ids_;
  std::size_t count_;
};

// Encodes a text in chunks. Chunks may end anywhere, even within a character.
class EncodeStream {
public:
  static Result<EncodeStream> of(const Tokenizer &tokenizer,
                                 const EncodeOptions &options = {}) {
    const pretok_encode_options c_options = detail::to_c_options(options);
    pretok_error error;
    pretok_encode_stream *result = nullptr;
    if (pretok_encode_stream_new(tokenizer.get(), &c_options, &result, &error))
      return detail::error_of(error);
    return EncodeStream(result);
  }

  // Appends a chunk, and returns the ids that the chunk completes. An error leaves the stream
  // unchanged.
  Result<IdView> feed(std::string_view chunk) {
    pretok_error error;
    const std::uint32_t *ids = nullptr;
    std::size_t count = 0;
    if (pretok_encode_stream_feed(handle_.get(), detail::data_of(chunk), chunk.size(), &ids,
                                  &count, &error))
      return detail::error_of(error);
    return IdView(ids, count);
  }

  // Returns the last ids of the text. After that the stream can only be destroyed.
  Result<IdView> finish() {
    pretok_error error;
    const std::uint32_t *ids = nullptr;
    std::size_t count = 0;
    if (pretok_encode_stream_finish(handle_.get(), &ids, &count, &error))
      return detail::error_of(error);
    return IdView(ids, count);
  }

private:
  explicit EncodeStream(pretok_encode_stream *result) : handle_(result) {}

  detail::Owner<pretok_encode_stream, &pretok_encode_stream_free> handle_;
};

// How a call has changed the ids of a Session: the first `keep` and the last `tail` ids stay,
// and `ids` come between them. `ids` is valid until the next call with the Session.
struct Patch {
  std::size_t keep;
  std::size_t tail;
  IdView ids;
};

// A text that changes, and its ids. pretok.h explains the calls. An error leaves the Session
// unchanged. Without options, a text has those of the Session.
class Session {
public:
  static Result<Session> of(const Tokenizer &tokenizer, const EncodeOptions &options = {}) {
    const pretok_encode_options c_options = detail::to_c_options(options);
    pretok_error error;
    pretok_session *result = nullptr;
    if (pretok_session_new(tokenizer.get(), &c_options, &result, &error))
      return detail::error_of(error);
    return Session(result);
  }

  Result<Patch> append(std::string_view text, const EncodeOptions *options = nullptr) {
    return change(options, [&](const pretok_encode_options *c, pretok_patch *p,
                               pretok_error *e) {
      return pretok_session_append(handle_.get(), detail::data_of(text), text.size(), c, p, e);
    });
  }
  Result<Patch> peek(std::string_view text, const EncodeOptions *options = nullptr) {
    return change(options, [&](const pretok_encode_options *c, pretok_patch *p,
                               pretok_error *e) {
      return pretok_session_peek(handle_.get(), detail::data_of(text), text.size(), c, p, e);
    });
  }
  Result<Patch> update(std::string_view text, const EncodeOptions *options = nullptr) {
    return change(options, [&](const pretok_encode_options *c, pretok_patch *p,
                               pretok_error *e) {
      return pretok_session_update(handle_.get(), detail::data_of(text), text.size(), c, p, e);
    });
  }
  // Replaces the bytes from `start` to `end`, excluded.
  Result<Patch> replace(std::size_t start, std::size_t end, std::string_view text,
                        const EncodeOptions *options = nullptr) {
    return change(options,
                  [&](const pretok_encode_options *c, pretok_patch *p, pretok_error *e) {
                    return pretok_session_replace(handle_.get(), start, end,
                                                  detail::data_of(text), text.size(), c, p, e);
                  });
  }
  // Adds ids that a model has made, which are never encoded.
  Result<Patch> extend(const std::vector<std::uint32_t> &ids) {
    return change(nullptr,
                  [&](const pretok_encode_options *, pretok_patch *p, pretok_error *e) {
                    return pretok_session_extend(handle_.get(), ids.data(), ids.size(), p, e);
                  });
  }

  // Returns an independent copy, in linear time.
  Result<Session> fork() const {
    pretok_error error;
    pretok_session *result = nullptr;
    if (pretok_session_fork(handle_.get(), &result, &error))
      return detail::error_of(error);
    return Session(result);
  }
  // Returns the spans in bytes of the ids from `first` to `last`, excluded.
  Result<std::vector<Span>> spans(std::size_t first, std::size_t last) const {
    pretok_error error;
    std::vector<Span> spans(last > first ? last - first : 0);
    if (pretok_session_spans(handle_.get(), first, last, spans.data(), &error))
      return detail::error_of(error);
    return spans;
  }

  // Drops the text that no append changes, now and after each later call. Afterwards only
  // append, peek, extend and fork are possible.
  void drop_text() { pretok_session_drop_text(handle_.get()); }
  // Return the ids and the text, valid until the next change.
  IdView ids() const {
    std::size_t count = 0;
    const std::uint32_t *const ids = pretok_session_ids(handle_.get(), &count);
    return IdView(ids, count);
  }
  std::string_view text() const {
    std::size_t size = 0;
    const char *const text = pretok_session_text(handle_.get(), &size);
    return {text, size};
  }
  // Returns the number of first ids that stay whatever text is appended.
  std::size_t stable() const { return pretok_session_stable(handle_.get()); }

private:
  explicit Session(pretok_session *result) : handle_(result) {}

  template <typename Call> Result<Patch> change(const EncodeOptions *options, Call call) {
    const pretok_encode_options c_options =
        options != nullptr ? detail::to_c_options(*options) : pretok_encode_options{};
    pretok_error error;
    pretok_patch patch{};
    if (call(options != nullptr ? &c_options : nullptr, &patch, &error))
      return detail::error_of(error);
    return Patch{patch.keep, patch.tail, IdView(patch.ids, patch.count)};
  }

  detail::Owner<pretok_session, &pretok_session_free> handle_;
};

// The ids of a text from a PromptCache, and how many of them were in it.
struct PromptIds {
  std::vector<std::uint32_t> ids;
  pretok_reuse reuse{};
  // For each segment of encode_segments, the number of ids that begin before its end.
  std::vector<std::size_t> ends;
};

// Encodes texts that have parts in common with earlier texts, and copies the ids of these
// parts. Threads may share it. A Tokenizer must outlive its caches.
class PromptCache {
public:
  // Makes an empty cache of at most `max_bytes` bytes.
  static Result<PromptCache> of(const Tokenizer &tokenizer,
                                std::size_t max_bytes = std::size_t{256} << 20) {
    pretok_error error;
    pretok_prompt_cache *result = nullptr;
    if (pretok_prompt_cache_new(tokenizer.get(), max_bytes, &result, &error))
      return detail::error_of(error);
    return PromptCache(result);
  }

  // Returns the ids of Tokenizer::encode. Texts share parts only if their salts are equal.
  Result<PromptIds> encode(std::string_view text, const EncodeOptions &options = {},
                           std::string_view salt = {}) {
    const pretok_encode_options c_options = detail::to_c_options(options);
    return filled(
        {}, text.size(),
        [&](PromptIds &to, std::size_t &count, pretok_reuse *reuse, pretok_error *error) {
          return pretok_prompt_cache_encode(handle_.get(), detail::data_of(text), text.size(),
                                            &c_options, detail::data_of(salt), salt.size(),
                                            to.ids.data(), to.ids.size(), &count, reuse, error);
        });
  }
  // Returns the ids and the ends of Tokenizer::encode_segments.
  Result<PromptIds> encode_segments(const std::vector<TextSegment> &segments,
                                    bool joined = true, std::string_view salt = {}) {
    const std::vector<pretok_segment> c_segments = detail::to_c_segments(segments);
    std::size_t size = 0;
    for (const TextSegment &segment : segments)
      size += segment.text.size() + segment.ids.size();
    PromptIds result;
    result.ends.resize(segments.size());
    return filled(
        std::move(result), size,
        [&](PromptIds &to, std::size_t &count, pretok_reuse *reuse, pretok_error *error) {
          return pretok_prompt_cache_encode_segments(
              handle_.get(), c_segments.data(), c_segments.size(), joined,
              detail::data_of(salt), salt.size(), to.ids.data(), to.ids.size(), &count,
              to.ends.data(), reuse, nullptr, error);
        });
  }

  Result<pretok_prompt_statistics> statistics() const {
    pretok_prompt_statistics result{};
    result.struct_size = sizeof result;
    pretok_error error;
    if (pretok_prompt_cache_statistics(handle_.get(), &result, &error))
      return detail::error_of(error);
    return result;
  }

  // Drops all parts.
  void clear() { pretok_prompt_cache_clear(handle_.get()); }

private:
  explicit PromptCache(pretok_prompt_cache *result) : handle_(result) {}

  // Calls `call` with room for the ids of a text of `size` bytes; again if it needs more.
  template <typename Call>
  static Result<PromptIds> filled(PromptIds result, std::size_t size, Call call) {
    pretok_error error;
    std::size_t count = 0;
    result.ids.resize(size / 3 + 16);
    pretok_status status = call(result, count, &result.reuse, &error);
    if (status == PRETOK_TOO_SMALL) {
      result.ids.resize(count);
      status = call(result, count, nullptr, &error);
    }
    if (status)
      return detail::error_of(error);
    result.ids.resize(count);
    return result;
  }

  detail::Owner<pretok_prompt_cache, &pretok_prompt_cache_free> handle_;
};

// Options of a DecodeStream. pretok_decode_options explains them.
struct DecodeOptions {
  bool skip_special = false;
  bool continuation = false;
  bool clean_up = false;
  std::vector<std::string> stop; // strings that end the text
};

// Decodes a stream of ids to UTF-8. Replaces invalid sequences by U+FFFD.
class DecodeStream {
public:
  static Result<DecodeStream> of(const Tokenizer &tokenizer, const DecodeOptions &options) {
    std::vector<const char *> texts;
    std::vector<std::size_t> sizes;
    for (const std::string &text : options.stop) {
      texts.push_back(text.data());
      sizes.push_back(text.size());
    }
    pretok_decode_options c_options{};
    c_options.struct_size = sizeof c_options;
    c_options.skip_special = options.skip_special;
    c_options.continuation = options.continuation;
    c_options.clean_up = options.clean_up;
    c_options.stop = texts.data();
    c_options.stop_sizes = sizes.data();
    c_options.stop_count = texts.size();
    pretok_error error;
    pretok_decode_stream *result = nullptr;
    if (pretok_decode_stream_with(tokenizer.get(), &c_options, &result, &error))
      return detail::error_of(error);
    return DecodeStream(result);
  }
  static Result<DecodeStream> of(const Tokenizer &tokenizer, bool skip_special = false) {
    pretok_error error;
    pretok_decode_stream *result = nullptr;
    if (pretok_decode_stream_new(tokenizer.get(), skip_special, &result, &error))
      return detail::error_of(error);
    return DecodeStream(result);
  }

  // Appends ids, and returns the text that the ids complete, valid until the next call. An
  // error leaves the stream unchanged.
  Result<std::string_view> feed(const std::uint32_t *ids, std::size_t count) {
    pretok_error error;
    const char *text = nullptr;
    std::size_t size = 0;
    if (pretok_decode_stream_feed(handle_.get(), ids, count, &text, &size, &error))
      return detail::error_of(error);
    return std::string_view(text, size);
  }
  Result<std::string_view> feed(std::uint32_t id) { return feed(&id, 1); }

  // Returns the text of the bytes that are still buffered, or "". U+FFFD replaces an
  // incomplete sequence. After that the stream can only be destroyed.
  Result<std::string_view> finish() {
    pretok_error error;
    const char *text = nullptr;
    std::size_t size = 0;
    if (pretok_decode_stream_finish(handle_.get(), &text, &size, &error))
      return detail::error_of(error);
    return std::string_view(text, size);
  }

  // Returns an independent copy, which another thread may use.
  Result<DecodeStream> clone() const {
    pretok_error error;
    pretok_decode_stream *result = nullptr;
    if (pretok_decode_stream_clone(handle_.get(), &result, &error))
      return detail::error_of(error);
    return DecodeStream(result);
  }
  // Removes the last `count` ids. Returns the number of bytes at the end of all text so far
  // that are no longer part of it.
  Result<std::size_t> rewind(std::size_t count) {
    pretok_error error;
    std::size_t removed = 0;
    if (pretok_decode_stream_rewind(handle_.get(), count, &removed, &error))
      return detail::error_of(error);
    return removed;
  }
  // Removes all ids. Returns false if there is no memory.
  bool reset() { return pretok_decode_stream_reset(handle_.get(), nullptr) == PRETOK_OK; }
  // The number of ids; the index of the stop string that has ended the text, or PRETOK_NO_STOP.
  std::size_t size() const { return pretok_decode_stream_size(handle_.get()); }
  std::size_t stopped() const { return pretok_decode_stream_stopped(handle_.get()); }

private:
  explicit DecodeStream(pretok_decode_stream *result) : handle_(result) {}

  detail::Owner<pretok_decode_stream, &pretok_decode_stream_free> handle_;
};

} // namespace v1
} // namespace pretok
