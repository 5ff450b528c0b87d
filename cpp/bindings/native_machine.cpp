#include "bindings/native_machine.hpp"

#include "bindings/convert.hpp"
#include "bindings/str_cache.hpp"
#include "core/base/huge_pages.hpp"
#include "core/split/units.hpp"
#include "core/threads/run_all.hpp"

#include <pybind11/stl.h>

#include <array>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace pretok {
namespace {

// An allocator with which vector::resize() leaves new elements uninitialized. Use it for a
// vector whose new elements are overwritten at once.
template <typename T> struct UninitializedAllocator : std::allocator<T> {
  template <typename U> struct rebind {
    using other = UninitializedAllocator<U>;
  };
  UninitializedAllocator() = default;
  template <typename U> UninitializedAllocator(const UninitializedAllocator<U> &) {}
  template <typename U> void construct(U *at) noexcept { ::new (static_cast<void *>(at)) U; }
  template <typename U, typename V> void construct(U *at, V &&value) noexcept {
    ::new (static_cast<void *>(at)) U(std::forward<V>(value));
  }
};

using Bounds = std::vector<std::int64_t, UninitializedAllocator<std::int64_t>>;

// For fewer pre-tokens, a StrCache costs more time than it saves.
constexpr std::size_t MIN_PRE_TOKENS_TO_CACHE = 2000;

// Appends the ends of pre-tokens to `offsets`.
class OffsetsOutput final : public EndOutput {
public:
  explicit OffsetsOutput(Bounds &offsets) : offsets_(offsets) {}

  void add(std::size_t end) override { offsets_.push_back(static_cast<std::int64_t>(end)); }
  // Each bit that is set in `words` is an end. The caller's array `offsets` maps each bit to
  // its distance from `base` (nullptr: one code unit per bit). The result goes to the member
  // offsets_.
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t base,
           const std::uint16_t *offsets) override {
    // C++ allows code to write an int64_t through a pointer to its unsigned type, but not
    // through a pointer to another type of the same size.
    if constexpr (std::is_same_v<std::size_t, std::make_unsigned_t<std::int64_t>>) {
      const std::size_t before = offsets_.size();
      offsets_.resize(before + MAX_ENDS);
      auto *to = reinterpret_cast<std::size_t *>(offsets_.data() + before);
      offsets_.resize(before + use.bits_to_positions(words, count, base, offsets, to));
    } else {
      std::array<std::size_t, MAX_ENDS> ends;
      const std::size_t end_count =
          use.bits_to_positions(words, count, base, offsets, ends.data());
      offsets_.insert(offsets_.end(), ends.begin(), ends.begin() + end_count);
    }
  }
  void flush() override {}

  // The maximum number of ends that one call of add() writes.
  static constexpr std::size_t MAX_ENDS = ClassBuffer::MAX_CODE_POINTS + ClassBuffer::PADDING;

private:
  Bounds &offsets_;
};

// Returns work(source) for a text. Releases the GIL if the text is long.
template <typename Work>
auto with_source(const PreTokenizer &pre_tokenizer, py::handle text, Work work) {
  return TextView(text).with_source(pre_tokenizer.classes(), [&](const auto &source) {
    return unlocked(source.size(), [&] { return work(source); });
  });
}

// Returns a list of make(start, end) for each pair of adjacent `bounds`.
template <typename Make> py::list slices(const Bounds &bounds, Make make) {
  py::list result(bounds.size() - 1);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    PyObject *slice = make(bounds[i], bounds[i + 1]);
    if (slice == nullptr)
      throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(i), slice);
  }
  return result;
}

// Returns the pre-tokens of `text` as a list of strs. `bounds` has their boundaries.
py::list slices_of_str(py::handle text, const Bounds &bounds) {
  if (bounds.size() < MIN_PRE_TOKENS_TO_CACHE)
    return slices(bounds, [text](std::int64_t start, std::int64_t end) {
      return PyUnicode_Substring(text.ptr(), start, end);
    });
  const auto cache = std::make_unique<StrCache>(text.ptr());
  return slices(bounds, [&cache](std::int64_t start, std::int64_t end) {
    return cache->slice(start, end);
  });
}

// Returns a list of make(start, end) for each pre-token. For pre-tokenizers that remove text.
template <typename Make>
py::list kept(const PreTokenizer &pre_tokenizer, py::handle text, Make make) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  with_source(pre_tokenizer, text, [&](const auto &source) {
    pre_tokenizer.spans(source, kernels(), [&](std::size_t start, std::size_t end, int) {
      spans.emplace_back(start, end);
    });
  });
  py::list result;
  for (const auto &[start, end] : spans)
    result.append(owned(make(start, end)));
  return result;
}

std::vector<StageProgram> read(const std::vector<std::uint32_t> &words) {
  std::vector<StageProgram> stages;
  const std::string error = read_stages(words.data(), words.size(), stages);
  if (!error.empty())
    throw py::value_error(error);
  return stages;
}

UnicodeTable table(const std::string &version) {
  const UnicodeTable table = unicode_table(version);
  if (table.size == 0)
    throw py::value_error("no table of Unicode " + version + " is built in");
  return table;
}

OffsetUnit unit_of(const std::string &name) {
  if (name == "char")
    return OffsetUnit::CHAR;
  if (name == "byte")
    return OffsetUnit::BYTE;
  if (name == "utf16")
    return OffsetUnit::UTF16;
  throw py::value_error("unknown unit " + name + "; expected char, byte or utf16");
}

// Returns 0 and the end of each pre-token. For pre-tokenizers that remove no text.
template <typename Source>
Bounds boundaries_of(const PreTokenizer &pre_tokenizer, const Source &source) {
  Bounds bounds;
  // Reserve room for one boundary per 3 characters, so that the vector rarely grows: source
  // code has about one pre-token per 3.5 characters, and other text has fewer pre-tokens.
  bounds.reserve(source.size() / 3 + OffsetsOutput::MAX_ENDS);
  prefer_huge_pages(bounds.data(), bounds.capacity() * sizeof bounds[0]);
  bounds.push_back(0);
  if (pre_tokenizer.has_fast_path()) {
    OffsetsOutput output(bounds);
    pre_tokenizer.split(source, kernels(), output);
  } else {
    pre_tokenizer.spans(source, kernels(), [&bounds](std::size_t, std::size_t end, int) {
      bounds.push_back(static_cast<std::int64_t>(end));
    });
  }
  return bounds;
}

Bounds boundaries(const PreTokenizer &pre_tokenizer, py::handle text) {
  return with_source(pre_tokenizer, text,
                     [&](const auto &source) { return boundaries_of(pre_tokenizer, source); });
}

} // namespace

NativeMachine::NativeMachine(const std::vector<std::uint32_t> &words,
                             const std::string &version)
    : pre_tokenizer_(read(words), table(version)) {}

const Machine &NativeMachine::only() const {
  if (pre_tokenizer_.only() == nullptr)
    throw py::value_error("expected a pre-tokenizer with one stage that removes no text");
  return *pre_tokenizer_.only();
}

py::list NativeMachine::split(const py::str &text) const {
  if (pre_tokenizer_.removes())
    return kept(pre_tokenizer_, text, [&text](std::int64_t start, std::int64_t end) {
      return PyUnicode_Substring(text.ptr(), start, end);
    });
  return slices_of_str(text, boundaries(pre_tokenizer_, text));
}

py::list NativeMachine::split_bytes(const py::bytes &data) const {
  const char *first = PyBytes_AS_STRING(data.ptr());
  const auto make = [first](std::int64_t start, std::int64_t end) {
    return PyBytes_FromStringAndSize(first + start, end - start);
  };
  return pre_tokenizer_.removes() ? kept(pre_tokenizer_, data, make)
                                  : slices(boundaries(pre_tokenizer_, data), make);
}

py::array_t<std::int64_t> NativeMachine::offsets(py::handle text,
                                                 const std::string &unit) const {
  Bounds bounds = boundaries(pre_tokenizer_, text);
  with_source(pre_tokenizer_, text,
              [&](const auto &source) { convert(source, bounds, unit_of(unit)); });
  return as_array(std::move(bounds));
}

std::size_t NativeMachine::count(py::handle text) const {
  return with_source(pre_tokenizer_, text,
                     [&](const auto &source) { return pretok::count(pre_tokenizer_, source); });
}

py::tuple NativeMachine::steps(const py::str &text) const {
  Bounds starts;
  Bounds ends;
  std::vector<std::int32_t> rules;
  with_source(pre_tokenizer_, text, [&](const auto &source) {
    pre_tokenizer_.steps(source, [&](std::size_t start, std::size_t end, int rule) {
      starts.push_back(static_cast<std::int64_t>(start));
      ends.push_back(static_cast<std::int64_t>(end));
      rules.push_back(rule);
    });
  });
  return py::make_tuple(as_array(std::move(starts)), as_array(std::move(ends)),
                        as_array(std::move(rules)));
}

py::tuple NativeMachine::advance(const py::str &chars, bool partial, bool in_gap,
                                 int rule) const {
  std::vector<std::size_t> ends;
  std::vector<int> rules;
  if (rule < GAP || rule >= only().rule_count())
    throw py::value_error("expected -1 or the index of a rule, below " +
                          std::to_string(only().rule_count()) + "; got " +
                          std::to_string(rule));
  const auto add = [&](std::size_t end, int made_by) {
    ends.push_back(end);
    rules.push_back(made_by);
  };
  const Undecided undecided = with_source(pre_tokenizer_, chars, [&](const auto &source) {
    return rule == GAP ? only().run(source, partial, in_gap, add)
                       : only().run_from(rule, source, partial, in_gap, add);
  });
  return py::make_tuple(ends, rules, undecided.position, undecided.in_gap, undecided.rule,
                        undecided.restart, undecided.min_more, undecided.classes);
}

std::size_t NativeMachine::run_length(const py::str &chars, Mask mask) const {
  return TextView(chars).with_source(pre_tokenizer_.classes(), [&](const auto &source) {
    return only().run_length(source, mask);
  });
}

py::list NativeMachine::split_batch(const py::list &texts, unsigned threads) const {
  for (const py::handle text : texts)
    if (!py::isinstance<py::str>(text))
      throw py::type_error("expected a list of str");
  if (pre_tokenizer_.removes()) {
    py::list result;
    for (const py::handle text : py::tuple(texts))
      result.append(split(py::reinterpret_borrow<py::str>(text)));
    return result;
  }
  // The tuple keeps each text alive even if the caller changes the list.
  const py::tuple owners(texts);
  std::vector<Bounds> bounds(owners.size());
  std::vector<std::function<void()>> work;
  work.reserve(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i)
    TextView(owners[i]).with_source(pre_tokenizer_.classes(), [&](const auto &source) {
      work.emplace_back(
          [this, source, &out = bounds[i]] { out = boundaries_of(pre_tokenizer_, source); });
    });
  {
    const py::gil_scoped_release released;
    run_all(work, threads);
  }
  py::list result(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i)
    result[i] = slices_of_str(owners[i], bounds[i]);
  return result;
}

} // namespace pretok
