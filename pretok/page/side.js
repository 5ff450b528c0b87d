// One side of the comparison: a preset, or an open vocabulary with its split.

import { fromMinbpe, isMinbpe } from "./minbpe.js";
import { SPECIAL } from "./rule_numbers.js";
import { Utf8Text } from "./utf8.js";

export class Side {
  #pretok;
  #file = null;
  #tokenizer = null;
  #splitter = null;
  #problem = "";
  #loaded = "";
  #settings = { preset: "", unicode: "", special: false };

  constructor(pretok) {
    this.#pretok = pretok;
    this.reset();
  }

  /** Forget the results. */
  reset() {
    this.text = new Utf8Text(new Uint8Array());
    this.preTokens = null;
    this.tokens = null;
    this.segments = [];
    this.isNormalized = false;
    this.milliseconds = 0;
  }

  /**
   * Use the preset, Unicode version and treatment of special tokens in `settings`.
   *
   * The preset "" stands for the split that the vocabulary file names.
   */
  configure(settings) {
    this.#settings = settings;
    if (this.#file) this.#load(settings.preset, settings.unicode);
  }

  /**
   * Open the bytes of a vocabulary file. Return the preset in use: "" for the split of the file.
   *
   * A file that names no split gets `preset` and the Unicode version `unicode`.
   */
  open(name, bytes, { preset, unicode }) {
    const before = this.#file;
    this.#file = { name, bytes };
    this.#loaded = "";
    this.#problem = "";
    try {
      if (isMinbpe(bytes)) return this.#openMinbpe(preset, unicode);
      return this.#open(preset, unicode);
    } catch (error) {
      this.#file = before;
      if (error.code !== "UNSUPPORTED") throw error;
      const command = `bpe.load("${name}").save("name.pretok")`;
      throw new Error(`${error.message}. To open it here, convert it in Python: ${command}`);
    }
  }

  /** Close the vocabulary. */
  close() {
    this.#use(null, null);
    this.#file = null;
    this.#loaded = "";
  }

  /** Use a tokenizer and its pre-tokenizer, or no tokenizer. Free the ones before. */
  #use(tokenizer, splitter) {
    this.#tokenizer?.free();
    this.#splitter?.free();
    this.#tokenizer = tokenizer;
    this.#splitter = splitter;
  }

  /** Open a minbpe file with the preset whose pattern is in the file, or else with `preset`. */
  #openMinbpe(preset, unicode) {
    const { bytes, pattern } = fromMinbpe(this.#file.bytes);
    this.#file.bytes = bytes;
    const found = this.#pretok.presets().find(({ stages }) => {
      return stages.length === 1 && stages[0].pattern === pattern;
    });
    const used = pattern === "" ? "" : (found?.name ?? preset);
    this.#load(used, unicode);
    return used;
  }

  /**
   * Open a file with the split that it names. If it names none, or one that the core cannot load,
   * use the preset that has the name of the file, or else `preset`.
   */
  #open(preset, unicode) {
    try {
      this.#load("", unicode);
      return "";
    } catch (error) {
      if (error.code === "MALFORMED" || preset === "") throw error;
      const stem = this.#file.name.replace(/\.[^.]*$/, "");
      const named = this.#pretok.presets().find(({ name, aliases }) => [name, ...aliases].includes(stem));
      const used = named?.name ?? preset;
      this.#load(used, unicode);
      this.#problem = error.message.split(";")[0];
      return used;
    }
  }

  #load(preset, unicode) {
    const key = `${preset} ${unicode}`;
    if (key === this.#loaded) return;
    const { bytes, splitsNoText } = this.#file;
    if (preset && splitsNoText) {
      throw new Error(`${this.#file.name} does not split text; choose "split of the file"`);
    }
    const options = {};
    if (preset) options.preset = preset;
    if (preset && unicode) options.unicode = unicode;
    let tokenizer = this.#pretok.loadTokenizer(bytes, options);
    // A model that does not split text takes no Unicode version.
    if (!preset && unicode && ![unicode, ""].includes(tokenizer.unicode)) {
      tokenizer.free();
      tokenizer = this.#pretok.loadTokenizer(bytes, { unicode });
    }
    try {
      this.#use(tokenizer, tokenizer.preTokenizer());
    } catch (error) {
      tokenizer.free();
      throw error;
    }
    this.#file.splitsNoText = tokenizer.unicode === "";
    this.#loaded = key;
  }

  /** The pre-tokenizer in use; null if the model does not split text. */
  get splitter() {
    if (this.#tokenizer) return this.#splitter;
    return this.#pretok.get(this.#settings.preset, this.#settings.unicode);
  }

  /** Split and encode `source`. */
  run(source) {
    this.reset();
    this.text = source;
    const start = performance.now();
    if (this.#tokenizer) this.#encode();
    const splitter = this.splitter;
    if (splitter) this.#split(splitter);
    this.milliseconds = performance.now() - start;
  }

  /** Encode the text with offsets. */
  #encode() {
    const options = { special: this.#settings.special ? "allow" : "text", unit: "byte" };
    try {
      this.tokens = this.#tokenizer.encodeWithOffsets(this.text.bytes, options);
    } catch (error) {
      if (error.code !== "UNSUPPORTED") throw error;
      this.#encodeNormalized(options, error);
    }
  }

  /**
   * Encode the normalized text in place of the text. The normalized text is the text that the ids
   * decode to. If the normalized text and the text have different ids, throw `problem`.
   */
  #encodeNormalized(options, problem) {
    const ids = this.#tokenizer.encode(this.text.bytes, options);
    const normalized = this.#tokenizer.decodeBytes(ids);
    const tokens = this.#tokenizer.encodeWithOffsets(normalized, options);
    if (tokens.ids.length !== ids.length || tokens.ids.some((id, i) => id !== ids[i])) throw problem;
    this.text = new Utf8Text(normalized);
    this.tokens = tokens;
    this.isNormalized = true;
  }

  /** Split the text between special tokens, as the tokenizer does. */
  #split(splitter) {
    const { bytes } = this.text;
    const specials = this.#specials();
    if (specials.length === 0) {
      this.segments = [[0, bytes.length]];
      this.preTokens = splitter.splitWithRules(bytes, "byte");
      return;
    }
    const starts = [];
    const ends = [];
    const rules = [];
    const add = (from, to) => {
      if (from === to) return;
      this.segments.push([from, to]);
      const part = splitter.splitWithRules(bytes.subarray(from, to), "byte");
      for (let i = 0; i < part.starts.length; i++) {
        starts.push(from + part.starts[i]);
        ends.push(from + part.ends[i]);
        rules.push(part.rules[i]);
      }
    };
    let done = 0;
    for (const [from, to] of specials) {
      add(done, from);
      starts.push(from);
      ends.push(to);
      rules.push(SPECIAL);
      done = to;
    }
    add(done, bytes.length);
    this.preTokens = {
      starts: Uint32Array.from(starts),
      ends: Uint32Array.from(ends),
      rules: Int32Array.from(rules),
    };
  }

  /** Return the spans of the special tokens in the text; [] if it is encoded without them. */
  #specials() {
    if (!this.tokens || !this.#settings.special) return [];
    const special = new Set(this.#tokenizer.specialTokens.map((token) => token.id));
    const { ids, starts, ends } = this.tokens;
    const spans = [];
    for (let i = 0; i < ids.length; i++) if (special.has(ids[i])) spans.push([starts[i], ends[i]]);
    return spans;
  }

  /** Return a description of the side for the page. */
  describe() {
    const splitter = this.splitter;
    const counts = new Map();
    for (const rule of this.preTokens?.rules ?? []) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    return {
      vocabulary: this.#file && {
        name: this.#file.name,
        size: this.#tokenizer.size,
        special: this.#tokenizer.specialTokens.length,
        hasOwnSplit: this.#settings.preset === "",
        problem: this.#problem,
      },
      preset: splitter && describePreset(splitter),
      ruleCounts: counts,
      preTokens: this.preTokens && this.preTokens.starts.length,
      tokens: this.tokens && this.tokens.ids.length,
      isNormalized: this.isNormalized,
      milliseconds: this.milliseconds,
    };
  }

  /**
   * Return the pieces of `view`, which is "pre-tokens" or "tokens". If the side does not have these
   * pieces, return its other pieces.
   */
  pieces(view) {
    const pieces = view === "tokens" ? this.tokens : this.preTokens;
    return pieces ?? this.preTokens ?? this.tokens;
  }

  /** Return the rules that each stage tried at byte `start`, where a pre-token begins. */
  explain(start) {
    const segment = this.segments.find(([from, to]) => from <= start && start < to);
    if (!segment) return [];
    const [from, to] = segment;
    const stages = this.splitter.explain(this.text.bytes.subarray(from, to), start - from, "byte");
    const text = (begin, end) => this.text.bytes.slice(from + begin, from + end);
    return stages.map((stage) => ({
      ...stage,
      piece: text(stage.pieceStart, stage.pieceEnd),
      part: text(stage.partStart, stage.partEnd),
      before: stage.start < start - from,
      tried: stage.tried.map(({ rule, end }) => ({
        rule,
        match: end === null ? null : text(stage.start, end),
      })),
    }));
  }

  /** Return the MergeTrace (see pretok.d.ts) of the bytes from `start` to `end`. */
  merges(start, end) {
    return this.#tokenizer.mergeSteps(this.text.bytes.subarray(start, end));
  }
}

function describePreset({ preset, unicode }) {
  const { name, engine, exactness, source, stages, rules } = preset;
  return {
    name, engine, unicode, exactness, source,
    stages: stages.map(({ pattern, behavior, invert }) => ({ pattern, behavior, invert })),
    rules: rules.map(({ index, stage, pattern }) => ({ index, stage, pattern })),
  };
}
