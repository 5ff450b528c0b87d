// Convert a .model file of minbpe to a tokenizer.json with the same ids, because the core cannot
// read minbpe files.
//
// Line 1 of a minbpe file begins with FIRST_LINE, line 2 is the pattern, and line 3 is the number
// of special tokens. Then come one line for each special token, and one line with two ids for each
// merge.

const FIRST_LINE = "minbpe v1";
const BYTES = " bytes=";
/** Maximum bytes of all tokens together: otherwise a few lines could make very long tokens. */
const MAX_BYTES = 64 << 20;

/** Return whether `bytes` are the content of a minbpe file. */
export function isMinbpe(bytes) {
  return new TextDecoder().decode(bytes.subarray(0, FIRST_LINE.length)) === FIRST_LINE;
}

/** Return {bytes, pattern}: a tokenizer.json without a split, and the pattern of the file. */
export function fromMinbpe(bytes) {
  const lines = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const specials = numbers(lines, 2, 1)[0];
  const tokens = byteTokens(lines[0]);
  const merges = [];
  let size = 0;
  for (let i = 3 + specials; i < lines.length; i++) {
    const pair = numbers(lines, i, 2).map((id) => tokens.get(id));
    if (pair.includes(undefined)) throw malformed(i, "the ids of two tokens of earlier lines");
    size += pair[0].length + pair[1].length;
    if (size > MAX_BYTES) throw malformed(i, `at most ${MAX_BYTES} bytes of tokens`);
    tokens.set(256 + merges.length, pair[0] + pair[1]);
    merges.push(pair);
  }
  const vocab = Object.fromEntries([...tokens].map(([id, token]) => [token, id]));
  if (Object.keys(vocab).length !== tokens.size) {
    throw new Error(
      "two tokens of the minbpe file have the same bytes; load it with the Python package bpe",
    );
  }
  const json = {
    version: "1.0",
    added_tokens: lines.slice(3, 3 + specials).map((_, i) => special(lines, 3 + i)),
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab, merges },
  };
  return { bytes: new TextEncoder().encode(JSON.stringify(json)), pattern: lines[1] };
}

/**
 * Return a Map from the id of each byte to the character that stands for the byte in a
 * tokenizer.json. `line`, the first line of the minbpe file, may list the ids.
 */
function byteTokens(line) {
  const codes = Array.from({ length: 256 }, (_, byte) => byte);
  const isShown = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let next = 256;
  for (const byte of codes.keys()) if (!isShown(byte)) codes[byte] = next++;
  const ids = line === FIRST_LINE ? codes.keys() : fromHex(line);
  return new Map(Array.from(ids, (id, byte) => [id, String.fromCodePoint(codes[byte])]));
}

/** Return the id of each byte from `line`, which lists the ids as hexadecimal numbers. */
function fromHex(line) {
  const digits = line.startsWith(FIRST_LINE + BYTES) ? line.slice((FIRST_LINE + BYTES).length) : "";
  const ids = Array.from(digits.match(/[0-9a-f]{2}/g) ?? [], (pair) => parseInt(pair, 16));
  if (digits.length !== 512 || new Set(ids).size !== 256) throw malformed(0, "256 ids after 'bytes='");
  return ids;
}

/** Return the special token in line `i`, counted from 0, as JSON. */
function special(lines, i) {
  const found = /^(\S+) (\d{1,9})$/.exec(lines[i] ?? "");
  if (!found) throw malformed(i, "a special token and its id");
  return { id: Number(found[2]), content: found[1], special: true, normalized: false };
}

/** Return the `count` numbers in line `i`, counted from 0. */
function numbers(lines, i, count) {
  const fields = (lines[i] ?? "").split(" ");
  if (fields.length !== count || !fields.every((field) => /^\d{1,9}$/.test(field))) {
    throw malformed(i, count === 1 ? "a number" : "two ids");
  }
  return fields.map(Number);
}

function malformed(i, expected) {
  const error = new Error(`line ${i + 1} of the minbpe file: expected ${expected}`);
  error.code = "MALFORMED";
  return error;
}
