// The fast path of splitting: the boundaries of Machine::run, without the rules of pre-tokens.
#pragma once

#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/split/fast/boundaries.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/machine.hpp"
#include "core/split/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

inline void read(const Kernels &use, const Utf8 &text, std::size_t at, ClassBuffer &buffer) {
  use.read_utf8(text.classes(), text.data() + at, text.size() - at, buffer);
}
inline void read(const Kernels &use, const CodePoints<std::uint8_t> &text, std::size_t at,
                 ClassBuffer &buffer) {
  use.read_8(text.classes(), text.data() + at, text.size() - at, buffer);
}
inline void read(const Kernels &use, const CodePoints<std::uint16_t> &text, std::size_t at,
                 ClassBuffer &buffer) {
  use.read_16(text.classes(), text.data() + at, text.size() - at, buffer);
}
inline void read(const Kernels &use, const CodePoints<std::uint32_t> &text, std::size_t at,
                 ClassBuffer &buffer) {
  use.read_32(text.classes(), text.data() + at, text.size() - at, buffer);
}

// Passes the ends of pre-tokens to a sink, a buffer at a time.
template <typename Sink> class EndBuffer {
public:
  explicit EndBuffer(Sink &sink) : sink_(sink) {}

  void add(std::size_t end) {
    if (count_ == ends_.size())
      flush();
    ends_[count_++] = end;
  }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t base,
           const std::uint16_t *offsets) {
    flush();
    count_ = use.bits_to_positions(words, count, base, offsets, ends_.data());
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
  std::array<std::size_t, ClassBuffer::MAX_CODE_POINTS + ClassBuffer::PADDING> ends_;
};

// Counts pre-tokens without storing their ends.
class EndCounter {
public:
  void add(std::size_t) { ++total_; }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t,
           const std::uint16_t *) {
    total_ += use.count_bits(words, count);
  }
  void flush() {}
  std::size_t total() const { return total_; }

private:
  std::size_t total_ = 0;
};

template <typename Source, typename Output> class Splitter {
public:
  Splitter(const Machine &machine, const Source &source, const Kernels &use, Output &output)
      : machine_(machine), use_(use), text_(source, false), boundaries_(machine.neighbors()),
        output_(output) {}

  void split() {
    const std::size_t size = text_.size();
    std::uint8_t last = END;
    for (std::size_t at = 0; at < size; at += buffer_.units) {
      read(use_, text_.source, at, buffer_);
      buffer_.classes()[-1] = last;
      use_.classify_pairs(machine_.neighbors().relations(), buffer_.classes(), buffer_.blocks(),
                          relation_bits_);
      last = buffer_.classes()[buffer_.count - 1];
      boundaries_.resolve(use_, relation_bits_, buffer_.count);
      if (at == 0) { // the start of the text ends no pre-token
        boundaries_.certain[0] &= ~std::uint64_t{1};
        boundaries_.all[0] &= ~std::uint64_t{1};
      }
      if (!resolve_by_rules(at))
        return;
      finish(at);
    }
    // The last pre-token may depend on the end of the text.
    if (is_undecided_ || machine_.end_matters(last))
      run_to_end(begin_);
    else if (size != 0)
      output_.add(size);
    output_.flush();
  }

private:
  // Runs the machine between the boundaries around unresolved pairs, if they end in the buffer,
  // which starts at `at`. Returns false if the machine has split the rest of the text.
  bool resolve_by_rules(std::size_t at) {
    std::size_t bit = 0; // all pairs before it are resolved
    for (;;) {
      std::size_t begin = begin_;
      if (!is_undecided_) {
        bit = next_in(boundaries_.unresolved, bit);
        if (bit == buffer_.count)
          return true;
        begin = last_boundary_before(bit, at);
      }
      const std::size_t end = next_in(boundaries_.certain, bit);
      clear(bit, end);
      if (end == buffer_.count) {
        begin_ = begin;
        is_undecided_ = true;
        return true;
      }
      is_undecided_ = false;
      const std::size_t stop = at + buffer_.offset(end);
      const std::size_t beyond = run(begin, stop, at, bit);
      if (beyond != 0) {
        split_rest(at, end, beyond);
        return false;
      }
      begin_ = stop;
      bit = end + 1;
    }
  }

  // Splits by the rules alone from `position` on: the end of a pre-token that holds the
  // BOUNDARY `end` of this buffer. Only a defect of NeighborTable can cause this. It must not
  // become a write out of bounds.
  void split_rest(std::size_t at, std::size_t end, std::size_t position) {
    clear(end, buffer_.count);
    output_.add(use_, boundaries_.all.data(), buffer_.blocks(), at,
                buffer_.one_unit_each ? nullptr : buffer_.offsets());
    output_.add(position);
    run_to_end(position);
    output_.flush();
  }

  // Returns the position of the first one bit in `words` from `bit` on.
  std::size_t next_in(const BitWords &words, std::size_t bit) const {
    if (bit >= buffer_.count)
      return buffer_.count;
    std::size_t block = bit / 64;
    std::uint64_t word = words[block] & ~std::uint64_t{0} << bit % 64;
    while (word == 0) {
      if (++block == buffer_.blocks())
        return buffer_.count;
      word = words[block];
    }
    return block * 64 + lowest_bit(word);
  }

  std::size_t last_boundary_before(std::size_t bit, std::size_t at) const {
    std::size_t block = bit / 64;
    std::uint64_t word = boundaries_.all[block] & ((std::uint64_t{1} << bit % 64) - 1);
    while (word == 0) {
      if (block == 0)
        return begin_;
      word = boundaries_.all[--block];
    }
    return at + buffer_.offset(block * 64 + highest_bit(word));
  }

  // Removes the boundaries in [first, end).
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
    const std::size_t blocks = buffer_.blocks();
    if (!is_undecided_)
      begin_ = last_boundary(at);
    output_.add(use_, boundaries_.all.data(), blocks, at,
                buffer_.one_unit_each ? nullptr : buffer_.offsets());
  }

  std::size_t last_boundary(std::size_t at) const {
    for (std::size_t block = buffer_.blocks(); block-- != 0;)
      if (boundaries_.all[block] != 0)
        return at + buffer_.offset(block * 64 + highest_bit(boundaries_.all[block]));
    return begin_;
  }

  void run_to_end(std::size_t from) { run(from, text_.size(), text_.size() + 1, 0); }

  // Runs the machine from `from` to `to`. Outputs ends before `at`, the start of the buffer.
  // Sets the boundaries of ends in the buffer, which are at code point `bit` or after it.
  // Returns the end of a pre-token that ends after `to`, or 0.
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
      while (at + buffer_.offset(bit) < end)
        ++bit; // reaches the bit of `to` at most
      boundaries_.all[bit / 64] |= std::uint64_t{1} << bit % 64;
    };
    machine_.run(text_, from, to, false, emit);
    return beyond;
  }

  const Machine &machine_;
  const Kernels &use_;
  Text<Source> text_;
  ClassBuffer buffer_;
  RelationBits relation_bits_;
  Boundaries boundaries_;
  Output &output_;
  std::size_t begin_ = 0;     // start of the first pre-token without a known end
  bool is_undecided_ = false; // whether an unresolved pair lies after begin_
};

// Calls sink(ends, count) with the ends of the next `count` pre-tokens of `source`, in order,
// until all are passed. `ends` is a pointer to std::size_t; `count` is at most
// ClassBuffer::MAX_CODE_POINTS.
template <typename Source, typename Sink>
void split(const Machine &machine, const Source &source, Sink sink,
           const Kernels &use = kernels()) {
  EndBuffer<Sink> ends(sink);
  Splitter<Source, EndBuffer<Sink>>(machine, source, use, ends).split();
}

// Returns the number of pre-tokens of `source`.
template <typename Source>
std::size_t count(const Machine &machine, const Source &source,
                  const Kernels &use = kernels()) {
  EndCounter counter;
  Splitter<Source, EndCounter>(machine, source, use, counter).split();
  return counter.total();
}

} // namespace pretok
