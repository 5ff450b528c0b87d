// The Python class PromptCache of the module _core.
#include "bindings/bind.hpp"
#include "bindings/convert.hpp"
#include "bindings/interrupt_check.hpp"
#include "bindings/native_tokenizer.hpp"
#include "bindings/results.hpp"
#include "bindings/segment_call.hpp"

#include "core/session/prompt_text.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Ids that come before or after a text.
using Around = std::vector<std::uint32_t>;

// bpe.sessions.prompt_cache documents the methods.
class NativePromptCache {
public:
  NativePromptCache(py::object tokenizer, std::size_t max_bytes, std::size_t min_window,
                    std::size_t max_window, std::uint64_t hash_mask)
      : owner_(std::move(tokenizer)), tokenizers_(NativeTokenizer::of(owner_).tokenizers()),
        prompts_({max_bytes, min_window, max_window, hash_mask}) {
    if (min_window < 1 || max_window < min_window)
      throw py::value_error("expected 1 <= min_window <= max_window");
  }

  // Returns the ids of `before`, of the text and of `after`, and the numbers of ids of the text
  // that were in the cache: at its start, and in all.
  py::tuple encode(const py::object &text, const AddedTokenPhases &added,
                   const AddedTokenPhases &all, const py::bytes &policy, const py::bytes &salt,
                   bool continuation, const Around &before, const Around &after) {
    const TextView view(text);
    const DeferredTokenizer::Lease tokenizer = tokenizers_.for_text(view.size());
    const PromptSegment whole{MAX_ELEMENTS<char>, &added, view_of(policy)};
    const PromptCache::Request request{all, view_of(salt), &whole, 1,
                                       continuation ? Encoder::Part::LATER
                                                    : Encoder::Part::FIRST};
    IdBuffer ids;
    PromptCache::Result result;
    unlocked(view.size(), [&] {
      // The system allocates a memory page at the first write, so room that the ids do not need
      // takes no memory.
      ids.reserve(view.size() / 2 + before.size() + after.size());
      ids.append(before.data(), before.size());
      const CacheLease cache(tokenizer->caches());
      InterruptCheck interrupt_check;
      Scratch scratch;
      view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
        const bool is_long = size >= MIN_SIZE_TO_RELEASE;
        result = prompts_.encode(*tokenizer, data, size, request, *cache, ids, [&] {
          if (is_long && view.size() >= MIN_SIZE_TO_RELEASE)
            interrupt_check();
        });
      });
      ids.append(after.data(), after.size());
    });
    raise_if_refused(result.refusal, py::none());
    return py::make_tuple(as_array_of_ids(std::move(ids)), result.reused_prefix, result.reused);
  }

  // Returns the ids of segments, the numbers of ids that begin before the end of each one, and
  // the numbers of ids that were in the cache. Returns None for segments that SegmentReader
  // does not read, and for a refused token.
  py::object encode_segments(const py::list &segments, const py::dict &searches,
                             const AddedTokenPhases &all, const py::object &special,
                             bool joined, const py::bytes &salt) {
    PromptText text(joined);
    text.reserve(segments.size());
    SegmentReader reader(searches);
    const bool is_read = reader.read(segments, special, [&](const SegmentReader::Read &each) {
      text.add(each.text, each.size, *each.policy.added, each.policy.name, each.ids,
               each.id_count);
    });
    if (!is_read)
      return py::none();
    const DeferredTokenizer::Lease tokenizer = tokenizers_.for_text(text.size());
    IdBuffer ids;
    PromptCache::Result result;
    unlocked(text.size(), [&] {
      ids.reserve(text.size() / 2);
      const CacheLease cache(tokenizer->caches());
      InterruptCheck interrupt_check;
      result = text.encode(prompts_, *tokenizer, all, view_of(salt), *cache, ids, [&] {
        if (text.size() >= MIN_SIZE_TO_RELEASE)
          interrupt_check();
      });
    });
    if (result.refusal.token != nullptr)
      return py::none();
    return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(result.ends)),
                          result.reused_prefix, result.reused);
  }

  void clear() { prompts_.clear(); }

  // Returns the fields of PromptCacheStatistics, in order.
  py::tuple statistics() const {
    const PromptCache::Statistics all = prompts_.statistics();
    return py::make_tuple(all.calls, all.bytes, all.bytes_reused, all.ids, all.ids_reused,
                          all.chunks, all.bytes_held, all.evicted);
  }

private:
  const py::object owner_; // keeps tokenizers_ alive
  const DeferredTokenizer &tokenizers_;
  PromptCache prompts_;
};

} // namespace

void bind_prompt_cache(py::module_ &module) {
  using Native = NativePromptCache;
  const PromptCacheSettings settings;
  py::class_<Native>(module, "PromptCache")
      .def(py::init<py::object, std::size_t, std::size_t, std::size_t, std::uint64_t>(),
           py::arg("tokenizer"), py::arg("max_bytes"),
           py::arg("min_window") = settings.min_window,
           py::arg("max_window") = settings.max_window,
           py::arg("hash_mask") = settings.hash_mask)
      .def("encode", &Native::encode, py::arg("text"), py::arg("added"), py::arg("all"),
           py::arg("policy"), py::arg("salt"), py::arg("continuation"), py::arg("before"),
           py::arg("after"))
      .def("encode_segments", &Native::encode_segments, py::arg("segments"),
           py::arg("searches"), py::arg("all"), py::arg("special"), py::arg("joined"),
           py::arg("salt"))
      .def("clear", on_self(&Native::clear))
      .def("statistics", on_self(&Native::statistics));
}

} // namespace pretok
