// Encodes segments of strs and bytes without prior work in Python.
#pragma once

#include "bindings/deferred_tokenizer.hpp"

#include "core/base/function_ref.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace pretok {

namespace py = pybind11;

// Reads segments: a text, (text, policy), or a list of ids. Keeps the policies.
class SegmentReader {
public:
  // `by_policy` has the AddedTokens of each policy.
  explicit SegmentReader(const py::dict &by_policy) : by_policy_(by_policy) {}

  struct Known {
    PyObject *policy;
    std::string name;
    std::shared_ptr<AddedTokenPhases> added;
  };
  // Its text and ids are valid only during the call that gets it.
  struct Read {
    const std::uint8_t *text;
    std::size_t size;
    const Known &policy;
    const std::uint32_t *ids;
    std::size_t id_count;
  };
  // Calls visit() for each segment; `special` is the policy of those without one. Returns false
  // at the first that it cannot read, and for an unknown `special`.
  bool read(const py::list &segments, const py::object &special,
            FunctionRef<void(const Read &)> visit);
  // Returns the tokens of the policies that it has read.
  std::vector<std::shared_ptr<const AddedTokenPhases>> tokens() const;

private:
  // Returns nullptr if the policy is not known. Most segments have one of two policies.
  const Known *find(PyObject *policy);

  const py::dict &by_policy_;
  std::deque<Known> known_; // the caller refers to them
};

// Encodes segments as one text. SegmentReader reads them; the policy of a text is `special`.
// `searches` has the AddedTokens of each policy. Returns (ids, places): the ids, and a
// TokenPlaces, whose method `find` returns (ends, starts, stops): the numbers of ids that begin
// before the end of each segment, and the spans of the ids in bytes of all segments. Returns
// None for other segments or policies, and for a refused token; the caller then encodes them in
// another way. `tokenizers` belong to `owner`.
py::object encode_segments(const py::object &owner, const DeferredTokenizer &tokenizers,
                           const py::list &segments, const py::dict &searches,
                           const py::object &special);

// Adds the class TokenPlaces.
void bind_token_places(py::module_ &module);

} // namespace pretok
