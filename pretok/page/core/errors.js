// The errors of the library.

/** The values of pretok_status in pretok.h, in order. */
const CODES = [
  "OK", "OUT_OF_MEMORY", "INVALID_ARGUMENT", "TOO_SMALL", "UNKNOWN_NAME", "CANNOT_READ",
  "MALFORMED", "UNSUPPORTED", "SPECIAL_TOKEN", "UNKNOWN_ID", "REMOVES_TEXT", "FINISHED",
  "NO_TOKEN", "INTERNAL",
];

/** Pairs: advice in messages of the C library, and the text that replaces it in JavaScript. */
const ADVICE = [
  [
    /; encode it as text with PRETOK_SPECIAL_TEXT.*/s,
    '; pass special: "text" to encode it as text, or special: "allow" to encode it as its id',
  ],
  [/options\./g, ""],
];

export class PretokError extends Error {
  constructor(code, message, position = 0) {
    super(message);
    this.name = "PretokError";
    this.code = code;
    this.position = position;
  }
}

/** Return the error for a status of the C library. */
export function errorOf(status, message, position) {
  for (const [pattern, advice] of ADVICE) message = message.replace(pattern, advice);
  return new PretokError(CODES[status] ?? "INTERNAL", message, position);
}

export function invalid(message) {
  return new PretokError("INVALID_ARGUMENT", message);
}
