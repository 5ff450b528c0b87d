// The Python bindings for training: count pre-tokens, learn merges, and split long texts.
#include "bindings/bind.hpp"
#include "bindings/interrupt_check.hpp"
#include "bindings/native_machine.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/word_runs.hpp"
#include "core/base/ids.hpp"
#include "core/corpus/json_lines.hpp"
#include "core/split/safe_cut.hpp"
#include "core/train/trainer.hpp"
#include "core/train/word_counts.hpp"
#include "core/unicode/utf8_check.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pretok {
namespace {

// Returns a view of a bytes object.
ByteView view(py::handle bytes) {
  PyObject *object = bytes.ptr();
  if (!PyBytes_Check(object))
    throw py::type_error("expected bytes");
  return {reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(object)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
}

class NativeWordCounts {
public:
  // Counts the pre-tokens of `texts`. `texts` is a tuple, because another thread could remove
  // texts from a list while the GIL is released.
  void add(const NativeMachine &machine, const py::tuple &texts, unsigned threads) {
    std::vector<TextView> views;
    views.reserve(texts.size());
    for (const py::handle text : texts)
      views.emplace_back(text);
    threads_ = std::max(threads_, threads);
    const py::gil_scoped_release released;
    counts_.add(machine.pre_tokenizer(), views, threads, InterruptCheck());
  }

  // Adds the count of each word in `words`.
  void add_words(const py::dict &words) {
    for (const auto &[word, count] : words)
      counts_.add_word(view(word), cast_argument<std::int64_t>(count, "a count of 64 bits"));
  }

  // Returns a list of (word, count), and resets the counts.
  py::list take() {
    WordTable table = take_table();
    py::list result;
    for (const Word &word : table.finish())
      result.append(py::make_tuple(
          py::bytes(reinterpret_cast<const char *>(word.data), word.size), word.count));
    return result;
  }

  // Returns the size of the longest word, in bytes.
  std::size_t longest() const { return counts_.longest(); }

  // Returns the estimated size of all words, in bytes.
  std::size_t size() const { return counts_.size(); }
  // Writes a sorted run (bpe/training/runs.py), passing each block to `write`, and resets the
  // counts. Returns (words, bytes, total) of RunSize.
  py::tuple spill(const py::function &write) {
    const BlockSink sink(write);
    const py::gil_scoped_release released;
    const RunSize size = counts_.spill(sink, InterruptCheck());
    return run_size(size);
  }

  std::size_t memory() const { return counts_.memory(); }

  // Like `take`, for C++.
  WordTable take_table() { return counts_.take(threads_); }

private:
  WordCounts counts_;
  unsigned threads_ = 1; // the largest `threads` of the calls of add()
};

// Returns memory from a Python object: block(size) gives a writable buffer that stays, and the
// truth of trim(have_moved) is the result of TrainerMemory::trim. None stands for ordinary
// memory.
TrainerMemory memory_of(const py::object &source) {
  constexpr static std::size_t BLOCK = std::size_t{1} << 26;
  constexpr static std::size_t ALIGNMENT = 64;
  if (source.is_none())
    return {};
  if (!py::hasattr(source, "block") || !py::hasattr(source, "trim"))
    throw py::type_error("expected None, or an object with the methods block and trim");
  struct State {
    py::object source;
    std::vector<py::buffer_info> blocks;
    std::uint8_t *next = nullptr; // in the last block
    std::size_t left = 0;
  };
  const std::shared_ptr<State> state(new State{source, {}}, [](State *old) {
    const py::gil_scoped_acquire acquired;
    delete old;
  });
  TrainerMemory memory;
  memory.allocate = [state](std::size_t size) -> void * {
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > state->left) {
      const py::gil_scoped_acquire acquired;
      const std::size_t block_size = std::max(size, BLOCK);
      const py::buffer block = state->source.attr("block")(block_size);
      py::buffer_info view = block.request(/*writable=*/true);
      if (view.itemsize != 1 || view.ndim != 1 ||
          static_cast<std::size_t>(view.size) < block_size)
        throw py::value_error("expected a block of bytes of the size asked for");
      state->next = static_cast<std::uint8_t *>(view.ptr);
      state->left = block_size;
      state->blocks.push_back(std::move(view));
    }
    state->left -= size;
    return std::exchange(state->next, state->next + size);
  };
  memory.free = [](void *freed, std::size_t size) {
    static_cast<void>(freed);
    static_cast<void>(size);
#if defined(__linux__)
    // Frees the disk space of whole pages. A file system that cannot do so keeps them.
    constexpr std::uintptr_t PAGE = 4096;
    const std::uintptr_t start = (reinterpret_cast<std::uintptr_t>(freed) + PAGE - 1) / PAGE;
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(freed) + size) / PAGE;
    if (end > start)
      madvise(reinterpret_cast<void *>(start * PAGE), (end - start) * PAGE, MADV_REMOVE);
#endif
  };
  memory.trim = [state](bool have_moved) -> bool {
    const py::gil_scoped_acquire acquired;
    return static_cast<bool>(py::bool_(state->source.attr("trim")(have_moved)));
  };
  return memory;
}

class NativeTokenRows {
public:
  // `memory` is that of memory_of.
  NativeTokenRows(bool are_distinct, const py::object &memory)
      : rows_(are_distinct, memory_of(memory)) {}

  // Adds rows. `symbols` has the symbols of all rows. Row i has sizes[i] symbols, and occurs
  // counts[i] times.
  void add(const Array<std::uint32_t> &symbols, const Array<std::uint32_t> &sizes,
           const Array<std::int64_t> &counts) {
    const std::vector<std::uint32_t> all = as_vector(symbols);
    const std::vector<std::uint32_t> row_sizes = as_vector(sizes);
    const std::vector<std::int64_t> row_counts = as_vector(counts);
    const std::uint64_t size =
        std::accumulate(row_sizes.begin(), row_sizes.end(), std::uint64_t{0});
    const auto limit = [](std::uint32_t symbol) { return symbol < ID_LIMIT; };
    if (size != all.size() || row_counts.size() != row_sizes.size() ||
        !std::all_of(all.begin(), all.end(), limit))
      throw py::value_error("expected symbols below 16777216, a size and a count for each row, "
                            "and sizes that sum to the number of symbols");
    const py::gil_scoped_release released;
    const std::uint32_t *next = all.data();
    for (std::size_t i = 0; i < row_sizes.size(); next += row_sizes[i++])
      rows_.add(next, row_sizes[i], row_counts[i]);
    rows_.trim();
    for (const std::uint32_t symbol : all)
      symbol_limit_ = std::max(symbol_limit_, symbol + 1);
  }

  TokenRows &rows() { return rows_; }
  // Returns a number above all symbols.
  std::uint32_t symbol_limit() const { return symbol_limit_; }

private:
  TokenRows rows_;
  std::uint32_t symbol_limit_ = 0;
};

class NativeTrainer {
public:
  NativeTrainer(NativeWordCounts &counts, const std::string &tie_break,
                std::int64_t min_frequency, std::optional<std::uint64_t> max_token_length)
      : trainer_(make(counts,
                      {tie_break_of(tie_break), min_frequency,
                       max_token_length.value_or(std::numeric_limits<std::uint64_t>::max())})) {
  }

  explicit NativeTrainer(Trainer trainer) : trainer_(std::move(trainer)) {}

  // Trains on the words of a run, with the tie-break huggingface. `memory` is that of
  // memory_of.
  static NativeTrainer of_run(const py::iterable &blocks, std::int64_t min_frequency,
                              std::optional<std::uint64_t> max_token_length,
                              const py::object &memory) {
    RunReader reader{BlockSource(py::iter(blocks))};
    const TrainerOptions options{
        TieBreak::HUGGINGFACE, min_frequency,
        max_token_length.value_or(std::numeric_limits<std::uint64_t>::max())};
    TrainerMemory lists = memory_of(memory);
    const py::gil_scoped_release released;
    return NativeTrainer(Trainer(reader, options, std::move(lists), InterruptCheck()));
  }

  // Trains on words that consist of tokens of a vocabulary, and empties `rows`. Token i has
  // lengths[i] of the `units`, which are bytes or characters. `memory` is that of memory_of.
  static NativeTrainer of_tokens(const Array<std::uint32_t> &units,
                                 const Array<std::uint32_t> &lengths, NativeTokenRows &rows,
                                 const std::string &tie_break, std::int64_t min_frequency,
                                 std::optional<std::uint64_t> max_token_length,
                                 bool joins_known, std::optional<std::uint32_t> max_words,
                                 const py::object &memory) {
    const TokenAlphabet alphabet{as_vector(units), as_vector(lengths)};
    if (alphabet.lengths.size() > ID_LIMIT ||
        std::accumulate(alphabet.lengths.begin(), alphabet.lengths.end(), std::uint64_t{0}) !=
            alphabet.units.size() ||
        std::count(alphabet.lengths.begin(), alphabet.lengths.end(), 0U) != 0)
      throw py::value_error(
          "expected at most 16777216 tokens of at least one unit, and lengths "
          "that sum to the number of units");
    if (rows.symbol_limit() > alphabet.lengths.size())
      throw py::value_error("expected rows of symbols below the number of tokens");
    const TrainerOptions options{
        tie_break_of(tie_break), min_frequency,
        max_token_length.value_or(std::numeric_limits<std::uint64_t>::max()), joins_known,
        max_words.value_or(std::numeric_limits<std::uint32_t>::max())};
    if (joins_known && options.tie_break == TieBreak::FIRST_SEEN)
      throw py::value_error("joins_known needs the tie-break huggingface");
    TrainerMemory lists = memory_of(memory);
    const py::gil_scoped_release released;
    return NativeTrainer(
        Trainer(alphabet, rows.rows(), options, std::move(lists), InterruptCheck()));
  }

  // Merges until `tokens` tokens are learned. Returns false if no pair is left before that.
  bool step(std::size_t tokens) {
    const py::gil_scoped_release released;
    return trainer_.step(tokens, InterruptCheck());
  }

  std::size_t tokens() const { return trainer_.tokens(); }

  py::array_t<std::uint32_t> merges() const { return rows(trainer_.merges()); }
  py::array_t<std::uint32_t> first_merges() const { return rows(trainer_.first_merges()); }

private:
  // Returns an array with one row (left, right, result) for each merge.
  static py::array_t<std::uint32_t> rows(const std::vector<Trainer::Merge> &merges) {
    static_assert(sizeof(Trainer::Merge) == 3 * sizeof(std::uint32_t));
    return py::array_t<std::uint32_t>({static_cast<py::ssize_t>(merges.size()), py::ssize_t{3}},
                                      reinterpret_cast<const std::uint32_t *>(merges.data()));
  }

  static Trainer make(NativeWordCounts &counts, const TrainerOptions &options) {
    const py::gil_scoped_release released;
    WordTable table = counts.take_table();
    return Trainer(table.finish(), options, InterruptCheck());
  }

  static TieBreak tie_break_of(const std::string &name) {
    if (name == "huggingface")
      return TieBreak::HUGGINGFACE;
    if (name == "first-seen")
      return TieBreak::FIRST_SEEN;
    throw py::value_error("unknown tie-break " + name + "; expected huggingface or first-seen");
  }

  Trainer trainer_;
};

// The C++ version of bpe.training.corpus.collect_batch. Takes texts from `iterator` until the
// sum of their sizes is `enough` or more. Returns the texts, a list with the item that ended
// the batch because it is not a text (or []), and whether the iterator is exhausted. The size
// of a text is its length plus `per_text`. Calls check(text) for each str whose last character
// is one of the ASCII characters `checked_endings` (the argument `last` in Python).
py::tuple gather_texts(const py::object &iterator, std::size_t enough, std::size_t per_text,
                       const std::string &checked_endings, const py::function &check) {
  if (PyIter_Check(iterator.ptr()) == 0)
    throw py::type_error("expected an iterator");
  py::list texts;
  std::size_t total = 0;
  while (total < enough) {
    const auto item = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()));
    if (!item) {
      if (PyErr_Occurred() != nullptr)
        throw py::error_already_set();
      return py::make_tuple(std::move(texts), py::list(), true);
    }
    const bool is_str = PyUnicode_Check(item.ptr()) != 0;
    if (!is_str && !PyBytes_Check(item.ptr())) {
      py::list other_items;
      other_items.append(item);
      return py::make_tuple(std::move(texts), std::move(other_items), false);
    }
    const auto size = static_cast<std::size_t>(PyObject_Length(item.ptr()));
    if (is_str && size != 0) {
      const Py_UCS4 end = PyUnicode_ReadChar(item.ptr(), static_cast<py::ssize_t>(size) - 1);
      if (end < 0x80 && checked_endings.find(static_cast<char>(end)) != std::string::npos)
        check(item);
    }
    total += size + per_text;
    texts.append(item);
  }
  return py::make_tuple(std::move(texts), py::list(), false);
}

// Reads the text of the member `field` from each line of `data`. Each line is a JSON object.
// Returns three arrays: the bytes of all n texts, their n + 1 offsets, and n bytes `is_known`.
// If is_known[i] is 0, another JSON parser must read line i, because the line is invalid, or
// parsers may read it differently.
py::tuple json_texts_of(const py::bytes &data, const py::bytes &field) {
  const ByteView lines = view(data);
  const ByteView name = view(field);
  std::vector<std::uint8_t> text;
  std::vector<std::int64_t> offsets;
  std::vector<std::uint8_t> is_known;
  {
    const py::gil_scoped_release released;
    std::vector<JsonText> texts;
    json_texts(lines.data, lines.size,
               std::string_view(reinterpret_cast<const char *>(name.data), name.size), text,
               texts);
    offsets.reserve(texts.size() + 1);
    is_known.reserve(texts.size());
    for (const JsonText &found : texts) {
      offsets.push_back(static_cast<std::int64_t>(found.start));
      is_known.push_back(found.is_known ? 1 : 0);
    }
    offsets.push_back(static_cast<std::int64_t>(text.size()));
  }
  return py::make_tuple(as_array(std::move(text)), as_array(std::move(offsets)),
                        as_array(std::move(is_known)));
}

// Returns the state after `data`, which is `state` before (core/unicode/utf8_check.hpp).
int check_utf8_of(const py::bytes &data, int state) {
  // All states are multiples of MALFORMED.
  if (state < 0 || state > static_cast<int>(Utf8State::LAST) ||
      state % static_cast<int>(Utf8State::MALFORMED) != 0)
    throw py::value_error("expected a state that check_utf8 returned");
  const ByteView bytes = view(data);
  const py::gil_scoped_release released;
  return static_cast<int>(check_utf8(bytes.data, bytes.size, static_cast<Utf8State>(state)));
}

// Returns safe_cut(...) of core/split/safe_cut.hpp for a text in UTF-8.
std::size_t safe_cut_of(const NativeMachine &machine, const py::bytes &text) {
  const ByteView bytes = view(text);
  const py::gil_scoped_release released;
  return safe_cut(machine.pre_tokenizer(), bytes.data, bytes.size);
}

} // namespace

void bind_training(py::module_ &module) {
  py::class_<NativeWordCounts>(module, "WordCounts")
      .def(py::init<>())
      .def("add", &NativeWordCounts::add, py::arg("machine"), py::arg("texts"),
           py::arg("threads"))
      .def("add_words", &NativeWordCounts::add_words, py::arg("words"))
      .def_property_readonly("longest", on_self(&NativeWordCounts::longest))
      .def_property_readonly("size", on_self(&NativeWordCounts::size))
      .def_property_readonly("memory", on_self(&NativeWordCounts::memory))
      .def("spill", &NativeWordCounts::spill, py::arg("write"))
      .def("take", on_self(&NativeWordCounts::take));
  py::class_<NativeTokenRows>(module, "TokenRows")
      .def(py::init<bool, const py::object &>(), py::arg("are_distinct"), py::arg("memory"))
      .def("add", &NativeTokenRows::add, py::arg("symbols"), py::arg("sizes"),
           py::arg("counts"));
  py::class_<NativeTrainer>(module, "Trainer")
      .def(py::init<NativeWordCounts &, const std::string &, std::int64_t,
                    std::optional<std::uint64_t>>(),
           py::arg("counts"), py::arg("tie_break"), py::arg("min_frequency"),
           py::arg("max_token_length"))
      .def_static("of_tokens", &NativeTrainer::of_tokens, py::arg("units"), py::arg("lengths"),
                  py::arg("rows"), py::arg("tie_break"), py::arg("min_frequency"),
                  py::arg("max_token_length"), py::arg("joins_known"), py::arg("max_words"),
                  py::arg("memory"))
      .def_static("of_run", &NativeTrainer::of_run, py::arg("blocks"), py::arg("min_frequency"),
                  py::arg("max_token_length"), py::arg("memory"))
      .def("step", &NativeTrainer::step, py::arg("tokens"))
      .def_property_readonly("tokens", on_self(&NativeTrainer::tokens))
      .def("merges", on_self(&NativeTrainer::merges))
      .def("first_merges", on_self(&NativeTrainer::first_merges));
  bind_word_runs(module);
  module.def("gather", &gather_texts, py::arg("iterator"), py::arg("enough"),
             py::arg("per_text"), py::arg("last"), py::arg("check"));
  module.def("check_utf8", &check_utf8_of, py::arg("data"), py::arg("state"));
  module.def("json_texts", &json_texts_of, py::arg("data"), py::arg("field"));
  module.def("safe_cut", &safe_cut_of, py::arg("machine"), py::arg("text"));
}

} // namespace pretok
