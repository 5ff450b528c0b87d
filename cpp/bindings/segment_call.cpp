#include "bindings/segment_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/results.hpp"

#include "core/encode/segments.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {
namespace {

bool is_text(PyObject *object) {
  return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

// Looks up the tokens of policies. Most segments have one of two policies.
class Searches {
public:
  explicit Searches(const py::dict &by_policy) : by_policy_(by_policy) {}

  // Returns nullptr if the policy is not known.
  std::shared_ptr<const AddedTokens> of(PyObject *policy) {
    for (const Known &known : known_)
      if (known.policy == policy)
        return known.tokens;
    if (!PyUnicode_CheckExact(policy))
      return nullptr;
    PyObject *const found = PyDict_GetItemWithError(by_policy_.ptr(), policy);
    if (found == nullptr) {
      if (PyErr_Occurred() != nullptr)
        throw py::error_already_set();
      return nullptr;
    }
    const auto phases = py::cast<std::shared_ptr<AddedTokenPhases>>(py::handle(found));
    known_.push_back({policy, std::shared_ptr<const AddedTokens>(phases, &phases->all)});
    return known_.back().tokens;
  }

private:
  struct Known {
    PyObject *policy;
    std::shared_ptr<const AddedTokens> tokens;
  };

  const py::dict &by_policy_;
  std::vector<Known> known_;
};

// Adds the segments. Returns false for other segments or policies.
bool read_segments(const py::list &segments, const py::dict &by_policy,
                   const py::object &special, SegmentedText &text) {
  Searches searches(by_policy);
  text.reserve(segments.size(), 0);
  Scratch scratch;
  for (const py::handle segment : segments) {
    PyObject *object = segment.ptr();
    PyObject *policy = special.ptr();
    if (PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 2) {
      policy = PyTuple_GET_ITEM(object, 1);
      object = PyTuple_GET_ITEM(object, 0);
    }
    if (!is_text(object))
      return false;
    const std::shared_ptr<const AddedTokens> tokens = searches.of(policy);
    if (tokens == nullptr)
      return false;
    TextView(object).with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      text.add(data, size, tokens);
    });
  }
  return true;
}

} // namespace

py::object encode_segments(const DeferredTokenizer &tokenizers, const py::list &segments,
                           const py::dict &searches, const py::object &special) {
  SegmentedText text;
  if (!read_segments(segments, searches, special, text))
    return py::none();
  IdBuffer ids;
  Spans spans;
  std::vector<std::int64_t> ends;
  Refusal refusal;
  const DeferredTokenizer::Lease tokenizer = tokenizers.for_text(text.size());
  unlocked(text.size(), [&] {
    const CacheLease cache(tokenizer->caches());
    refusal = text.encode(*tokenizer, *cache, ids, spans);
    ends = text.token_ends(spans);
  });
  if (refusal.token != nullptr)
    return py::none();
  return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(ends)),
                        as_array(std::move(spans.starts)), as_array(std::move(spans.ends)));
}

} // namespace pretok
