// Tokenizer: text to ids and back.

import { PretokError, invalid } from "./errors.js";
import { bytesOf, decodeUtf8, unitIn, unitNumber } from "./memory.js";
import { ownSplit } from "./own_split.js";
import { PreTokenizer } from "./pre_tokenizer.js";

/** The index of a treatment of special tokens is its number in pretok_special of pretok.h. */
const SPECIAL = ["raise", "text", "allow"];
/** The caches of a tokenizer hold at most this many bytes. */
const CACHE_BYTES = 32 << 20;
/** Maximum bytes of a pre-token for mergeSteps, because mergeSteps takes quadratic time. */
const MAX_TRACED = 4096;
/** No token has this id. */
const NO_ID = 0xffffffff;
const UNKNOWN_ID = "UNKNOWN_ID";
const UNKNOWN_NAME = "UNKNOWN_NAME";

export class Tokenizer {
  #core;
  #handle;
  #merges = 0;
  #specialTokens = null;
  #get;
  #bytes;

  /** `get(name, unicode)` returns the pre-tokenizer of a built-in preset. */
  constructor(core, bytes, options, get) {
    this.#core = core;
    this.#get = get;
    this.#handle = core.withText(bytesOf(bytes), ({ pointer, size, allocate }) => {
      const result = allocate(4);
      const optionsPointer = copyLoadOptions(core, options, allocate);
      core.check("pretok_tokenizer_from_memory", pointer, size, optionsPointer, result);
      return core.word(result);
    });
    this.presetName = core.cString(core.call("pretok_tokenizer_preset", this.#handle));
    this.unicode = core.cString(core.call("pretok_wasm_tokenizer_unicode", this.#handle));
    this.size = core.call("pretok_vocab_size", this.#handle);
    // A file without a preset has a program if it splits text at all.
    this.#bytes = this.presetName || !this.unicode ? null : bytesOf(bytes).slice();
  }

  preTokenizer() {
    this.#alive();
    if (this.presetName) return this.#get(this.presetName, this.unicode);
    if (!this.#bytes) return null;
    const { preset, program } = ownSplit(this.#bytes);
    return new PreTokenizer(this.#core, preset, this.unicode, program);
  }

  get specialTokens() {
    this.#specialTokens ??= this.#readSpecialTokens();
    return this.#specialTokens;
  }

  encode(text, options = {}) {
    return this.#withCall(text, options, ({ pointer, size, allocate }, encodeOptions) => {
      const ids = allocate(4);
      const count = allocate(4);
      const core = this.#core;
      core.check("pretok_encode_new", this.#alive(), pointer, size, encodeOptions, ids, count);
      const array = core.word(ids);
      const copy = core.words(array, core.word(count)).slice();
      core.call("pretok_ids_free", array);
      return copy;
    });
  }

  count(text, options = {}) {
    return this.#withCall(text, options, ({ pointer, size, allocate }, encodeOptions) => {
      const count = allocate(4);
      this.#core.check("pretok_count", this.#alive(), pointer, size, encodeOptions, count);
      return this.#core.word(count);
    });
  }

  encodeWithOffsets(text, options = {}) {
    const unit = unitNumber(options.unit, text);
    if (options.addSpecialTokens) {
      throw invalid("addSpecialTokens adds ids that have no offsets; leave it out");
    }
    return this.#withCall(text, options, (copy, encodeOptions) => {
      const { pointer, size } = copy;
      const unitOfCopy = unitIn(copy, unit);
      this.#core.check(
        "pretok_wasm_encode_spans", this.#alive(), pointer, size, encodeOptions, unitOfCopy,
      );
      const [ids, starts, ends] = this.#core.takeResults(3);
      return { ids, starts, ends };
    });
  }

  decode(ids, options = {}) {
    return decodeUtf8(this.decodeBytes(ids, options));
  }

  decodeBytes(ids, { skipSpecial = false } = {}) {
    const core = this.#core;
    return core.scoped((allocate) => {
      const words = checkedIds(ids);
      const pointer = core.copyWords(words, allocate);
      const count = allocate(4);
      const decode = (buffer, capacity) =>
        core.check(
          "pretok_decode", this.#alive(), pointer, words.length, skipSpecial ? 1 : 0, buffer,
          capacity, count,
        );
      decode(0, 0);
      const size = core.word(count);
      const buffer = allocate(size);
      decode(buffer, size);
      return core.bytes(buffer, size).slice();
    });
  }

  tokenBytes(id) {
    if (!isId(id)) return undefined;
    const core = this.#core;
    return core.scoped((allocate) => {
      const bytes = allocate(4);
      const size = allocate(4);
      return unless(UNKNOWN_ID, () => {
        core.check("pretok_token_bytes", this.#alive(), id, bytes, size);
        return core.bytes(core.word(bytes), core.word(size)).slice();
      });
    });
  }

  tokenId(token) {
    const core = this.#core;
    return core.withText(token, ({ pointer, size, allocate }) => {
      const id = allocate(4);
      return unless(UNKNOWN_NAME, () => {
        core.check("pretok_token_id", this.#alive(), pointer, size, id);
        return core.word(id);
      });
    });
  }

  isSpecial(id) {
    return isId(id) && this.#core.call("pretok_is_special", this.#alive(), id) !== 0;
  }

  mergeSteps(preToken) {
    const core = this.#core;
    return core.withText(preToken, ({ pointer, size }) => {
      if (size > MAX_TRACED) {
        throw invalid(`the pre-token has ${size} bytes; expected ${MAX_TRACED} at most`);
      }
      const bytes = core.bytes(pointer, size).slice();
      this.#merges ||= core.call("pretok_wasm_merges_new", this.#alive());
      core.call("pretok_wasm_merge_steps", this.#alive(), this.#merges, pointer, size);
      const [starts, merges, ids] = core.takeResults(3);
      if (ids.includes(NO_ID)) {
        throw new PretokError("NO_TOKEN", "the vocabulary has no token for a byte of the text");
      }
      return mergeTrace(bytes, starts, merges, ids);
    });
  }

  free() {
    if (this.#merges) this.#core.call("pretok_wasm_merges_free", this.#merges);
    if (this.#handle) this.#core.call("pretok_tokenizer_free", this.#handle);
    this.#merges = this.#handle = 0;
    this.#bytes = null;
  }

  #alive() {
    if (!this.#handle) throw invalid("free() was called on the tokenizer; load it again");
    return this.#handle;
  }

  #readSpecialTokens() {
    const core = this.#core;
    return core.scoped((allocate) => {
      const size = allocate(4);
      const id = allocate(4);
      const tokens = [];
      for (;;) {
        const handle = this.#alive();
        const text = core.call("pretok_wasm_special_token", handle, tokens.length, size, id);
        if (text === 0) return Object.freeze(tokens);
        const content = decodeUtf8(core.bytes(text, core.word(size)));
        tokens.push(Object.freeze({ text: content, id: core.word(id) }));
      }
    });
  }

  /** Return work(copy, options): a copy of the text, and a pointer to a pretok_encode_options. */
  #withCall(text, { special = "raise", addSpecialTokens = false }, work) {
    const core = this.#core;
    return core.withText(text, (copy) => {
      const allowed = Array.isArray(special) ? this.#newSpecialSet(special, copy.allocate) : 0;
      const number = allowed ? 0 : SPECIAL.indexOf(special);
      if (number === -1) {
        throw invalid(`special: ${String(special)}; expected "raise", "text", "allow" or an array`);
      }
      // The members of pretok_encode_options; the first is its size in bytes.
      const words = [16, number, allowed, addSpecialTokens ? 1 : 0];
      try {
        return work(copy, core.copyWords(words, copy.allocate));
      } finally {
        if (allowed) core.call("pretok_special_set_free", allowed);
      }
    });
  }

  #newSpecialSet(names, allocate) {
    const core = this.#core;
    const pointers = names.map((name) => core.copyName(name, allocate));
    const sizes = names.map((name) => new TextEncoder().encode(name).length);
    const texts = core.copyWords(pointers, allocate);
    const result = allocate(4);
    const sizesPointer = core.copyWords(sizes, allocate);
    const handle = this.#alive();
    core.check("pretok_special_set_new", handle, texts, sizesPointer, names.length, result);
    return core.word(result);
  }
}

/** Return a pointer to a pretok_load_options. */
function copyLoadOptions(core, options, allocate) {
  const { preset, unicode, normalizer, specialTokens = {} } = options;
  const tokens = Object.entries(specialTokens).flatMap(([text, id]) => {
    if (!isId(id)) throw invalid(`special token ${text} has id ${id}; expected a number`);
    const bytes = new TextEncoder().encode(text);
    const pointer = allocate(bytes.length);
    core.bytes(pointer, bytes.length).set(bytes);
    return [pointer, bytes.length, id];
  });
  // The members of pretok_load_options; the first is its size in bytes.
  const words = [
    32,
    core.copyName(preset, allocate),
    core.copyName(unicode, allocate),
    core.copyName(normalizer, allocate),
    core.copyWords(tokens, allocate),
    tokens.length / 3,
    0,
    CACHE_BYTES,
  ];
  return core.copyWords(words, allocate);
}

function isId(id) {
  return Number.isInteger(id) && id >= 0 && id < NO_ID;
}

function checkedIds(ids) {
  if (ids instanceof Uint32Array) return ids;
  const bad = Array.prototype.findIndex.call(ids, (id) => !isId(id));
  if (bad !== -1) {
    throw new PretokError(UNKNOWN_ID, `ids[${bad}] is ${ids[bad]}; expected an id`, bad);
  }
  return Uint32Array.from(ids);
}

/** Return work(), or undefined if it throws an error with the code `code`. */
function unless(code, work) {
  try {
    return work();
  } catch (error) {
    if (error.code === code) return undefined;
    throw error;
  }
}

/** Return the MergeTrace of a pre-token from the results of pretok_wasm_merge_steps. */
function mergeTrace(bytes, starts, merges, ids) {
  let bounds = Uint32Array.of(...starts, bytes.length);
  const pieces = bounds;
  const steps = [];
  for (let at = 0; at < merges.length; at += 5) {
    const [left, right, id, rank, place] = merges.subarray(at, at + 5);
    bounds = bounds.filter((_, i) => i !== place + 1);
    steps.push({ left, right, id, rank, place, pieces: bounds });
  }
  // If the vocabulary has the whole pre-token as a token, `ids` may be this token alone. The merges
  // then do not lead to `ids`, and end with more pieces. So the trace has no steps.
  const isWholeToken = ids.length !== bounds.length - 1;
  return { bytes, isWholeToken, pieces, steps: isWholeToken ? [] : steps, ids };
}
