// Splitting with the fast path: the same boundaries as Machine::run, without the rules' names.
#pragma once

#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/split/fast/boundaries.hpp"
#include "core/split/fast/stretch.hpp"
#include "core/split/machine.hpp"
#include "core/split/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

inline void read(const Kernels &use, const Utf8 &text, std::size_t at, Stretch &stretch) {
  use.read_utf8(text.classes(), text.data() + at, text.size() - at, stretch);
}
inline void read(const Kernels &use, const CodePoints<std::uint8_t> &text, std::size_t at,
                 Stretch &stretch) {
  use.read_8(text.classes(), text.data() + at, text.size() - at, stretch);
}
inline void read(const Kernels &use, const CodePoints<std::uint16_t> &text, std::size_t at,
                 Stretch &stretch) {
  use.read_16(text.classes(), text.data() + at, text.size() - at, stretch);
}
inline void read(const Kernels &use, const CodePoints<std::uint32_t> &text, std::size_t at,
                 Stretch &stretch) {
  use.read_32(text.classes(), text.data() + at, text.size() - at, stretch);
}

// Where splitting goes: to a sink, as the positions of ends, some hundred at a time.
template <typename Sink> class Ends {
public:
  explicit Ends(Sink &sink) : sink_(sink) {}

  void add(std::size_t end) {
    if (count_ == ends_.size())
      flush();
    ends_[count_++] = end;
  }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t base,
           const std::uint16_t *offsets) {
    flush();
    count_ = use.list(words, count, base, offsets, ends_.data());
    flush();
  }
  void flush() {
    if (count_ != 0)
      sink_(static_cast<const std::size_t *>(ends_.data()), count_);
    count_ = 0;
  }

private:
  Sink &sink_;
  std::size_t count_ = 0;
  std::array<std::size_t, Stretch::MAX_CODE_POINTS + Stretch::PADDING> ends_;
};

// The same for who wants their number only.
class Counted {
public:
  void add(std::size_t) { ++total_; }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t,
           const std::uint16_t *) {
    total_ += use.count(words, count);
  }
  void flush() {}
  std::size_t total() const { return total_; }

private:
  std::size_t total_ = 0;
};

template <typename Source, typename Output> class Splitter {
public:
  Splitter(const Machine &machine, const Source &source, const Kernels &use, Output &output)
      : machine_(machine), use_(use), text_(source, false), boundaries_(machine.cuts()),
        output_(output) {}

  void split() {
    const std::size_t size = text_.size();
    std::uint8_t last = END;
    for (std::size_t at = 0; at < size; at += stretch_.units) {
      read(use_, text_.source, at, stretch_);
      stretch_.classes()[-1] = last;
      use_.relate(machine_.cuts().relations(), stretch_.classes(), stretch_.blocks(), masks_);
      last = stretch_.classes()[stretch_.count - 1];
      boundaries_.resolve(use_, masks_, stretch_.count);
      if (at == 0) { // no end of a pre-token
        boundaries_.cuts[0] &= ~std::uint64_t{1};
        boundaries_.all[0] &= ~std::uint64_t{1};
      }
      if (!ask(at))
        return;
      finish(at);
    }
    // How the end of the text is split may depend on its being the end.
    if (asking_ || machine_.end_matters(last))
      run_to_end(begin_);
    else if (size != 0)
      output_.add(size);
    output_.flush();
  }

private:
  // Has the machine split what is asked, as far as it ends in the stretch that starts at `at`.
  // Returns false if the machine has split the rest of the text as well.
  bool ask(std::size_t at) {
    std::size_t bit = 0; // of the stretch: what is before is done
    for (;;) {
      std::size_t begin = begin_;
      if (!asking_) {
        bit = next_in(boundaries_.asks, bit);
        if (bit == stretch_.count)
          return true;
        begin = last_cut_before(bit, at);
      }
      const std::size_t end = next_in(boundaries_.cuts, bit);
      clear(bit, end);
      if (end == stretch_.count) {
        begin_ = begin;
        asking_ = true;
        return true;
      }
      asking_ = false;
      const std::size_t stop = at + stretch_.offset(end);
      const std::size_t beyond = run(begin, stop, at, bit);
      if (beyond != 0) {
        split_rest(at, end, beyond);
        return false;
      }
      begin_ = stop;
      bit = end + 1;
    }
  }

  // Splits by the rules alone from `position` on. A pre-token ends there that holds the CUT
  // `end` of this stretch, so the relations are wrong. That is a defect of CutTable; it must
  // not become a write out of bounds.
  void split_rest(std::size_t at, std::size_t end, std::size_t position) {
    clear(end, stretch_.count);
    output_.add(use_, boundaries_.all.data(), stretch_.blocks(), at,
                stretch_.even ? nullptr : stretch_.offsets());
    output_.add(position);
    run_to_end(position);
    output_.flush();
  }

  // The first bit from `bit` on that is set in `words`.
  std::size_t next_in(const BitWords &words, std::size_t bit) const {
    if (bit >= stretch_.count)
      return stretch_.count;
    std::size_t block = bit / 64;
    std::uint64_t word = words[block] & ~std::uint64_t{0} << bit % 64;
    while (word == 0) {
      if (++block == stretch_.blocks())
        return stretch_.count;
      word = words[block];
    }
    return block * 64 + lowest_bit(word);
  }

  std::size_t last_cut_before(std::size_t bit, std::size_t at) const {
    std::size_t block = bit / 64;
    std::uint64_t word = boundaries_.all[block] & ((std::uint64_t{1} << bit % 64) - 1);
    while (word == 0) {
      if (block == 0)
        return begin_;
      word = boundaries_.all[--block];
    }
    return at + stretch_.offset(block * 64 + highest_bit(word));
  }

  // Takes the boundaries from `first` to `end` away.
  void clear(std::size_t first, std::size_t end) {
    for (std::size_t block = first / 64; block * 64 < end; ++block) {
      std::uint64_t kept = 0;
      if (block == first / 64)
        kept |= (std::uint64_t{1} << first % 64) - 1;
      if (end - block * 64 < 64)
        kept |= ~std::uint64_t{0} << (end - block * 64);
      boundaries_.all[block] &= kept;
    }
  }

  void finish(std::size_t at) {
    const std::size_t blocks = stretch_.blocks();
    if (!asking_)
      begin_ = last_cut_before_end(at);
    output_.add(use_, boundaries_.all.data(), blocks, at,
                stretch_.even ? nullptr : stretch_.offsets());
  }

  std::size_t last_cut_before_end(std::size_t at) const {
    for (std::size_t block = stretch_.blocks(); block-- != 0;)
      if (boundaries_.all[block] != 0)
        return at + stretch_.offset(block * 64 + highest_bit(boundaries_.all[block]));
    return begin_;
  }

  void run_to_end(std::size_t from) { run(from, text_.size(), text_.size() + 1, 0); }

  // Has the machine split from `from` up to `to`. Puts out what ends before `at`, where the
  // stretch starts, and makes boundaries of what ends in the stretch, from its code point `bit`
  // on. Returns the end of a pre-token that ends beyond `to`, or 0.
  std::size_t run(std::size_t from, std::size_t to, std::size_t at, std::size_t bit) {
    std::size_t beyond = 0;
    const auto emit = [&](std::size_t end, int) {
      if (end < at) {
        output_.add(end);
        return;
      }
      if (end > to) {
        beyond = end;
        return;
      }
      while (at + stretch_.offset(bit) < end)
        ++bit; // up to that of `to` at most
      boundaries_.all[bit / 64] |= std::uint64_t{1} << bit % 64;
    };
    machine_.run(text_, from, to, false, emit);
    return beyond;
  }

  const Machine &machine_;
  const Kernels &use_;
  Text<Source> text_;
  Stretch stretch_;
  Masks masks_;
  Boundaries boundaries_;
  Output &output_;
  std::size_t begin_ = 0; // of the pre-tokens that are not put out yet
  bool asking_ = false;   // whether they are for the machine to split
};

// Calls sink(ends, count), ends being a pointer to std::size_t, with the positions of the ends
// of all pre-tokens of `source`, in order, some at a time: Stretch::MAX_CODE_POINTS at most.
template <typename Source, typename Sink>
void split(const Machine &machine, const Source &source, Sink sink,
           const Kernels &use = kernels()) {
  Ends<Sink> ends(sink);
  Splitter<Source, Ends<Sink>>(machine, source, use, ends).split();
}

// How many pre-tokens `source` has.
template <typename Source>
std::size_t count(const Machine &machine, const Source &source,
                  const Kernels &use = kernels()) {
  Counted counted;
  Splitter<Source, Counted>(machine, source, use, counted).split();
  return counted.total();
}

} // namespace pretok
