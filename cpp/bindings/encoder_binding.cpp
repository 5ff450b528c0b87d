#include "encoder_binding.hpp"

#include "convert.hpp"
#include "decode_calls.hpp"
#include "direct_calls.hpp"
#include "id_objects.hpp"
#include "native_machine.hpp"
#include "relay.hpp"
#include "texts.hpp"

#include "batch.hpp"
#include "encoder.hpp"
#include "vocabulary.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
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

[[noreturn]] void raise_refusal(const Refusal &refusal, py::object text_index = py::none()) {
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

// Some neighbouring texts of a batch, and what they became.
struct Block {
  std::size_t first = 0;
  std::size_t last = 0;
  IdBuffer ids;
  std::vector<std::int64_t> ends; // in `ids`, of each text
  Refusal refusal;
  std::size_t refused = 0; // the text with the refusal
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
    if (!data.ids.empty())
      limit_ = *std::max_element(data.ids.begin(), data.ids.end()) + std::size_t{1};
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
    id_objects_.emplace(limit_);
    if (machine_)
      encoder_.emplace(machine_->machine(), vocabulary_, add_prefix_space);
  }
  NativeEncoder(const NativeEncoder &) = delete;
  NativeEncoder &operator=(const NativeEncoder &) = delete;

  py::list encode(const py::object &text, const AddedTokens &added) const {
    const IdBuffer ids = ids_of(TextView(text), added);
    return id_objects_->as_list(ids.data(), ids.size());
  }

  py::array_t<std::uint32_t> encode_array(const py::object &text,
                                          const AddedTokens &added) const {
    return as_array_of_ids(ids_of(TextView(text), added));
  }

  std::size_t count(const py::object &text, const AddedTokens &added) const {
    const TextView view(text);
    std::size_t result = 0;
    run(view, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache) {
      return encoder().count(data, size, added, cache, result);
    });
    return result;
  }

  py::tuple spans(const py::object &text, const AddedTokens &added) const {
    const TextView view(text);
    IdBuffer ids;
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    run(view, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache) {
      return encoder().encode_spans(data, size, added, cache, ids, starts, ends);
    });
    return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(starts)),
                          as_array(std::move(ends)));
  }

  py::list encode_batch(const py::list &texts, const AddedTokens &added,
                        std::optional<unsigned> threads) const {
    return lists_of(Texts(texts), added, threads);
  }

  // The same, or None if one of the texts is not usual.
  py::object encode_usual_batch(const py::list &texts, const AddedTokens &added,
                                std::optional<unsigned> threads, bool only_str,
                                bool only_ascii) const {
    const auto usual = Texts::if_all({only_str, only_ascii}, texts);
    return usual ? lists_of(*usual, added, threads) : py::object(py::none());
  }

  py::tuple encode_batch_array(const py::list &texts, const AddedTokens &added,
                               std::optional<unsigned> threads) const {
    return arrays_of(Texts(texts), added, threads);
  }

  // The same, or None if one of the texts is not usual.
  py::object encode_usual_batch_array(const py::list &texts, const AddedTokens &added,
                                      std::optional<unsigned> threads, bool only_str,
                                      bool only_ascii) const {
    const auto usual = Texts::if_all({only_str, only_ascii}, texts);
    return usual ? arrays_of(*usual, added, threads) : py::object(py::none());
  }

  py::list merge(const py::bytes &pre_token) const {
    const auto *data =
        reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(pre_token.ptr()));
    const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(pre_token.ptr()));
    IdBuffer ids;
    if (size != 0)
      unlocked(size,
               [&] { ids.add(vocabulary_.encode(data, size, data + size, ids.room(size))); });
    return id_objects_->as_list(ids.data(), ids.size());
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

  // See make_direct_calls.
  static py::tuple direct_calls(const py::object &self, const py::object &added,
                                const py::tuple &others, bool only_str, bool only_ascii) {
    const auto &native = py::cast<const NativeEncoder &>(self);
    return make_direct_calls(self, native.encoder(), *native.id_objects_, added, others,
                             only_str, only_ascii);
  }

  // See make_decode_calls.
  static py::tuple decode_calls(const py::object &self,
                                const std::vector<std::uint32_t> &special,
                                const py::tuple &others) {
    const auto &native = py::cast<const NativeEncoder &>(self);
    return make_decode_calls(self, native.vocabulary_, native.limit_, special, others);
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

  // Calls use(data, size, cache) with the text as UTF-8; raises what it refuses.
  template <typename Use> void run(const TextView &view, Use use) const {
    Refusal refusal;
    unlocked(view.size(), [&] {
      const CacheLease cache(encoder().caches());
      Scratch scratch;
      refusal = view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
        return use(data, size, *cache);
      });
    });
    if (refusal.token != nullptr)
      raise_refusal(refusal);
  }

  IdBuffer ids_of(const TextView &view, const AddedTokens &added) const {
    IdBuffer ids;
    run(view, [&](const std::uint8_t *data, std::size_t size, PreTokenCache &cache) {
      ids.reserve(size / 4);
      return encoder().encode(data, size, added, cache, ids);
    });
    return ids;
  }

  py::list lists_of(const Texts &texts, const AddedTokens &added,
                    std::optional<unsigned> asked) const {
    const unsigned threads = texts.threads(asked);
    py::list result(texts.views().size());
    if (texts.total() < WORTH_RELEASING || texts.largest() > texts.total() / threads) {
      // Nothing to share, or a text that is itself to be shared.
      for (Block &block : encode_blocks(texts, added, threads))
        put_lists(block, result);
      track_lists(result);
      return result;
    }
    // What was just made is still in the processor's cache when lists are made of it.
    constexpr std::size_t MOST = 1 << 18;
    std::vector<Block> blocks = make_blocks(
        texts.views(), std::min(texts.total() / (std::size_t{threads} * 8) + 1, MOST));
    // The list is not for others to see before it is full.
    PyObject_GC_UnTrack(result.ptr());
    const auto make = [&](std::size_t i) {
      encode_block(texts.views(), added, blocks[i]);
      return blocks[i].refusal.token == nullptr;
    };
    const auto finish = [&](std::size_t i) {
      if (blocks[i].refusal.token == nullptr)
        put_lists(blocks[i], result);
    };
    Relay(blocks.size(), make, finish).run(threads);
    raise_refusals(blocks);
    track_lists(result);
    PyObject_GC_Track(result.ptr());
    return result;
  }

  // Puts the lists of a block where they belong, and frees its ids. The collector of cycles is
  // not to go through them again and again while there come more: see track_lists.
  void put_lists(Block &block, const py::list &result) const {
    const std::uint32_t *const first = block.ids.data();
    std::int64_t start = 0;
    for (std::size_t i = block.first; i < block.last; ++i) {
      const std::int64_t end = block.ends[i - block.first];
      py::list ids = id_objects_->as_list(first + start, static_cast<std::size_t>(end - start));
      PyObject_GC_UnTrack(ids.ptr());
      PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(i), ids.release().ptr());
      start = end;
    }
    block = Block();
  }

  static void track_lists(const py::list &result) {
    for (const py::handle ids : result)
      PyObject_GC_Track(ids.ptr());
  }

  py::tuple arrays_of(const Texts &texts, const AddedTokens &added,
                      std::optional<unsigned> asked) const {
    std::vector<Block> blocks = encode_blocks(texts, added, texts.threads(asked));
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(texts.views().size() + 1);
    std::size_t total = 0;
    for (const Block &block : blocks) {
      for (const std::int64_t end : block.ends)
        offsets.push_back(static_cast<std::int64_t>(total) + end);
      total += block.ids.size();
    }
    if (blocks.size() == 1)
      return py::make_tuple(as_array_of_ids(std::move(blocks[0].ids)),
                            as_array(std::move(offsets)));
    IdBuffer ids;
    unlocked(total, [&] {
      ids.reserve(total);
      for (Block &block : blocks) {
        std::copy(block.ids.data(), block.ids.data() + block.ids.size(),
                  ids.room(block.ids.size()));
        ids.add(block.ids.size());
        block.ids = IdBuffer();
      }
    });
    return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(offsets)));
  }

  std::vector<Block> encode_blocks(const Texts &texts, const AddedTokens &added,
                                   unsigned threads) const {
    // Several for each thread, so that all end at about the same time; one for one thread.
    std::vector<Block> blocks =
        make_blocks(texts.views(), threads > 1 ? texts.total() / (std::size_t{threads} * 8) + 1
                                               : texts.total() + 1);
    unlocked(texts.total(), [&] {
      std::vector<std::function<void()>> work;
      work.reserve(blocks.size());
      for (Block &block : blocks)
        work.emplace_back(
            [this, &texts, &added, &block] { encode_block(texts.views(), added, block); });
      run_all(work, threads);
    });
    raise_refusals(blocks);
    return blocks;
  }

  static void raise_refusals(const std::vector<Block> &blocks) {
    for (const Block &block : blocks)
      if (block.refusal.token != nullptr)
        raise_refusal(block.refusal, py::int_(block.refused));
  }

  // Returns blocks of at least `wanted` units, but for the last.
  static std::vector<Block> make_blocks(const std::vector<TextView> &views,
                                        std::size_t wanted) {
    std::vector<Block> blocks(1);
    std::size_t size = 0;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (size >= wanted) {
        blocks.emplace_back();
        blocks.back().first = i;
        size = 0;
      }
      size += views[i].size();
      blocks.back().last = i + 1;
    }
    return blocks;
  }

  void encode_block(const std::vector<TextView> &views, const AddedTokens &added,
                    Block &block) const {
    const CacheLease cache(encoder().caches());
    Scratch scratch;
    block.ends.reserve(block.last - block.first);
    for (std::size_t i = block.first; i < block.last; ++i) {
      block.refusal =
          views[i].with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
            return encoder().encode(data, size, added, *cache, block.ids);
          });
      block.ends.push_back(static_cast<std::int64_t>(block.ids.size()));
      if (block.refusal.token != nullptr) {
        block.refused = i;
        return;
      }
    }
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
  std::size_t limit_ = 0; // of ids
  std::optional<Encoder> encoder_;
  mutable std::optional<IdObjects> id_objects_;
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
      .def("encode", &NativeEncoder::encode, py::arg("text"), py::arg("added"))
      .def("encode_array", &NativeEncoder::encode_array, py::arg("text"), py::arg("added"))
      .def("count", &NativeEncoder::count, py::arg("text"), py::arg("added"))
      .def("spans", &NativeEncoder::spans, py::arg("text"), py::arg("added"))
      .def("encode_batch", &NativeEncoder::encode_batch, py::arg("texts"), py::arg("added"),
           py::arg("threads"))
      .def("encode_usual_batch", &NativeEncoder::encode_usual_batch, py::arg("texts"),
           py::arg("added"), py::arg("threads"), py::arg("only_str"), py::arg("only_ascii"))
      .def("encode_batch_array", &NativeEncoder::encode_batch_array, py::arg("texts"),
           py::arg("added"), py::arg("threads"))
      .def("encode_usual_batch_array", &NativeEncoder::encode_usual_batch_array,
           py::arg("texts"), py::arg("added"), py::arg("threads"), py::arg("only_str"),
           py::arg("only_ascii"))
      .def("merge", &NativeEncoder::merge, py::arg("pre_token"))
      .def("decode", &NativeEncoder::decode, py::arg("ids"))
      .def("direct_calls", &NativeEncoder::direct_calls, py::arg("added"), py::arg("others"),
           py::arg("only_str"), py::arg("only_ascii"))
      .def("decode_calls", &NativeEncoder::decode_calls, py::arg("special"), py::arg("others"))
      .def("merges", &NativeEncoder::merges);
}

} // namespace pretok
