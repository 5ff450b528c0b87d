// Decodes ids that come in parts for bpe.decoders.text_stream.
#pragma once

#include "bindings/decode_calls.hpp"
#include "bindings/shared.hpp"
#include "core/decode/text_stream.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace pretok {

// A TextStream whose rewind() counts code points. Threads that share it wait for each other.
class NativeTextStream {
public:
  // `owner` keeps `decoder` alive.
  NativeTextStream(pybind11::object owner, const Decoder &decoder, TextStreamOptions options)
      : owner_(std::move(owner)), decoder_(decoder), stream_(decoder, std::move(options)) {}

  // Returns the text that the ids complete; None, without a change, if an item is not the id of
  // a token.
  pybind11::object feed(const pybind11::list &ids);
  pybind11::str finish();
  void reset();
  std::uint64_t rewind(std::size_t count);
  std::unique_ptr<NativeTextStream> clone() const;
  // Returns what a method of the TextStream returns.
  template <typename Result> auto get(Result (TextStream::*method)() const) const {
    return stream_.use(0, [&](const TextStream &stream) { return (stream.*method)(); });
  }
  // Returns the index of the stop string that has ended the text.
  std::optional<std::size_t> stopped() const;

private:
  NativeTextStream(pybind11::object owner, const Decoder &decoder, TextStream &&stream)
      : owner_(std::move(owner)), decoder_(decoder), stream_(std::move(stream)) {}

  pybind11::object owner_;
  const Decoder &decoder_;
  Shared<TextStream> stream_;
};

void bind_text_stream(pybind11::module_ &module);

} // namespace pretok
