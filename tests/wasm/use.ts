// Uses each part of the npm package with its types. test_types.py compiles and runs it.

import {
  NO_RULE, PretokError, load, type ExplainedStage, type MergeTrace, type Pretok, type PreTokenizer,
  type Preset, type RuleSpans, type TokenSpans, type Tokenizer,
} from "pretok";

const pretok: Pretok = await load();
const versions: readonly string[] = [pretok.version, pretok.unicodeVersion, ...pretok.unicodeVersions];
const preset: Preset | undefined = pretok.presets().find(({ name }) => name === "cl100k");
const split: PreTokenizer = pretok.get("cl100k", { unicode: "16.0" });
const words: string[] = split.split("I'm 25");
const views: Uint8Array[] = split.split(new Uint8Array([97, 32, 98]));
const offsets: Uint32Array = split.offsets("né 1", "byte");
const spans: RuleSpans = split.splitWithRules("a 1");
const stages: ExplainedStage[] = split.explain("a 1", 2, "codepoint");
const isLastRule: boolean = stages[0].rule !== NO_RULE && stages[0].tried.at(-1)?.end === 3;

// A .tiktoken file of all bytes, and one merge.
const lines = Array.from({ length: 256 }, (_, byte) => `${btoa(String.fromCharCode(byte))} ${byte}`);
const file = new TextEncoder().encode([...lines, `${btoa("ab")} 256`, ""].join("\n"));
const options = { preset: "cl100k", specialTokens: { "<|end|>": 257 } };
const tokenizer: Tokenizer = pretok.loadTokenizer(file, options);
const ids: Uint32Array = tokenizer.encode("ab<|end|>", { special: ["<|end|>"] });
const tokens: TokenSpans = tokenizer.encodeWithOffsets("né", { unit: "utf16" });
const trace: MergeTrace = tokenizer.mergeSteps("ab");
const own: PreTokenizer | null = tokenizer.preTokenizer();
const token: Uint8Array | undefined = tokenizer.tokenBytes(256);
const facts: [string, number, number | undefined, boolean] = [
  tokenizer.presetName, tokenizer.size, tokenizer.tokenId("ab"), tokenizer.isSpecial(257),
];
const text: string = tokenizer.decode(ids, { skipSpecial: true }) + tokenizer.specialTokens[0].text;

function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof PretokError) return `${error.code} ${error.position}`;
  }
  return "";
}
// @ts-expect-error: a unit has another name
const badUnit: string = codeOf(() => split.offsets("a", "character"));
// @ts-expect-error: not a text
const badText: string = codeOf(() => tokenizer.encode(5));
const refused: string = codeOf(() => tokenizer.encode("ab<|end|>"));

const results = {
  versions: versions.length > 2, rules: preset?.rules.length === split.rules().length, words,
  views: views.map((view) => view.length), offsets: [...offsets], starts: [...spans.starts],
  count: split.count("a 1"), isLastRule, ids: [...ids], ends: [...tokens.ends],
  merges: trace.steps.map(({ left, right, id }) => [left, right, id]), own: own?.preset.name,
  token: token && [...token], facts, text, bytes: [...tokenizer.decodeBytes([256])],
  counted: tokenizer.count("abab"), badUnit, badText, refused, memory: pretok.memoryBytes > 0,
};
tokenizer.free();
split.free();
console.log(JSON.stringify(results));
