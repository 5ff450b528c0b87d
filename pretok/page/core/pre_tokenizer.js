// PreTokenizer: text to pre-tokens.

import { PretokError, invalid } from "./errors.js";
import { unitIn, unitNumber } from "./memory.js";

export const NO_RULE = -1;
/** In unsigned results of the module: NO_RULE, and the end of a rule that does not match. */
const NONE = 0xffffffff;
/** The number of words before the tried rules of a stage, as in cpp/wasm/explain.cpp. */
const HEAD = 8;

export class PreTokenizer {
  #core;
  #handle;
  #program;

  /** `program` has the words of a preset that is not built in; null for a built-in preset. */
  constructor(core, preset, unicode, program = null) {
    this.preset = preset;
    this.unicode = unicode;
    this.#core = core;
    this.#program = program;
    this.#handle = core.scoped((allocate) => {
      const result = allocate(4);
      const version = core.copyName(unicode, allocate);
      if (program) {
        const words = core.copyWords(program, allocate);
        core.check("pretok_pre_tokenizer_from_program", words, program.length, version, result);
      } else {
        const name = core.copyName(preset.name, allocate);
        core.check("pretok_pre_tokenizer_named", name, version, result);
      }
      return core.word(result);
    });
    Object.freeze(this);
  }

  split(text) {
    const slice = typeof text === "string" ? "slice" : "subarray";
    if (this.preset.dropsText) {
      const { starts, ends } = this.splitWithRules(text);
      return Array.from(starts, (start, i) => text[slice](start, ends[i]));
    }
    const bounds = this.offsets(text);
    const pieces = new Array(bounds.length - 1);
    for (let i = 0; i < pieces.length; ++i) pieces[i] = text[slice](bounds[i], bounds[i + 1]);
    return pieces;
  }

  count(text) {
    return this.#with(text, ({ pointer, size, isUtf8 }, handle) =>
      this.#core.call("pretok_wasm_count", handle, pointer, size, isUtf8),
    );
  }

  offsets(text, unit) {
    const number = unitNumber(unit, text);
    if (this.preset.dropsText) {
      throw new PretokError(
        "REMOVES_TEXT",
        `preset ${this.preset.name} drops parts of the text, so its offsets have gaps; use ` +
          "splitWithRules()",
      );
    }
    return this.#with(text, (copy, handle) => {
      const { pointer, size, isUtf8 } = copy;
      const unitOfCopy = unitIn(copy, number);
      this.#core.call("pretok_wasm_offsets", handle, pointer, size, isUtf8, unitOfCopy);
      return this.#core.takeResults(1)[0];
    });
  }

  rules() {
    return this.preset.rules;
  }

  splitWithRules(text, unit) {
    const number = unitNumber(unit, text);
    return this.#with(text, (copy, handle) => {
      const { pointer, size, isUtf8 } = copy;
      const unitOfCopy = unitIn(copy, number);
      this.#core.call("pretok_wasm_steps", handle, pointer, size, isUtf8, unitOfCopy);
      const [starts, ends, rules] = this.#core.takeResults(3);
      return { starts, ends, rules: new Int32Array(rules.buffer) };
    });
  }

  explain(text, position, unit) {
    const number = unitNumber(unit, text);
    if (!Number.isInteger(position) || position < 0 || position >= NONE) {
      throw invalid(`position ${position}; expected an offset in the text`);
    }
    return this.#with(text, (copy) => {
      const { pointer, size, isUtf8, allocate } = copy;
      const program = this.#program ?? [];
      const preset = this.#program ? 0 : this.#core.copyName(this.preset.name, allocate);
      const programWords = this.#core.copyWords(program, allocate);
      const unicode = this.#core.copyName(this.unicode, allocate);
      const unitOfCopy = unitIn(copy, number);
      this.#core.call(
        "pretok_wasm_explain", preset, programWords, program.length, unicode, pointer, size, isUtf8,
        position, unitOfCopy,
      );
      const [words] = this.#core.takeResults(1);
      if (words.length === 0) {
        throw invalid(`position ${position} is not in the text; expected a smaller position`);
      }
      return explainedStages(words);
    });
  }

  free() {
    if (this.#handle) this.#core.call("pretok_pre_tokenizer_free", this.#handle);
    this.#handle = 0;
  }

  /** Return work(copy, handle), where `copy` is a copy of the text (see `Core.withText`). */
  #with(text, work) {
    if (!this.#handle) throw invalid("free() was called on the pre-tokenizer; get() another one");
    return this.#core.withText(text, (copy) => work(copy, this.#handle), true);
  }
}

/** Return the stages that pretok_wasm_explain wrote. */
function explainedStages(words) {
  const stages = [];
  for (let at = 0; at < words.length; ) {
    const [pieceStart, pieceEnd, start, rule, partStart, partEnd, isDropped, count] =
      words.subarray(at, at + HEAD);
    at += HEAD;
    const tried = [];
    for (const end = at + 2 * count; at < end; at += 2) {
      tried.push({ rule: words[at], end: words[at + 1] === NONE ? null : words[at + 1] });
    }
    stages.push({
      stage: stages.length,
      pieceStart,
      pieceEnd,
      start,
      tried,
      rule: rule === NONE ? NO_RULE : rule,
      partStart,
      partEnd,
      isDropped: isDropped !== 0,
    });
  }
  return stages;
}
