/**
 * pretok in JavaScript: split text into pre-tokens, and encode it with the vocabulary of a model.
 *
 * A text is a string, or a Uint8Array that holds UTF-8. The functions copy a text into the memory
 * of the WebAssembly module, and free the copy before they return.
 *
 * A lone surrogate in a string counts as 3 bytes, 1 code point and 1 UTF-16 code unit. Its general
 * category is C. Only `Tokenizer` replaces it by U+FFFD. A byte that is not valid UTF-8 counts as 1
 * in each unit. Its general category is C too.
 */

export type Text = string | Uint8Array;

/**
 * The unit of positions: UTF-8 bytes, Unicode code points, or UTF-16 code units. The indices of a
 * JavaScript string count UTF-16 code units.
 */
export type Unit = "byte" | "codepoint" | "utf16";

/** The error that all functions throw. Its message says what was expected, and what to do. */
export class PretokError extends Error {
  /** The kind of error, such as "UNKNOWN_NAME", "MALFORMED", "UNSUPPORTED" or "SPECIAL_TOKEN". */
  readonly code: string;
  /**
   * For a refused special token or byte, its byte offset in the text. For an unknown id, its index
   * in the ids. Otherwise 0.
   */
  readonly position: number;
}

/**
 * Compiles and starts the WebAssembly module. Each call of `load` returns an independent instance
 * with its own memory of at most 2 GiB. If a function needs more memory, it throws a PretokError
 * with the code "OUT_OF_MEMORY", and so do all later calls with this instance.
 *
 * @param source The bytes of pretok.wasm, its compiled module, or its URL. The default is the file
 *   pretok.wasm in the folder of this script.
 */
export function load(
  source?: ArrayBuffer | Uint8Array | WebAssembly.Module | URL | string,
): Promise<Pretok>;

export interface Pretok {
  /** The version of pretok, such as "0.1.0". */
  readonly version: string;
  /** The default Unicode version, such as "16.0". */
  readonly unicodeVersion: string;
  /** All Unicode versions that the module has, such as "15.0" and "16.0". */
  readonly unicodeVersions: readonly string[];
  /** The current size of the memory of the module, in bytes. */
  readonly memoryBytes: number;

  /** Returns all built-in presets. */
  presets(): readonly Preset[];

  /**
   * Returns the pre-tokenizer of a preset.
   *
   * @param name The name or an alias of a preset, such as "cl100k" or "qwen2".
   * @param options.unicode A Unicode version. The default is the version of the preset.
   */
  get(name: string, options?: { unicode?: string }): PreTokenizer;

  /**
   * Loads a tokenizer from the bytes of a file: tokenizer.json, .tiktoken, .model (SentencePiece),
   * .gguf or .pretok. The content decides the format.
   */
  loadTokenizer(bytes: ArrayBuffer | Uint8Array, options?: TokenizerOptions): Tokenizer;
}

/** A named way to split text: a published regular expression, and the engine that it is for. */
export interface Preset {
  readonly name: string;
  readonly aliases: readonly string[];
  /** "hf" is Hugging Face's tokenizers (Oniguruma), and "tiktoken" is tiktoken (fancy-regex). */
  readonly engine: "hf" | "tiktoken";
  /** The Unicode version of the engine. */
  readonly unicode: string;
  /**
   * "tested": tests compare the preset with its engine. "approximate": `source` says how the preset
   * differs. "unknown": the regular expression is not from the model's own file.
   */
  readonly exactness: "tested" | "approximate" | "unknown";
  /** The place where the regular expression was published, such as a file of a repository. */
  readonly source: string;
  /** True if a stage drops parts of the text. */
  readonly dropsText: boolean;
  /** The first stage splits the text. Each later stage splits every piece of the previous stage. */
  readonly stages: readonly Stage[];
  /** The rules of all stages, in order. */
  readonly rules: readonly Rule[];
}

export interface Stage {
  /** The published regular expression of the stage; "" for a stage that has none. */
  readonly pattern: string;
  /** The treatment of matches, as in Split of Hugging Face's library tokenizers. */
  readonly behavior:
    | "isolated"
    | "removed"
    | "merged_with_previous"
    | "merged_with_next"
    | "contiguous";
  /** If true, the stage treats matches as the text between matches, and that text as matches. */
  readonly invert: boolean;
}

/** One alternative of a regular expression. The first rule that matches makes the pre-token. */
export interface Rule {
  /** The number of the rule among the rules of all stages, from 0. */
  readonly index: number;
  /** The number of the stage, from 0. */
  readonly stage: number;
  /**
   * The rule in the notation of the Python package, such as "Run(LETTER, lead=SPACE)"; "" for a
   * preset that is not built in.
   */
  readonly name: string;
  /** The alternative of the regular expression, such as " ?\\p{L}+". */
  readonly pattern: string;
}

/** Stands for the index of a rule if no rule matched the text. */
export const NO_RULE: -1;

/** Splits text into pre-tokens. The time is linear in the length of the text. */
export interface PreTokenizer {
  readonly preset: Preset;
  /** The Unicode version, such as "16.0". */
  readonly unicode: string;

  /** Returns the pre-tokens. They are slices of a string, or views of a Uint8Array. */
  split(text: string): string[];
  split(text: Uint8Array): Uint8Array[];

  /** Returns the number of pre-tokens. */
  count(text: Text): number;

  /**
   * Returns the boundaries of the n pre-tokens: n + 1 numbers. The first number is 0, and the last
   * number is the length of the text. Throws if the preset drops text; use `splitWithRules` then.
   *
   * @param unit The default is the unit that indexes `text`: "utf16" or "byte".
   */
  offsets(text: Text, unit?: Unit): Uint32Array;

  /** Returns the rules of all stages: `preset.rules`. */
  rules(): readonly Rule[];

  /** Returns the span and the rule of each pre-token. Slower than `offsets`. */
  splitWithRules(text: Text, unit?: Unit): RuleSpans;

  /**
   * Explains how each stage splits the text at `position`. The list has one item for each stage. It
   * ends early if a stage drops the text at `position`. `position` must be less than the length of
   * the text, and may be within a character.
   */
  explain(text: Text, position: number, unit?: Unit): ExplainedStage[];

  /** Frees the memory of the pre-tokenizer. Any later call throws. */
  free(): void;
}

/** The half-open spans of n pre-tokens, and their rules. */
export interface RuleSpans {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** The index of the rule, or NO_RULE. See `PreTokenizer.rules`. */
  readonly rules: Int32Array;
}

/** One stage of a split at one position. All positions are in the unit of the call. */
export interface ExplainedStage {
  readonly stage: number;
  /** The span of the piece that the stage splits: the whole text in the first stage. */
  readonly pieceStart: number;
  readonly pieceEnd: number;
  /**
   * The position where the rules were tried: the start of the match, or, if no rule matched, the
   * start of the code point.
   */
  readonly start: number;
  /** The rules that were tried at `start`, in order. Only the last of these rules may match. */
  readonly tried: readonly TriedRule[];
  /** The index of the rule that matched, among the rules of all stages, or NO_RULE. */
  readonly rule: number;
  /** The span of the part that the stage makes at the position: the piece of the next stage. */
  readonly partStart: number;
  readonly partEnd: number;
  /** True if the stage drops the part. */
  readonly isDropped: boolean;
}

export interface TriedRule {
  /** The index of the rule among the rules of all stages. */
  readonly rule: number;
  /** The end of the match, or null if the rule does not match. */
  readonly end: number | null;
}

export interface TokenizerOptions {
  /** The name or an alias of a preset. Necessary for .tiktoken files, which do not name one. */
  preset?: string;
  /** The Unicode version of the preset. */
  unicode?: string;
  /** For models that need NFC if the file does not say so, such as a GGUF file. */
  normalizer?: "NFC";
  /** More special tokens and their ids, in addition to those of the file. */
  specialTokens?: Readonly<Record<string, number>>;
}

export interface EncodeOptions {
  /**
   * The treatment of special tokens in the text. "raise" throws, "text" encodes them as ordinary
   * text, and "allow" encodes them as their ids. A list has the special tokens to encode as ids;
   * all other special tokens are ordinary text. The default is "raise", so untrusted text cannot
   * inject special tokens.
   */
  special?: "raise" | "text" | "allow" | readonly string[];
  /** If true, adds the ids that the file puts before and after a text. The default is false. */
  addSpecialTokens?: boolean;
}

/** Encodes text to ids, and decodes ids. */
export interface Tokenizer {
  /** The name of the preset; "" if the file has its own pre-tokenizer, or none. */
  readonly presetName: string;
  /** The Unicode version of the pre-tokenizer; "" if the model does not split text. */
  readonly unicode: string;
  /** The largest id plus one. */
  readonly size: number;

  /**
   * Returns a pre-tokenizer that splits like the tokenizer. A .pretok file may have a preset that is
   * not built in. Returns null for a model that merges the characters of the whole text, such as
   * Llama 2, because it does not split text. `free` the pre-tokenizer as well as the tokenizer.
   */
  preTokenizer(): PreTokenizer | null;
  /** The special tokens, in the order of the file. */
  readonly specialTokens: readonly { readonly text: string; readonly id: number }[];

  /** Returns the ids of a text. */
  encode(text: Text, options?: EncodeOptions): Uint32Array;

  /** Returns the number of ids of a text. */
  count(text: Text, options?: EncodeOptions): number;

  /**
   * Returns the ids of a text, and the span of each id in the text.
   *
   * A token may have only some bytes of a character. In the units "codepoint" and "utf16" its span
   * then covers the whole character, so spans may overlap. Throws if the tokenizer would normalize
   * the text to a different text, or if `addSpecialTokens` is true.
   *
   * @param options.unit The default is the unit that indexes `text`: "utf16" or "byte".
   */
  encodeWithOffsets(text: Text, options?: EncodeOptions & { unit?: Unit }): TokenSpans;

  /** Decodes ids to text. Replaces each invalid UTF-8 sequence by U+FFFD. */
  decode(ids: ArrayLike<number>, options?: { skipSpecial?: boolean }): string;

  /** Decodes ids to bytes. */
  decodeBytes(ids: ArrayLike<number>, options?: { skipSpecial?: boolean }): Uint8Array;

  /** Returns the bytes of a token, or undefined if no token has the id. */
  tokenBytes(id: number): Uint8Array | undefined;

  /** Returns the id of the token with these bytes, or undefined if there is no such token. */
  tokenId(token: Text): number | undefined;

  isSpecial(id: number): boolean;

  /**
   * Returns the merges that make the ids of one pre-token, in order. A special token in `preToken`
   * is ordinary text. Throws if the pre-token has more than 4,096 bytes.
   */
  mergeSteps(preToken: Text): MergeTrace;

  /** Frees the memory of the tokenizer. Any later call throws. */
  free(): void;
}

/** Ids and their half-open spans. */
export interface TokenSpans {
  readonly ids: Uint32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** The merges of one pre-token. Each merge joins two neighboring pieces of the pre-token. */
export interface MergeTrace {
  /** The bytes of the pre-token. All pieces are spans of these bytes. */
  readonly bytes: Uint8Array;
  /**
   * True if the whole pre-token is a token that merges do not make. Then there are no steps, and
   * `ids` has one id.
   */
  readonly isWholeToken: boolean;
  /** The boundaries of the pieces before the first merge, in bytes; usually one piece per byte. */
  readonly pieces: Uint32Array;
  readonly steps: readonly MergeStep[];
  /** The ids of the pre-token. */
  readonly ids: Uint32Array;
}

/** One merge: the neighbors `left` and `right` become the token `id`. */
export interface MergeStep {
  /** The ids of the two tokens that merge. */
  readonly left: number;
  readonly right: number;
  readonly id: number;
  /** The rank of the merge. The merge with the lowest rank comes first. */
  readonly rank: number;
  /** The index of the new piece, from 0. */
  readonly place: number;
  /** The boundaries of all pieces after the merge, in bytes of the pre-token. */
  readonly pieces: Uint32Array;
}
