// Splits a text into segments: the parts between merge barriers (merge_barriers.hpp).
#pragma once

#include "core/bpe/merge_barriers.hpp"
#include "core/simd/kernels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Finds the barriers of a text, in blocks of 1,024 bytes. The functions of MergeBarriers report
// no barriers between ASCII characters; a SegmentSplitter finds all of them. The arguments must
// outlive it.
class SegmentSplitter {
  static constexpr std::size_t WORDS = 16; // of 64 bits, of a block

public:
  // The maximum number of ends that `next` writes. It may write past the last end, up to here.
  static constexpr std::size_t MAX_ENDS = 64 * WORDS + ClassBuffer::PADDING;

  // `size` must not be 0.
  SegmentSplitter(const MergeBarriers &barriers, const Kernels &use, const std::uint8_t *text,
                  std::size_t size)
      : barriers_(barriers), use_(use), text_(text), size_(size) {
    const MergeBarriers::DecodedChar first = barriers.char_at(text, size);
    left_ = first.index;
    left_end_ = first.width;
  }

  // Writes the ends of the next segments, in bytes of the text. Returns their number: 0 only
  // after the end of the text.
  std::size_t next(std::size_t *ends);

private:
  using Words = std::array<std::uint64_t, WORDS>;

  // Find the barriers from `at_` on, up to byte `stop` at least, and advance `at_`. Write the
  // positions of the barriers to `ends`. next_by_words looks up 64 pairs of ASCII characters at
  // once, and sets `count` to the number of barriers. Without AVX-512, or if too many
  // characters are not ASCII, it does nothing and returns false. Then next_by_characters, which
  // returns the number, is faster.
  bool next_by_words(std::size_t stop, std::size_t *ends, std::size_t &count);
  std::size_t next_by_characters(std::size_t stop, std::size_t *ends);
  // Adds the barriers before and after characters outside ASCII to `barriers`, for `count`
  // words. `beyond` has the bytes outside ASCII.
  void add_barriers_beyond_ascii(const Words &beyond, std::size_t count, Words &barriers);

  const MergeBarriers &barriers_;
  const Kernels &use_;
  const std::uint8_t *const text_;
  const std::size_t size_;
  // The next block begins with the boundary before byte `at_`. The boundary before byte 0 is
  // the start of the text, which ends no segment.
  std::size_t at_ = 1;
  // The last character that was decoded: its index in MergeBarriers::chars_, and its end. If it
  // ends before `at_`, the character before `at_` is ASCII.
  std::uint32_t left_;
  std::size_t left_end_;
};

} // namespace pretok
