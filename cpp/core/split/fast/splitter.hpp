// The fast path of splitting. It finds the same boundaries as the machine of rules, mostly
// without trying rules. neighbors.hpp explains BOUNDARY pairs and unresolved pairs.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/noinline.hpp"
#include "core/simd/kernels.hpp"
#include "core/split/fast/boundaries.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/sources.hpp"
#include "core/split/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Fills the buffer with the classes of the text from `at` on.
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

// Takes the ends of pre-tokens, in order. The functions are virtual, so that splitting is
// compiled only once for all kinds of output. Most calls add all ends of a ClassBuffer.
class EndOutput {
public:
  virtual void add(std::size_t end) = 0;
  // Adds the ends of a ClassBuffer that starts at code unit `base` of the text. The ends are
  // the 1 bits of `count` words. `offsets` are the offsets of the buffer, or nullptr if each
  // code point takes one code unit.
  virtual void add(const Kernels &use, const std::uint64_t *words, std::size_t count,
                   std::size_t base, const std::uint16_t *offsets) = 0;
  // Passes on all ends that were added so far.
  virtual void flush() = 0;

protected:
  ~EndOutput() = default;
};

// Passes the ends of pre-tokens to a sink, a buffer at a time.
template <typename Sink> class EndBuffer final : public EndOutput {
public:
  explicit EndBuffer(Sink &sink) : sink_(sink) {}

  void add(std::size_t end) override {
    if (count_ == ends_.size())
      flush();
    ends_[count_++] = end;
  }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t base,
           const std::uint16_t *offsets) override {
    flush();
    count_ = use.bits_to_positions(words, count, base, offsets, ends_.data());
  }
  void flush() override {
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
class EndCounter final : public EndOutput {
public:
  void add(std::size_t) override { ++total_; }
  void add(const Kernels &use, const std::uint64_t *words, std::size_t count, std::size_t,
           const std::uint16_t *) override {
    total_ += use.count_bits(words, count);
  }
  void flush() override {}
  std::size_t total() const { return total_; }

private:
  std::size_t total_ = 0;
};

// Splits a text. For each buffer: classify pairs, resolve boundaries, run the rules around
// unresolved pairs, output the ends. `Rules` has these members:
//   neighbors()                      the NeighborTable;
//   resumes_anywhere()               whether run may begin at any boundary, not only at a
//                                    BOUNDARY pair;
//   end_matters(last)                whether the last pre-token may depend on the end of the
//                                    text, even if no pair in it is unresolved; `last` is the
//                                    class of the last code point;
//   run(text, from, to, emit)        calls emit(end, rule) for each pre-token from `from` to
//                                    the first boundary at or after `to`.
template <typename Rules, typename Source> class Splitter {
public:
  Splitter(const Rules &rules, const Source &source, const Kernels &use, EndOutput &output)
      : rules_(rules), use_(use), text_(source, false), boundaries_(rules.neighbors()),
        output_(output) {}

  PRETOK_NOINLINE void split() {
    const std::size_t size = text_.size();
    std::uint8_t last = END;
    for (std::size_t at = 0; at < size; at += buffer_.units) {
      read(use_, text_.source, at, buffer_);
      buffer_.classes()[-1] = last;
      use_.classify_pairs(rules_.neighbors().relations(), buffer_.classes(), buffer_.blocks(),
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

    if (is_undecided_ || rules_.end_matters(last))
      run(resume_, size, begin_, size + 1, 0); // outputs all ends, as no end reaches size + 1
    else if (size != 0)
      output_.add(size);
    output_.flush();
  }

private:
  // Runs the rules from the boundary before each unresolved pair to the first certain boundary
  // after the pair. If this boundary is not in the buffer, sets is_undecided_, and the call for
  // the next buffer continues. The buffer starts at `at`. Returns false if the machine has
  // split the rest of the text.
  bool resolve_by_rules(std::size_t at) {
    std::size_t bit = 0; // all pairs before this bit are resolved
    for (;;) {
      if (!is_undecided_) {
        bit = next_in(boundaries_.unresolved, bit);
        if (bit == buffer_.count)
          return true;
        note_last_boundary(bit, at);
      }
      const std::size_t end = next_in(boundaries_.certain, bit);
      clear(bit, end);
      is_undecided_ = end == buffer_.count;
      if (is_undecided_)
        return true;
      const std::size_t stop = at + buffer_.offset(end);
      const std::size_t crossing_end = run(resume_, stop, begin_, at, bit);
      if (crossing_end != 0) {
        split_rest(at, end, crossing_end);
        return false;
      }
      begin_ = resume_ = stop;
      bit = end + 1;
    }
  }

  // Splits the text from `position` on by the rules alone. A pre-token crosses the BOUNDARY at
  // bit `end` of the buffer, and ends at `position`. Only a bug in NeighborTable can make a
  // pre-token cross a BOUNDARY. Splitting by the rules keeps such a bug from causing a write
  // out of bounds.
  void split_rest(std::size_t at, std::size_t end, std::size_t position) {
    clear(end, buffer_.count);
    output_.add(use_, boundaries_.all.data(), buffer_.blocks(), at,
                buffer_.one_unit_each ? nullptr : buffer_.offsets());
    output_.add(position);
    run(position, text_.size(), position, text_.size() + 1, 0);
    output_.flush();
  }

  // Returns the index of the first 1 bit in `words` from index `bit` on, or buffer_.count if
  // there is none.
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

  // Sets begin_ to the last boundary before code point `bit` of the buffer, which starts at
  // `at`. Sets resume_ to the last boundary before this code point from which the rules may
  // start.
  void note_last_boundary(std::size_t bit, std::size_t at) {
    begin_ = last_in(boundaries_.all, bit, at, begin_);
    resume_ =
        rules_.resumes_anywhere() ? begin_ : last_in(boundaries_.certain, bit, at, resume_);
  }

  // Returns the position in the text of the last 1 bit in `words` before index `bit`, or
  // `otherwise` if there is none.
  std::size_t last_in(const BitWords &words, std::size_t bit, std::size_t at,
                      std::size_t otherwise) const {
    std::size_t block = bit / 64;
    std::uint64_t word =
        bit % 64 == 0 ? 0 : words[block] & ((std::uint64_t{1} << bit % 64) - 1);
    while (word == 0) {
      if (block == 0)
        return otherwise;
      word = words[--block];
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

  // Outputs the boundaries of the buffer, which starts at `at`.
  void finish(std::size_t at) {
    if (!is_undecided_)
      note_last_boundary(buffer_.count, at);
    output_.add(use_, boundaries_.all.data(), buffer_.blocks(), at,
                buffer_.one_unit_each ? nullptr : buffer_.offsets());
  }

  // Runs the rules from `from` to `to`, and ignores ends up to `known`. Outputs the ends that
  // lie before `at`, the start of the buffer. For each end in the buffer, sets the bit in
  // boundaries_.all. The search for this bit starts at `bit`, because no such bit is lower. If
  // a pre-token ends after `to`, returns its end. Otherwise returns 0.
  std::size_t run(std::size_t from, std::size_t to, std::size_t known, std::size_t at,
                  std::size_t bit) {
    std::size_t crossing_end = 0;
    const auto emit = [&](std::size_t end, int) {
      if (end <= known)
        return;
      if (end < at) {
        output_.add(end);
        return;
      }
      if (end > to) {
        crossing_end = end;
        return;
      }
      while (at + buffer_.offset(bit) < end)
        ++bit; // reaches the bit of `to` at most
      boundaries_.all[bit / 64] |= std::uint64_t{1} << bit % 64;
    };
    rules_.run(text_, from, to, emit);
    return crossing_end;
  }

  const Rules rules_;
  const Kernels &use_;
  Text<Source> text_;
  ClassBuffer buffer_;
  RelationBits relation_bits_;
  Boundaries boundaries_;
  EndOutput &output_;
  std::size_t begin_ = 0;     // start of the first pre-token without a known end
  std::size_t resume_ = 0;    // where the rules must start to find this end
  bool is_undecided_ = false; // whether an unresolved pair lies after begin_
};

} // namespace pretok
