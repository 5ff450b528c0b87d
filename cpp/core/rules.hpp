// The closed set of rule kinds: each a small hand-written state machine.
//
// Every rule stands for one alternative of a published pattern: `match` says where its match
// from `start` on ends, or NO_MATCH, or UNDECIDED. No rule backtracks. pretok/rules.py has the
// same machines under the same names, in the same order, and refuses rules that would need to.
//
// For the fast path (cuts.hpp) a rule also says, by masks of classes:
//   first    what a match can begin with;
//   behind   what may stand behind class a in one of its pre-tokens, or more;
//   within   of that, what may only stand there within the suffix of a word;
//   joined   what behind class a it always takes as well, or less;
//   sure     what it matches whenever it is tried there, or less;
//   refuses  behind class a, what it fails on when it is tried at a, or less.
#pragma once

#include "classes.hpp"
#include "text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace pretok {

// First word of a rule's record.
enum class Kind : std::uint32_t { CONTRACTION = 0, RUN = 1, CASED_WORD = 2, SPACES = 3 };

// How far a Spaces rule takes a run of white space.
enum class Through : std::uint32_t {
  END_OF_TEXT = 0,
  LAST_NEWLINE = 1,
  ALL_BUT_LAST = 2,
  ALL = 3,
};

// (?i:s) is s, S and U+017F in every engine; (?i:k) is k, K and U+212A. No other letter beyond
// ASCII folds to an ASCII one.
inline constexpr std::uint32_t LONG_S = 0x17F;
inline constexpr std::uint32_t KELVIN_SIGN = 0x212A;
inline std::uint32_t fold(std::uint32_t code_point) {
  if (code_point >= 'A' && code_point <= 'Z')
    return code_point + ('a' - 'A');
  if (code_point == LONG_S)
    return 's';
  return code_point == KELVIN_SIGN ? 'k' : code_point;
}

// '(?:s|t|re|...): an apostrophe (U+0027) and the first suffix that follows it.
struct Contraction {
  Mask apostrophe = 0;
  Mask letters = 0; // the classes of the code points that suffixes match; Machine finds them
  std::vector<std::vector<std::uint32_t>> suffixes;
  bool ignore_case = false;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    // '(?:s|t|re|ve|m|ll|d), the first suffix that fits
    if (start >= text.size() || text.source.code_point(start) != '\'')
      return NO_MATCH;
    for (const auto &suffix : suffixes) {
      std::size_t end = start + 1;
      std::size_t taken = 0;
      while (taken < suffix.size() && end < text.size()) {
        const std::uint32_t code_point = text.source.code_point(end);
        if ((ignore_case ? fold(code_point) : code_point) != suffix[taken])
          break;
        end = text.next(end);
        ++taken;
      }
      if (taken == suffix.size())
        return end;
      if (text.partial && end == text.size())
        return text.undecided(0);
    }
    return NO_MATCH;
  }

  Mask first() const { return apostrophe; }
  Mask behind(std::uint8_t a) const { return has(apostrophe | letters, a) ? letters : 0; }
  Mask within(std::uint8_t) const { return 0; }
  Mask joined(std::uint8_t) const { return 0; }
  Mask sure() const { return 0; }
  Mask refuses(std::uint8_t) const { return ~letters; }
};

// lead?body{1,at_most}tail*: a run of body, at most one lead before, any tail after.
struct Run {
  Mask body = 0;
  Mask lead = 0;
  Mask tail = 0;
  std::uint32_t at_most = 0; // 0: no limit

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    std::size_t begin = start;
    if (has(lead, text.here.class_)) // lead?
      begin += text.here.width;
    std::size_t end;
    if (at_most == 0) { // body+
      end = text.run_end(body, begin);
      if (end == text.size() && text.partial)
        return text.undecided(body);
    } else { // body{1,at_most}
      std::uint32_t left = at_most;
      end = text.run_end_counting(body, begin, left);
      if (end == text.size() && left != 0 && text.partial)
        return text.undecided(body, left);
    }
    if (end == begin)
      return NO_MATCH;
    if (tail != 0) { // tail*
      end = text.run_end(tail, end);
      if (end == text.size() && text.partial)
        return text.undecided(tail);
    }
    return end;
  }

  Mask first() const { return body | lead; }
  Mask within(std::uint8_t) const { return 0; }
  Mask behind(std::uint8_t a) const {
    const Mask more = at_most == 1 ? 0 : body;
    return (has(lead, a) ? body : 0) | (has(body, a) ? more | tail : 0) |
           (has(tail, a) ? tail : 0);
  }
  // As if it were not for at_most, which `longest` tells. A tail that could lead would not end
  // a chain of joined pairs, so it is left out.
  Mask joined(std::uint8_t a) const {
    if (!has(body, a))
      return has(lead, a) ? body : 0;
    return (at_most == 1 ? 0 : body) | (tail & ~body & ~lead);
  }
  Mask sure() const { return body; }
  Mask refuses(std::uint8_t a) const { return has(body, a) ? 0 : ~body; }
};

// lead?upper*lower+suffix?|lead?upper+lower*suffix?: a word cut where its case falls.
struct CasedWord {
  Mask upper = 0;
  Mask lower = 0;
  Mask lead = 0;
  std::optional<Contraction> suffix;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    std::size_t begin = start;
    if (has(lead, text.here.class_)) // lead?
      begin += text.here.width;
    std::size_t caseless = NO_MATCH;
    std::size_t end = text.run_end_noting(upper, begin, lower, caseless); // upper*
    if (end == text.size() && text.partial)
      return text.undecided(upper);
    if (has(lower, text.class_at(end))) { // lower+
      end = text.run_end(lower, end);
      if (end == text.size() && text.partial)
        return text.undecided(lower);
    } else if (caseless != NO_MATCH) {
      // upper* gives back until lower+ can take one; failing that, upper+
      end = caseless;
    }
    if (end == begin)
      return NO_MATCH;
    if (suffix) { // suffix?
      const std::size_t after = suffix->match(text, end);
      if (after != NO_MATCH)
        return after;
    }
    return end;
  }

  Mask first() const { return upper | lower | lead; }
  Mask behind(std::uint8_t a) const {
    return ahead_of_suffix(a) | (suffix ? suffix->behind(a) : 0);
  }
  Mask within(std::uint8_t a) const {
    return suffix && !has(suffix->apostrophe, a) ? suffix->behind(a) & ~ahead_of_suffix(a) : 0;
  }
  // A capital behind a letter that is none may begin a word of its own; all else runs on.
  Mask joined(std::uint8_t a) const {
    return has(lower, a) ? lower : has(upper | lead, a) ? upper | lower : 0;
  }
  Mask sure() const { return upper | lower; }
  Mask refuses(std::uint8_t a) const { return has(upper | lower, a) ? 0 : ~(upper | lower); }

private:
  // What may stand behind a up to the apostrophe.
  Mask ahead_of_suffix(std::uint8_t a) const {
    Mask found = has(lead, a) ? upper | lower : 0;
    found |= has(upper, a) ? upper | lower : 0;
    found |= has(lower, a) ? lower : 0;
    if (suffix && has(upper | lower, a))
      found |= suffix->apostrophe;
    return found;
  }
};

// White space, as far as `through` says.
struct Spaces {
  Mask space = 0;
  Mask newline = 0;
  Through through = Through::ALL;

  template <typename Source> std::size_t match(Text<Source> &text, std::size_t start) const {
    // One scan serves every Spaces rule and every start in the run, so that a rule that fails
    // on a long run cannot make the whole quadratic.
    if (start >= text.space_end) {
      text.newline_end = start;
      text.space_end = text.run_end_noting(space, start, newline, text.newline_end);
    }
    const std::size_t end = text.space_end;
    if (end == text.size() && text.partial)
      return text.undecided(space);
    switch (through) {
    case Through::END_OF_TEXT: // \s++$
      return end == text.size() ? end : NO_MATCH;
    case Through::LAST_NEWLINE: // \s*[\r\n]+
      return text.newline_end > start ? text.newline_end : NO_MATCH;
    case Through::ALL_BUT_LAST: { // \s+(?!\S)
      if (end == text.size())
        return end;
      const std::size_t last = text.source.last_start(start, end);
      return last > start ? last : NO_MATCH;
    }
    case Through::ALL: // \s+
      break;
    }
    return end;
  }

  Mask first() const { return space; }
  Mask behind(std::uint8_t a) const { return has(space, a) ? space : 0; }
  Mask within(std::uint8_t) const { return 0; }
  Mask joined(std::uint8_t a) const {
    return has(space, a) && through == Through::LAST_NEWLINE ? newline : 0;
  }
  Mask sure() const { return through == Through::ALL ? space : 0; }
  Mask refuses(std::uint8_t) const { return through == Through::END_OF_TEXT ? ~space : 0; }
};

using Rule = std::variant<Contraction, Run, CasedWord, Spaces>;

} // namespace pretok
