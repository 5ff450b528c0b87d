// Splitting with the fast path: the same boundaries as Machine::run, without the rules' names.
#pragma once

#include "bits.hpp"
#include "cuts.hpp"
#include "machine.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Bit i of each says something of unit i, of 64 in a row, and the one before.
struct Bits {
  std::uint64_t cuts; // there is a cut
  std::uint64_t
      changes; // the label changes, which is a cut if nothing since the last cut is asked
  std::uint64_t asks;    // the machine must be asked
  std::uint64_t counted; // the pre-token's length is limited
};

// `pairs` has for each unit what CutTable says of it behind the one before; pairs[-1] is read
// too.
inline Bits gather(const std::uint8_t *pairs) {
  Bits bits{};
  std::uint64_t tied = 0;
  std::uint64_t same = 0; // the label is that of the unit before
#if PRETOK_SSE2
  const auto load = [](const std::uint8_t *from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  };
  const auto top_bits = [](__m128i part, int at) {
    return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(part))} << at;
  };
  const __m128i label = _mm_set1_epi8(LABEL);
  for (int i = 0; i < 64; i += 16) {
    __m128i part = load(pairs + i);
    const __m128i differs = _mm_and_si128(_mm_xor_si128(part, load(pairs + i - 1)), label);
    same |= top_bits(_mm_cmpeq_epi8(differs, _mm_setzero_si128()), i);
    bits.cuts |= top_bits(part, i);
    part = _mm_add_epi8(part, part);
    bits.asks |= top_bits(part, i);
    part = _mm_add_epi8(part, part);
    bits.counted |= top_bits(part, i);
    tied |= top_bits(_mm_add_epi8(part, part), i);
  }
#else
  for (int i = 0; i < 64; ++i) {
    bits.cuts |= std::uint64_t{(pairs[i] & CUT) != 0} << i;
    bits.asks |= std::uint64_t{(pairs[i] & ASK) != 0} << i;
    bits.counted |= std::uint64_t{(pairs[i] & COUNTED) != 0} << i;
    tied |= std::uint64_t{(pairs[i] & TIED) != 0} << i;
    same |= std::uint64_t{((pairs[i] ^ pairs[i - 1]) & LABEL) == 0} << i;
  }
#endif
  const std::uint64_t plain = ~(bits.cuts | bits.asks);
  const std::uint64_t plain_before = plain << 1 | ((pairs[-1] & (CUT | ASK)) == 0);
  const std::uint64_t changed = ~same & plain & plain_before;
  // Behind a change the next label is compared with one that no longer counts.
  bits.changes = changed & ~tied & ~(changed << 1 | 1);
  bits.asks |= changed & ~bits.changes;
  return bits;
}

// A stretch of text as what CutTable says of its units.
class Stretch {
public:
  // Reads the units from `at`, which must start a code point, on; returns how many it read.
  template <typename Source>
  std::size_t read(const Source &source, std::size_t at, const CutTable &table) {
    const std::size_t start = at;
    const std::size_t end = at + std::min(UNITS, source.size() - at);
    std::uint8_t *out = pairs_.data() + 1;
    pairs_[0] = last_;
    std::uint32_t within = 0; // units of the code point before that are not written yet
    bool changed = false;     // whether the label changed at that code point
    while (at < end) {
      const Element element = source.element(at);
      std::uint8_t pair = table(before_, element.class_);
      if (within != 0) {
        // What is within a sequence goes on with its label, if it has one, else with what
        // comes.
        const std::uint8_t filling = last_ != CUT ? last_ : pair;
        // If the label changed there, which cuts, a second change is none that gather could
        // tell.
        if (changed && changes(last_, pair))
          pair = ASK;
        for (; within != 0; --within)
          *out++ = filling & (ASK | LABEL);
      }
      changed = changes(out[-1], pair);
      *out++ = pair;
      last_ = pair;
      if (end - at >= 8 && source.ascii8(at)) {
        std::size_t i = 1;
        do {
          for (; i < 8; ++i)
            *out++ = table.ascii(source.unit(at + i - 1), source.unit(at + i));
          at += 8;
          i = 0;
        } while (end - at >= 8 && source.ascii8(at));
        last_ = out[-1];
        before_ = source.element(at - 1).class_;
        continue;
      }
      within = element.width - 1;
      at += element.width;
      before_ = element.class_;
    }
    for (; within != 0; --within)
      *out++ = last_ & (ASK | LABEL);
    last_ = out[-1];
    for (std::size_t unit = at - start; unit % 64 != 0; ++unit)
      *out++ = last_ & LABEL;
    return at - start;
  }

  Bits bits(std::size_t first) const { return gather(&pairs_[first + 1]); }

private:
  static constexpr std::size_t UNITS = 1024;

  static bool changes(std::uint8_t before, std::uint8_t pair) {
    return ((before | pair) & (CUT | ASK)) == 0 && ((before ^ pair) & LABEL) != 0;
  }

  // One for the unit before, and room for a sequence of UTF-8 that lies across the end.
  std::array<std::uint8_t, 1 + UNITS + 64> pairs_;
  std::uint8_t last_ = CUT;
  std::uint8_t before_ = END;
};

// Calls emit(end) for each pre-token of `source`, in order, with the position of its end.
template <typename Source, typename Emit>
void split(const Machine &machine, const Source &source, Emit emit) {
  const auto emit_end = [&emit](std::size_t end, int) { emit(end); };
  const std::size_t size = source.size();
  Text<Source> text(source, false);
  Stretch stretch;
  std::size_t begin = 0; // of the pre-tokens that are not emitted yet
  bool ask = false;      // whether they are for the machine to split
  bool counted = false;  // or are if they are long
  for (std::size_t at = 0; at < size;) {
    const std::size_t filled = stretch.read(source, at, machine.cuts());
    for (std::size_t first = 0; first < filled; first += 64) {
      Bits bits = stretch.bits(first);
      for (std::uint64_t left = bits.cuts | bits.changes; left != 0; left &= left - 1) {
        const std::uint64_t lowest = left & (0 - left);
        const std::size_t cut = at + first + lowest_bit(left);
        ask = ask || (bits.asks & (lowest - 1)) != 0;
        counted = counted || (bits.counted & (lowest - 1)) != 0;
        bits.asks &= ~(lowest - 1);
        bits.counted &= ~(lowest - 1);
        ask = ask || (counted && cut - begin > machine.cuts().counted());
        if (ask && (bits.changes & lowest) != 0)
          continue;
        if (ask)
          machine.run(text, begin, cut, false, emit_end);
        else if (cut != 0)
          emit(cut);
        ask = counted = false;
        begin = cut;
      }
      ask = ask || bits.asks != 0;
      counted = counted || bits.counted != 0;
    }
    at += filled;
  }
  // How the end of the text is split depends on its being the end.
  machine.run(text, begin, size, false, emit_end);
}

} // namespace pretok
