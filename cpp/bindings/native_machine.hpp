// The native backend of pretok.PreTokenizer.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

namespace py = pybind11;

class NativeMachine {
public:
  NativeMachine(const std::vector<std::uint32_t> &words, const std::string &version);

  const PreTokenizer &pre_tokenizer() const { return pre_tokenizer_; }

  py::list split(const py::str &text) const;
  py::list split_bytes(const py::bytes &data) const;
  py::array_t<std::int64_t> offsets(py::handle text, const std::string &unit) const;
  std::size_t count(py::handle text) const;

  // Returns three arrays: the start, the end and the rule of each pre-token.
  // The rules of all stages are numbered consecutively; GAP (-1) means that no rule matched.
  py::tuple steps(const py::str &text) const;

  // advance() and run_length() need a pre-tokenizer with exactly one stage, which removes no
  // text. Streams use them.

  // Splits the next part of a text. Returns the ends and the rules of the pre-tokens that are
  // certain, and then the members of Undecided (core/split/machine.hpp). If `partial`, more
  // text may follow `chars`. If `in_gap`, the text before `chars` ends in a gap (code points at
  // which no rule matches). If `rule` is not GAP, `chars` continues a match of this rule that
  // an earlier call left unfinished, and starts at the `restart` of that call.
  py::tuple advance(const py::str &chars, bool partial, bool in_gap, int rule) const;

  // Returns the number of code points at the start of `chars` with a class in `mask`, up to the
  // first code point of another class.
  std::size_t run_length(const py::str &chars, Mask mask) const;

  py::list split_batch(const py::list &texts, unsigned threads) const;

private:
  // Returns the machine of the only stage.
  const Machine &only() const;

  PreTokenizer pre_tokenizer_;
};

} // namespace pretok
