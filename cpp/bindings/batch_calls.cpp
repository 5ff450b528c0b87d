#include "bindings/batch_calls.hpp"

#include "bindings/interrupt_check.hpp"
#include "bindings/results.hpp"
#include "bindings/texts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace pretok {
namespace {

// A call collects ids without the GIL. When it has enough, it takes the GIL and makes lists. At
// first, MIN_IDS_FOR_LISTS ids are enough: they need little memory, and the call takes the GIL
// seldom. If other threads hold the GIL for long, the call waits for more ids, up to
// MAX_IDS_FOR_LISTS.
constexpr std::size_t MIN_IDS_FOR_LISTS = std::size_t{1} << 17;
constexpr std::size_t MAX_IDS_FOR_LISTS = std::size_t{1} << 21;

// Encodes texts without the GIL. Calls take(encoded) with the GIL whenever `encoded` has enough
// ids, and at the end. `take` makes lists of the ids in `encoded`, and removes the ids from
// `encoded`.
template <typename Take>
void encode_in_parts(const Tokenizer &tokenizer, const std::vector<TextView> &texts,
                     std::size_t size, const AddedTokenPhases &added, unsigned threads,
                     EncodeResult &encoded, Take take) {
  std::size_t enough = MIN_IDS_FOR_LISTS;
  const auto on_progress = [&](const EncodeResult &) {
    if (!is_not_refused(encoded))
      return false;
    if (size < MIN_SIZE_TO_RELEASE || encoded.ids.size() < enough)
      return true;
    const auto wait_start = std::chrono::steady_clock::now();
    const py::gil_scoped_acquire acquired;
    // If other threads hold the GIL for long, take it less often.
    if (std::chrono::steady_clock::now() - wait_start > std::chrono::milliseconds(1))
      enough = std::min(enough * 4, MAX_IDS_FOR_LISTS);
    take(encoded);
    return true;
  };
  unlocked(size, [&] {
    encode_texts(tokenizer, OutputKind::IDS, texts, added, threads, encoded, on_progress,
                 InterruptCheck());
  });
  if (is_not_refused(encoded))
    take(encoded);
}

// Builds the result of a batch: a list with one list of ids per text.
class Lists {
public:
  Lists(IdObjects &objects, std::size_t count) : objects_(objects), result_(count) {
    // gc.get_objects() in another thread must not return the list before it is full.
    PyObject_GC_UnTrack(result_.ptr());
  }

  // Adds a list of ids for each text whose ids are all in `encoded`. Removes the ids of these
  // texts from `encoded`.
  void add(EncodeResult &encoded) {
    std::int64_t start = 0;
    for (const std::int64_t end : encoded.text_ends) {
      py::list ids =
          objects_.as_list(encoded.ids.data() + start, static_cast<std::size_t>(end - start));
      // Tracked lists would be traversed by the garbage collector again and again while more
      // lists are added. take() tracks them.
      PyObject_GC_UnTrack(ids.ptr());
      PyList_SET_ITEM(result_.ptr(), made_++, ids.release().ptr());
      start = end;
    }
    encoded.drop_ended_texts();
  }

  // Returns the finished list. Call it once, after the last text was added.
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

py::list encode_to_list(const Tokenizer &tokenizer, IdObjects &objects, const TextView &text,
                        const AddedTokenPhases &added, unsigned threads) {
  EncodeResult encoded;
  py::list result;
  encode_in_parts(tokenizer, {text}, text.size(), added, threads, encoded,
                  [&](EncodeResult &some) {
                    const py::list part = objects.as_list(some.ids.data(), some.ids.size());
                    const Py_ssize_t end = PyList_GET_SIZE(result.ptr());
                    if (PyList_SetSlice(result.ptr(), end, end, part.ptr()) != 0)
                      throw py::error_already_set();
                    some.ids.clear();
                  });
  raise_if_refused(encoded.refusal, py::none());
  return result;
}

py::list encode_to_lists(const Tokenizer &tokenizer, IdObjects &objects, const py::list &texts,
                         const AddedTokenPhases &added, unsigned threads) {
  const Texts batch(texts);
  EncodeResult encoded;
  Lists lists(objects, batch.views.size());
  encode_in_parts(tokenizer, batch.views, batch.size, added, threads, encoded,
                  [&](EncodeResult &some) { lists.add(some); });
  raise_if_refused(encoded.refusal, py::int_(encoded.refused_text));
  return lists.take();
}

py::tuple encode_to_arrays(const Tokenizer &tokenizer, const std::vector<TextView> &texts,
                           std::size_t size, const AddedTokenPhases &added, unsigned threads,
                           const DropoutOptions *dropout) {
  EncodeResult encoded;
  unlocked(size, [&] {
    // Reserve room for one id per two bytes. Most texts need fewer ids. The system allocates a
    // memory page at the first write, so pages after the last id take no memory. A buffer that
    // grows would move, and could leave holes in the heap.
    encoded.ids.reserve(size / 2);
    encoded.text_ends.reserve(texts.size() + 1);
    encode_texts(tokenizer, OutputKind::IDS, texts, added, threads, encoded, is_not_refused,
                 InterruptCheck(), Encoder::Part::FIRST, dropout);
  });
  raise_if_refused(encoded.refusal, py::int_(encoded.refused_text));
  std::vector<std::int64_t> &offsets = encoded.text_ends;
  offsets.insert(offsets.begin(), 0);
  return py::make_tuple(as_array_of_ids(std::move(encoded.ids)), as_array(std::move(offsets)));
}

} // namespace pretok
