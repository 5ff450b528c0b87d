// The calls of Tokenizer that decode.
#pragma once

#include "core/base/made_at_first_use.hpp"
#include "core/decode/decoder.hpp"
#include "formats/tokenizer_spec.hpp"

#include <pybind11/pybind11.h>

#include <memory>

namespace pretok {

// The Decoder of a tokenizer. Many programs only encode, so the first call that decodes makes
// it.
class DeferredDecoder {
public:
  explicit DeferredDecoder(std::shared_ptr<const TokenizerSpec> spec)
      : spec_(std::move(spec)) {}

  const Decoder &get() const;

private:
  std::shared_ptr<const TokenizerSpec> spec_;
  MadeAtFirstUse<Decoder> decoder_;
};

// Returns the bytes of `ids`, a list, a tuple or an array of one dimension. Returns nullptr,
// without an error, if an item is not an int or not the id of a token.
PyObject *decode_to_bytes(const Decoder &decoder, PyObject *ids, bool skip_special);

// Returns a tuple of the functions decode(ids, errors, skip) and decode_bytes(ids, skip). If
// `skip` is true, a call omits special tokens. The functions take a list, a tuple or an array
// of one dimension in which every item is an int and the id of a token. Any other call, and
// invalid UTF-8 that an error handler other than "replace" must treat, goes to the function at
// the same index of `slow_calls`. The functions keep `owner`, the owner of `decoder`, alive.
pybind11::tuple make_decode_calls(const pybind11::object &owner, const DeferredDecoder &decoder,
                                  const pybind11::tuple &slow_calls);

} // namespace pretok
