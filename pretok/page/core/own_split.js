// Read the split of a .pretok file whose preset is not built in. bpe/formats/pretok_file.py describes
// the format. The core has checked the file, except for the JSON description of the preset.

import { PretokError } from "./errors.js";

/** The size of the header of a file. */
const HEADER = 16;
/** The names of behaviors, by their numbers in pretok/behaviors.py. */
const BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"];

/** Return {preset, program}: a Preset (see pretok.d.ts), and the words of its program. */
export function ownSplit(bytes) {
  const reader = new Reader(bytes);
  reader.number(); // the flags
  const name = reader.text();
  const unicode = reader.text();
  const program = Uint32Array.from({ length: reader.number() }, () => reader.number());
  return { preset: { name, aliases: [], unicode, ...described(reader.text(), program) }, program };
}

/** Return the members of a Preset that the description and the program hold. */
function described(description, program) {
  try {
    const { engine, exactness, source, stages } = JSON.parse(description);
    const rules = stages.flatMap(([, , alternatives], stage) =>
      alternatives.map((pattern) => ({ stage, name: "", pattern: String(pattern) })),
    );
    const effects = effectsOf(program);
    return {
      engine: String(engine), exactness: String(exactness), source: String(source),
      dropsText: effects.some(({ behavior }) => behavior === "removed"),
      stages: effects.map((effect, i) => ({ pattern: String(stages[i][0]), ...effect })),
      rules: rules.map((rule, index) => ({ index, ...rule })),
    };
  } catch {
    throw new PretokError(
      "MALFORMED",
      "the description of the split in the file is damaged; save the tokenizer again with this " +
        "version of pretok",
    );
  }
}

/** Return the behavior of each stage of a program; pretok/machine/program.py writes the words. */
function effectsOf(program) {
  const effects = [];
  for (let at = 2; at < program.length; at += 3 + program[at + 2]) {
    effects.push({ behavior: BEHAVIORS[program[at]], invert: program[at + 1] !== 0 });
  }
  return effects;
}

class Reader {
  #bytes;
  #at = HEADER;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  /** Read a number in LEB128. */
  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at++];
      value += (byte & 127) * factor;
      if (!(byte >= 128)) return value; // also past the end
    }
  }

  text() {
    const size = this.number();
    this.#at += size;
    return new TextDecoder().decode(this.#bytes.subarray(this.#at - size, this.#at));
  }
}
