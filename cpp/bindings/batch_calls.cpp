#include "bindings/batch_calls.hpp"

#include "bindings/pulse.hpp"
#include "bindings/results.hpp"
#include "bindings/texts.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// The number of ids to collect before they become lists: they need little memory, and the call
// does not take the GIL too often.
constexpr std::size_t ENOUGH_FOR_LISTS = std::size_t{1} << 17;
constexpr std::size_t MOST_FOR_LISTS = std::size_t{1} << 21;

// Calls take(found) with the GIL from time to time, and at the end. `take` makes lists of the
// ids so far and removes these ids.
template <typename Take>
void encode_in_parts(const Encoder &encoder, const std::vector<TextView> &texts,
                     std::size_t size, const AddedTokens &added, unsigned threads,
                     EncodeResult &found, Take take) {
  std::size_t enough = ENOUGH_FOR_LISTS;
  const auto on_progress = [&](const EncodeResult &) {
    if (!is_not_refused(found))
      return false;
    if (size < WORTH_RELEASING || found.ids.size() < enough)
      return true;
    const auto asked = std::chrono::steady_clock::now();
    const py::gil_scoped_acquire acquired;
    // If other threads hold the GIL for long, take it less often.
    if (std::chrono::steady_clock::now() - asked > std::chrono::milliseconds(1))
      enough = std::min(enough * 4, MOST_FOR_LISTS);
    take(found);
    return true;
  };
  unlocked(size, [&] {
    encode_texts(encoder, OutputKind::IDS, texts, added, threads, found, on_progress, Pulse());
  });
  if (is_not_refused(found))
    take(found);
}

// Builds the list of the id lists of a batch.
class Lists {
public:
  Lists(IdObjects &objects, std::size_t count) : objects_(objects), result_(count) {
    // Other code must not see the list before it is full.
    PyObject_GC_UnTrack(result_.ptr());
  }

  // Adds the lists of the texts that are complete, and removes their ids.
  void add(EncodeResult &found) {
    std::int64_t start = 0;
    for (const std::int64_t end : found.text_ends) {
      py::list ids =
          objects_.as_list(found.ids.data() + start, static_cast<std::size_t>(end - start));
      // The garbage collector would traverse the lists repeatedly while more lists are added.
      PyObject_GC_UnTrack(ids.ptr());
      PyList_SET_ITEM(result_.ptr(), made_++, ids.release().ptr());
      start = end;
    }
    found.drop_ended_texts();
  }

  // Call after the last text.
  py::list take() {
    for (const py::handle ids : result_)
      PyObject_GC_Track(ids.ptr());
    PyObject_GC_Track(result_.ptr());
    return std::move(result_);
  }

private:
  IdObjects &objects_;
  py::list result_;
  Py_ssize_t made_ = 0;
};

} // namespace

py::list encode_to_list(const Encoder &encoder, IdObjects &objects, const TextView &text,
                        const AddedTokens &added, unsigned threads) {
  EncodeResult found;
  py::list result;
  encode_in_parts(encoder, {text}, text.size(), added, threads, found, [&](EncodeResult &some) {
    const py::list part = objects.as_list(some.ids.data(), some.ids.size());
    const Py_ssize_t end = PyList_GET_SIZE(result.ptr());
    if (PyList_SetSlice(result.ptr(), end, end, part.ptr()) != 0)
      throw py::error_already_set();
    some.ids.clear();
  });
  raise_if_refused(found, py::none());
  return result;
}

py::list encode_to_lists(const Encoder &encoder, IdObjects &objects, const py::list &texts,
                         const AddedTokens &added, unsigned threads) {
  const Texts batch(texts);
  EncodeResult found;
  Lists lists(objects, batch.views.size());
  encode_in_parts(encoder, batch.views, batch.size, added, threads, found,
                  [&](EncodeResult &some) { lists.add(some); });
  raise_if_refused(found, py::int_(found.refused_text));
  return lists.take();
}

py::tuple encode_to_arrays(const Encoder &encoder, const py::list &texts,
                           const AddedTokens &added, unsigned threads) {
  const Texts batch(texts);
  EncodeResult found;
  unlocked(batch.size, [&] {
    // Unused memory has no pages; growing could leave holes in the heap.
    found.ids.reserve(batch.size / 2); // pages beyond the ids are never written
    found.text_ends.reserve(batch.views.size() + 1);
    encode_texts(encoder, OutputKind::IDS, batch.views, added, threads, found, is_not_refused,
                 Pulse());
  });
  raise_if_refused(found, py::int_(found.refused_text));
  std::vector<std::int64_t> &offsets = found.text_ends;
  offsets.insert(offsets.begin(), 0);
  return py::make_tuple(as_array_of_ids(std::move(found.ids)), as_array(std::move(offsets)));
}

} // namespace pretok
