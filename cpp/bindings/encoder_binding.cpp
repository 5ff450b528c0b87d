#include "encoder_binding.hpp"

#include "convert.hpp"
#include "id_objects.hpp"
#include "native_machine.hpp"
#include "pulse.hpp"

#include "encode_texts.hpp"
#include "encoder.hpp"
#include "vocabulary.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace pretok {
namespace {

template <typename T> using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;
// content, id, normalized, lstrip, rstrip, single_word, refused
using AddedRecord = std::tuple<std::string, std::uint32_t, bool, bool, bool, bool, bool>;

template <typename T> std::vector<T> as_vector(const Array<T> &values) {
  return {values.data(), values.data() + values.size()};
}

[[noreturn]] void raise_refusal(const Refusal &refusal, py::object text_index) {
  const py::object type = py::module_::import("bpe.errors").attr("SpecialTokenError");
  const py::object error =
      type(py::str(refusal.token->content), refusal.position, std::move(text_index));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

py::array_t<std::uint32_t> as_array_of_ids(IdBuffer &&ids) {
  const auto size = static_cast<py::ssize_t>(ids.size());
  if (size == 0)
    return py::array_t<std::uint32_t>(0);
  ids.fit();
  std::uint32_t *owned = ids.release();
  const py::capsule owner(owned, [](void *p) { std::free(p); });
  return py::array_t<std::uint32_t>(size, owned, owner);
}

AddedTokens make_added(const std::vector<AddedRecord> &records, AddedTokens::Ranges words) {
  std::vector<AddedToken> tokens;
  for (const auto &[content, id, normalized, lstrip, rstrip, single_word, refused] : records)
    tokens.push_back({content, id, normalized, lstrip, rstrip, single_word, refused});
  return AddedTokens(tokens, std::move(words));
}

void raise_if_refused(const Encoded &found, py::object text_index) {
  if (found.refusal.token != nullptr)
    raise_refusal(found.refusal, std::move(text_index));
}

bool go_on(const Encoded &found) { return found.refusal.token == nullptr; }

// How many ids are made before they become lists: little memory, and the interpreter's lock is
// not asked for too often.
constexpr std::size_t ENOUGH_FOR_LISTS = std::size_t{1} << 17;
constexpr std::size_t MOST_FOR_LISTS = std::size_t{1} << 21;

// The texts of a list. The tuple keeps them alive, whatever becomes of the list meanwhile.
struct Batch {
  explicit Batch(const py::list &texts) : kept(texts) {
    views.reserve(kept.size());
    for (const py::handle text : kept) {
      views.emplace_back(text);
      size += views.back().size();
    }
  }

  py::tuple kept;
  std::vector<TextView> views;
  std::size_t size = 0;
};

class NativeEncoder {
public:
  NativeEncoder(std::shared_ptr<NativeMachine> machine, const py::bytes &bytes,
                const Array<std::uint32_t> &lengths, const Array<std::uint32_t> &ids,
                std::size_t mergeable, const std::optional<Array<std::uint32_t>> &merges,
                bool ignore_merges, bool add_prefix_space)
      : machine_(std::move(machine)) {
    VocabularyData data;
    const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(bytes.ptr()));
    data.bytes.assign(first, first + PyBytes_GET_SIZE(bytes.ptr()));
    data.lengths = as_vector(lengths);
    data.ids = as_vector(ids);
    data.mergeable = mergeable;
    data.from_ranks = !merges.has_value();
    data.ignore_merges = ignore_merges;
    if (merges) {
      const std::uint32_t *at = merges->data();
      for (py::ssize_t i = 0; i + 2 < merges->size(); i += 3)
        data.merges.push_back({at[i], at[i + 1], at[i + 2]});
    }
    const char *wrong = nullptr;
    unlocked(WORTH_RELEASING, [&] { wrong = vocabulary_.build(std::move(data)); });
    if (wrong != nullptr)
      throw py::value_error(wrong);
    if (machine_)
      encoder_.emplace(machine_->machine(), vocabulary_, add_prefix_space);
  }
  NativeEncoder(const NativeEncoder &) = delete;
  NativeEncoder &operator=(const NativeEncoder &) = delete;

  // `threads`, here and below: 0 is as many as the work is worth.
  py::list encode(const py::object &text, const AddedTokens &added, unsigned threads) const {
    const Encoded found = encoded(Wanted::IDS, TextView(text), added, threads);
    return id_objects_.as_list(found.ids.data(), found.ids.size());
  }

  py::array_t<std::uint32_t> encode_array(const py::object &text, const AddedTokens &added,
                                          unsigned threads) const {
    return as_array_of_ids(std::move(encoded(Wanted::IDS, TextView(text), added, threads).ids));
  }

  std::size_t count(const py::object &text, const AddedTokens &added, unsigned threads) const {
    return encoded(Wanted::COUNT, TextView(text), added, threads).count;
  }

  py::tuple spans(const py::object &text, const AddedTokens &added, unsigned threads) const {
    Encoded found = encoded(Wanted::SPANS, TextView(text), added, threads);
    return py::make_tuple(as_array_of_ids(std::move(found.ids)),
                          as_array(std::move(found.starts)), as_array(std::move(found.ends)));
  }

  py::list encode_batch(const py::list &texts, const AddedTokens &added,
                        unsigned threads) const {
    const Batch batch(texts);
    Encoded found;
    py::list result(batch.views.size());
    std::size_t made = 0;
    const auto make_lists = [&] {
      std::int64_t start = 0;
      for (const std::int64_t end : found.text_ends) {
        result[made++] = id_objects_.as_list(found.ids.data() + start,
                                             static_cast<std::size_t>(end - start));
        start = end;
      }
      found.forget_texts();
    };
    unlocked(batch.size, [&] {
      std::size_t enough = ENOUGH_FOR_LISTS;
      encode_texts(
          encoder(), Wanted::IDS, batch.views, added, threads, found,
          [&](const Encoded &) {
            if (found.refusal.token != nullptr)
              return false;
            if (batch.size < WORTH_RELEASING || found.ids.size() < enough)
              return true;
            const auto asked = std::chrono::steady_clock::now();
            const py::gil_scoped_acquire acquired;
            // Where others hold the lock for long, it is asked for less often.
            if (std::chrono::steady_clock::now() - asked > std::chrono::milliseconds(1))
              enough = std::min(enough * 4, MOST_FOR_LISTS);
            make_lists();
            return true;
          },
          Pulse());
    });
    raise_if_refused(found, py::int_(found.refused));
    make_lists();
    return result;
  }

  py::tuple encode_batch_array(const py::list &texts, const AddedTokens &added,
                               unsigned threads) const {
    const Batch batch(texts);
    Encoded found;
    unlocked(batch.size, [&] {
      // Room that is not used is not there; growing might leave holes where it was.
      found.ids.reserve(batch.size / 4);
      encode_texts(encoder(), Wanted::IDS, batch.views, added, threads, found, go_on, Pulse());
    });
    raise_if_refused(found, py::int_(found.refused));
    std::vector<std::int64_t> &offsets = found.text_ends;
    offsets.insert(offsets.begin(), 0);
    return py::make_tuple(as_array_of_ids(std::move(found.ids)), as_array(std::move(offsets)));
  }

  py::list merge(const py::bytes &pre_token) const {
    const auto *data =
        reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(pre_token.ptr()));
    const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(pre_token.ptr()));
    IdBuffer ids;
    if (size != 0)
      unlocked(size,
               [&] { ids.add(vocabulary_.encode(data, size, data + size, ids.room(size))); });
    return id_objects_.as_list(ids.data(), ids.size());
  }

  // The bytes of `ids`, or None if one of them is not an int or no token's.
  py::object decode(const py::object &ids) const {
    std::string bytes;
    if (py::isinstance<py::array>(ids)) {
      if (!decode_array(py::reinterpret_borrow<py::array>(ids), bytes))
        return py::none();
      return py::bytes(bytes);
    }
    // A copy: what an item's __index__ does to the list does not matter.
    const auto items = py::reinterpret_steal<py::tuple>(PySequence_Tuple(ids.ptr()));
    if (!items)
      throw py::error_already_set();
    for (const py::handle item : items) {
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()));
      int overflow = 0;
      const long long id = number ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : -1;
      PyErr_Clear();
      if (overflow != 0 || !append_token(id, bytes))
        return py::none();
    }
    return py::bytes(bytes);
  }

  py::array_t<std::uint32_t> merges() const {
    std::vector<Merge> found;
    unlocked(WORTH_RELEASING, [&] { found = vocabulary_.merges(); });
    py::array_t<std::uint32_t> result({static_cast<py::ssize_t>(found.size()), py::ssize_t{3}});
    std::uint32_t *to = result.mutable_data();
    for (const Merge &merge : found)
      for (const std::uint32_t id : {merge.left, merge.right, merge.id})
        *to++ = id;
    return result;
  }

private:
  const Encoder &encoder() const {
    if (!encoder_)
      throw py::value_error("this encoder only merges: it was made without a machine");
    return *encoder_;
  }

  Encoded encoded(Wanted wanted, const TextView &text, const AddedTokens &added,
                  unsigned threads) const {
    Encoded found;
    unlocked(text.size(), [&] {
      if (wanted != Wanted::COUNT)
        found.ids.reserve(text.size() / 4);
      if (share(text.size(), threads).task == 0) {
        const CacheLease cache(encoder().caches());
        std::vector<std::uint8_t> scratch;
        text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
          found.add(encoder(), wanted, data, size, added, *cache, true);
        });
      } else {
        encode_texts(encoder(), wanted, std::vector<TextView>{text}, added, threads, found,
                     go_on, Pulse());
      }
    });
    raise_if_refused(found, py::none());
    return found;
  }

  bool decode_array(const py::array &ids, std::string &bytes) const {
    const char kind = ids.dtype().kind();
    if (ids.ndim() != 1 || (kind != 'i' && kind != 'u'))
      return false;
    const Array<std::int64_t> wide(ids);
    const std::int64_t *at = wide.data();
    return std::all_of(at, at + wide.size(),
                       [&](std::int64_t id) { return append_token(id, bytes); });
  }

  bool append_token(long long id, std::string &bytes) const {
    if (id < 0 || id >= ID_LIMIT)
      return false;
    const TokenView token = vocabulary_.token(static_cast<std::uint32_t>(id));
    if (token.bytes == nullptr)
      return false;
    bytes.append(reinterpret_cast<const char *>(token.bytes), token.size);
    return true;
  }

  std::shared_ptr<NativeMachine> machine_;
  Vocabulary vocabulary_;
  std::optional<Encoder> encoder_;
  mutable IdObjects id_objects_;
};

} // namespace

void bind_encoder(py::module_ &module) {
  py::class_<AddedTokens>(module, "AddedTokens")
      .def(py::init(&make_added), py::arg("tokens"), py::arg("words"));
  py::class_<NativeEncoder>(module, "Encoder")
      .def(py::init<std::shared_ptr<NativeMachine>, const py::bytes &,
                    const Array<std::uint32_t> &, const Array<std::uint32_t> &, std::size_t,
                    const std::optional<Array<std::uint32_t>> &, bool, bool>(),
           py::arg("machine").none(true), py::arg("token_bytes"), py::arg("lengths"),
           py::arg("ids"), py::arg("mergeable"), py::arg("merges").none(true),
           py::arg("ignore_merges"), py::arg("add_prefix_space"))
      .def("encode", &NativeEncoder::encode, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_array", &NativeEncoder::encode_array, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("count", &NativeEncoder::count, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("spans", &NativeEncoder::spans, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_batch", &NativeEncoder::encode_batch, py::arg("texts"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_batch_array", &NativeEncoder::encode_batch_array, py::arg("texts"),
           py::arg("added"), py::arg("threads") = 0)
      .def("merge", &NativeEncoder::merge, py::arg("pre_token"))
      .def("decode", &NativeEncoder::decode, py::arg("ids"))
      .def("merges", &NativeEncoder::merges);
  module.def("set_task_size", &set_task_size, py::arg("size"));
}

} // namespace pretok
