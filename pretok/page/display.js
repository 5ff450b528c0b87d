// Make the bytes of a piece visible: white space, control characters, invalid bytes.

import { runs } from "./utf8.js";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const INVISIBLE = /^[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+$/u;
/** Characters at the start of a grapheme cluster that show nothing, such as variation selectors. */
const IGNORABLE = /^\p{Default_Ignorable_Code_Point}*/u;
const MARK = /^\p{M}/u;
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI " +
  "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";
const CONTROL_NAMES = CONTROLS.split(" ");
const SPACES = { "→": "tab", "⏎": "line break" };
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Maximum bytes of a piece that are shown. */
export const MAX_SHOWN = 256;

/**
 * Return the parts to show for `bytes`: objects {kind, text}.
 *
 * The kinds are "text", "space", "control" (the name of a character that shows nothing), "byte" (a
 * byte that is not valid UTF-8, in two hexadecimal digits), "break" (a new line in the display, with
 * an empty text), and "more" (the number of bytes not shown).
 */
export function visibleParts(bytes) {
  const parts = [];
  for (const run of runs(bytes.subarray(0, shownLength(bytes)))) {
    if (run.byte !== undefined) parts.push({ kind: "byte", text: hex(run.byte) });
    else for (const { segment } of graphemes.segment(run.text)) addGrapheme(parts, segment);
  }
  const hidden = bytes.length - shownLength(bytes);
  if (hidden > 0) parts.push({ kind: "more", text: `… ${hidden.toLocaleString("en")} bytes more` });
  return parts;
}

/** Return `bytes` as text for a screen reader. */
export function spokenText(bytes) {
  if (bytes.length === 0) return "nothing";
  const words = [];
  for (const { kind, text } of visibleParts(bytes)) {
    const last = words.length - 1;
    if (kind === "break") continue;
    if (kind === "text" && last >= 0 && words[last].kind === "text") words[last].text += text;
    else if (kind === "space") words.push({ kind, text: SPACES[text] ?? "space" });
    else words.push({ kind, text: kind === "byte" ? `byte ${text}` : text });
  }
  return words.map((word) => word.text).join(" ");
}

/** Return true if the first letter of `text` belongs to a script that runs from right to left. */
export function startsRightToLeft(text) {
  const letter = /\p{L}/u.exec(text.slice(0, 4096));
  return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
}

/** Return the code points of `bytes` as "U+0041", and invalid bytes as "<0xNN>". */
export function codePointNames(bytes) {
  return [...runs(bytes)].flatMap((run) =>
    run.byte !== undefined ? [`<0x${hex(run.byte)}>`] : Array.from(run.text, codePointName),
  );
}

function addGrapheme(parts, text) {
  const add = (kind, shown) => parts.push({ kind, text: shown });
  if (text === " ") add("space", "·");
  else if (text === "\t") add("space", "→");
  else if (text === "\n" || text === "\r\n") {
    if (text.length > 1) add("control", "CR");
    add("space", "⏎");
    add("break", "");
  } else if (INVISIBLE.test(text)) for (const char of text) add("control", controlName(char));
  else {
    const [ignorable] = IGNORABLE.exec(text);
    for (const char of ignorable) add("control", controlName(char));
    const rest = text.slice(ignorable.length);
    add("text", MARK.test(rest) ? `\u25cc${rest}` : rest);
  }
}

function controlName(char) {
  const code = char.codePointAt(0);
  return code === 0x7f ? "DEL" : (CONTROL_NAMES[code] ?? codePointName(char));
}

function codePointName(char) {
  return `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Return `byte` in two hexadecimal digits. */
export function hex(byte) {
  return byte.toString(16).toUpperCase().padStart(2, "0");
}

/** Return the number of bytes to show: at most MAX_SHOWN, without cutting a code point. */
function shownLength(bytes) {
  let length = Math.min(bytes.length, MAX_SHOWN);
  while (length < bytes.length && length > MAX_SHOWN - 4 && (bytes[length] & 0xc0) === 0x80) length--;
  return length;
}
