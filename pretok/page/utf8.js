// Convert positions in UTF-8 to other units. An invalid byte counts as 1 in each unit.

const BLOCK = 256;
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Return the length in bytes of the valid UTF-8 sequence at index `at`; 0 if there is none. */
export function sequenceLength(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = bytes[at + 1];
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (!(second >= low && second <= high)) return 0;
  if (first < 0xe0) return 2;
  if ((bytes[at + 2] & 0xc0) !== 0x80) return 0;
  if (first < 0xf0) return 3;
  return (bytes[at + 3] & 0xc0) === 0x80 ? 4 : 0;
}

/** Yield {text} for each run of valid UTF-8, and {byte} for each byte that is not valid. */
export function* runs(bytes) {
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      if (at > start) yield { text: utf8.decode(bytes.subarray(start, at)) };
      yield { byte: bytes[at] };
      start = at + 1;
    }
    at += length || 1;
  }
  if (start < bytes.length) yield { text: utf8.decode(bytes.subarray(start)) };
}

/** A text as bytes. It converts positions to code points and UTF-16 code units. */
export class Utf8Text {
  // Three numbers for each block of BLOCK bytes: the position of the first character that starts in
  // the block, in bytes, in code points and in UTF-16 units. So #position usually scans one block.
  #blocks;

  constructor(bytes) {
    this.bytes = bytes;
    this.#blocks = new Uint32Array(3 * (Math.floor(bytes.length / BLOCK) + 1));
    let [byte, char, utf16, index] = [0, 0, 0, 0];
    while (byte < bytes.length) {
      if (byte >= BLOCK * index) this.#blocks.set([byte, char, utf16], 3 * index++);
      const length = sequenceLength(bytes, byte);
      byte += length || 1;
      char += 1;
      utf16 += length === 4 ? 2 : 1;
    }
    /** The length in each unit. */
    this.length = { byte, char, utf16 };
  }

  /** Return the span of bytes in each unit. It covers every code point with a byte in the span. */
  span(start, end) {
    const from = this.#position(start);
    const to = this.#position(end);
    if (to.byte < end) {
      to.char += 1;
      to.utf16 += sequenceLength(this.bytes, to.byte) === 4 ? 2 : 1;
    }
    return { byte: [start, end], char: [from.char, to.char], utf16: [from.utf16, to.utf16] };
  }

  /** Return the start, in each unit, of the character that has the byte `target`. */
  #position(target) {
    if (target >= this.bytes.length) return { ...this.length };
    let index = Math.floor(target / BLOCK);
    if (this.#blocks[3 * index] > target) index--;
    let [byte, char, utf16] = this.#blocks.subarray(3 * index, 3 * index + 3);
    for (;;) {
      const length = sequenceLength(this.bytes, byte) || 1;
      if (byte + length > target) return { byte, char, utf16 };
      byte += length;
      char += 1;
      utf16 += length === 4 ? 2 : 1;
    }
  }
}
