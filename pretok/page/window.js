// A window: the part of the results that the page shows at one time. Its pieces are the pre-tokens
// or the tokens of a side.

import { spokenText, visibleParts } from "./display.js";
import { regionAfter } from "./differences.js";

/** Maximum pieces of a side that are shown at one time. */
export const MAX_PIECES = 1000;
/** Maximum bytes of a piece that the page shows as numbers, and maximum ids of a piece. */
const MAX_BYTES = 64;
const MAX_IDS = 8;

/**
 * Return the window of the pieces of `sides` from byte `at` on.
 *
 * In the result, `earlier` and `later` are the bytes at which the windows before and after this
 * window start; null if there is no such window. The pieces of all sides cover the same bytes, so
 * the window ends as soon as one side has MAX_PIECES pieces.
 * `regions` are the differences of the sides, as `differences` returns them.
 */
export function windows(sides, view, at, regions) {
  const all = sides.map((side) => side.pieces(view));
  const firsts = all.map(({ starts }) => lowerBound(starts, at));
  const afters = all.map(({ starts }, i) => starts[firsts[i] + MAX_PIECES] ?? Infinity);
  const befores = all.map(({ starts }, i) => starts[Math.max(0, firsts[i] - MAX_PIECES)] ?? 0);
  const end = Math.min(...afters);
  return {
    earlier: firsts.some((first) => first > 0) ? Math.max(...befores) : null,
    later: end === Infinity ? null : end,
    sides: sides.map((side, i) => {
      const stop = end === Infinity ? all[i].starts.length : lowerBound(all[i].starts, end);
      return {
        first: firsts[i],
        total: all[i].starts.length,
        pieces: pieces(side, all[i], firsts[i], stop, regions),
      };
    }),
  };
}

/** Return the start of a window that has the piece at byte `position` after at most 50 others. */
export function windowStart(sides, view, position) {
  const starts = sides.map((side) => {
    const all = side.pieces(view).starts;
    return all[Math.max(0, lowerBound(all, position) - 50)] ?? 0;
  });
  return Math.max(0, ...starts.filter((start) => start <= position));
}

/** Return pieces `first` to `stop` (exclusive) of `all`, the tokens or pre-tokens of `side`. */
function pieces(side, all, first, stop, regions) {
  const { preTokens, tokens } = side;
  const showsTokens = all === tokens;
  const found = [];
  let preToken = preTokens ? Math.max(0, lowerBound(preTokens.starts, all.starts[first] + 1) - 1) : -1;
  let token = tokens ? lowerBound(tokens.starts, all.starts[first]) : 0;
  for (let i = first; i < stop; i++) {
    const [start, end] = [all.starts[i], all.ends[i]];
    if (preTokens) while (preTokens.starts[preToken + 1] <= start) preToken++;
    const ids = [];
    let idCount = 0;
    if (showsTokens) ids.push(all.ids[i]);
    else if (tokens) {
      while (tokens.starts[token] < start) token++;
      for (; tokens.starts[token] < end; token++) if (idCount++ < MAX_IDS) ids.push(tokens.ids[token]);
    }
    const bytes = side.text.bytes.subarray(start, end);
    const region = regionAfter(regions, start);
    found.push({
      index: i,
      span: side.text.span(start, end),
      bytes: bytes.slice(0, MAX_BYTES),
      parts: visibleParts(bytes),
      spoken: spokenText(bytes),
      ids,
      idCount: showsTokens ? 1 : idCount,
      isToken: showsTokens,
      preToken: preTokens && {
        index: preToken,
        start: preTokens.starts[preToken],
        end: preTokens.ends[preToken],
        rule: preTokens.rules[preToken],
      },
      differs: regions[2 * region] <= start,
    });
  }
  return found;
}

/** Return the index of the first number in `sorted` that is not less than `value`. */
function lowerBound(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
