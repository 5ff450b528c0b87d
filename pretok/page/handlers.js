// The answers to the messages of the page, in the worker and, for the first run, in the page itself.

import { load } from "./core/pretok.js";
import { differences, regionAfter } from "./differences.js";
import { Side } from "./side.js";
import { Utf8Text } from "./utf8.js";
import { windowStart, windows } from "./window.js";

const MAX_TEXT = 64 << 20;
/** Number of grapheme clusters to count before other messages are handled. */
const CLUSTERS_AT_ONCE = 20000;

let pretok;
let sides;
let text = new Utf8Text(new Uint8Array());
let shown = { sides: [], view: "tokens", regions: new Uint32Array() };

/** Return the functions of `module` that Side needs; `get` keeps and reuses the pre-tokenizers. */
function cached(module) {
  const kept = new Map();
  const get = (name, unicode) => {
    const key = `${name} ${unicode}`;
    if (!kept.has(key)) kept.set(key, module.get(name, unicode ? { unicode } : {}));
    return kept.get(key);
  };
  return { get, presets: () => module.presets(), loadTokenizer: module.loadTokenizer.bind(module), module };
}

/** For each kind of message, the function that returns the answer. */
export const HANDLERS = {
  /** Return the presets and versions. */
  start() {
    const { version, unicodeVersion, unicodeVersions } = pretok.module;
    const presets = pretok.module.presets().map(({ name, aliases, exactness }) => ({
      name, aliases, exactness,
    }));
    return { version, unicodeVersion, unicodeVersions: [...unicodeVersions], presets };
  },

  /**
   * Split and encode the text with the settings of each side. `source` is a new text; undefined
   * means the text of the last call.
   */
  run({ source, settings, view }) {
    if (source !== undefined) text = new Utf8Text(bytesOf(source));
    const active = sides.slice(0, settings.length);
    const descriptions = active.map((side, i) => {
      try {
        side.configure(settings[i]);
        side.run(text);
        return side.describe();
      } catch (error) {
        side.reset();
        return { error: messageOf(error) };
      }
    });
    const usable = active.filter((side) => side.pieces(view));
    let regions = new Uint32Array();
    const areComparable = usable.length === 2 && usable.every((side) => side.text === text);
    if (areComparable) {
      regions = differences(...usable.map((side) => side.pieces(view)), text.length.byte);
    }
    shown = { sides: usable, view, regions };
    return {
      length: text.length,
      sides: descriptions,
      differences: areComparable ? regions.length / 2 : null,
      window: HANDLERS.window({ at: 0 }),
    };
  },

  /** Return the window of the pieces from byte `at` on; see `windows`. */
  window({ at }) {
    const shownWindows = windows(shown.sides, shown.view, at, shown.regions);
    const places = sides.map((side) => shown.sides.indexOf(side));
    return { ...shownWindows, sides: places.map((place) => shownWindows.sides[place] ?? null) };
  },

  /**
   * Return the difference after or before byte `position`, and a window that shows it. The first
   * difference follows the last one. Return null if there are no differences.
   */
  difference({ position, isBackward }) {
    const { regions } = shown;
    const count = regions.length / 2;
    if (count === 0) return null;
    let number = regionAfter(regions, position);
    if (isBackward) number = (number - 1 + count) % count;
    else if (regions[2 * number] <= position) number += 1;
    number %= count;
    const [start, end] = regions.subarray(2 * number, 2 * number + 2);
    const at = windowStart(shown.sides, shown.view, start);
    return { number, start, end, window: HANDLERS.window({ at }) };
  },

  /** Open a vocabulary. Return the preset in use. */
  open({ side, name, bytes, settings }) {
    return sides[side].open(name, new Uint8Array(bytes), settings);
  },

  close({ side }) {
    sides[side].close();
  },

  /** Return the rules that were tried at byte `start`. */
  explain({ side, start }) {
    return sides[side].explain(start);
  },

  /** Return the merges of the pre-token from byte `start` to `end`. */
  merges({ side, start, end }) {
    return sides[side].merges(start, end);
  },

  /** Return the number of grapheme clusters; null if the text changed meanwhile. */
  async clusters() {
    const counted = text;
    const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(text.bytes);
    const clusters = new Intl.Segmenter("en", { granularity: "grapheme" }).segment(content);
    let count = 0;
    for (const _ of clusters) {
      if (++count % CLUSTERS_AT_ONCE === 0) {
        await new Promise((resolve) => setTimeout(resolve));
        if (text !== counted) return null;
      }
    }
    return count;
  },
};

function bytesOf(source) {
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : new Uint8Array(source);
  if (bytes.length > MAX_TEXT) {
    throw new RangeError(`the text has ${bytes.length} bytes; use a text of at most ${MAX_TEXT}`);
  }
  return bytes;
}

export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Use `core`, the compiled WebAssembly module. */
export async function start(core) {
  pretok = cached(await load(core));
  sides = [new Side(pretok), new Side(pretok)];
}

