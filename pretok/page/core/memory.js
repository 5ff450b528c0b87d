// The instance of the WebAssembly module: calls, texts, results and errors.

import { PretokError, errorOf, invalid } from "./errors.js";

/** The index of a unit is its number in cpp/wasm/source.hpp. */
const UNITS = ["codepoint", "byte", "utf16"];
const BYTE = UNITS.indexOf("byte");
/** The size of the C struct pretok_error, and the offset of its message, in bytes. */
const ERROR_SIZE = 248;
const ERROR_MESSAGE = 8;
/**
 * For a string of fewer UTF-16 code units than this number, a copy reserves 3 bytes for each unit,
 * which is always enough. For a longer string, a copy first reserves 1 byte for each unit, which is
 * enough only for ASCII.
 */
const SHORT = 1 << 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const isWellFormed = String.prototype.isWellFormed
  ? (text) => text.isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

/** Start the module. `module` is a WebAssembly.Module. */
export async function start(module) {
  const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  let memory;
  const imports = {
    env: {
      emscripten_notify_memory_growth() {},
      // The hash tables of the core take a random key.
      getentropy(pointer, size) {
        crypto.getRandomValues(new Uint8Array(memory.buffer, pointer, size));
        return 0;
      },
    },
    wasi_snapshot_preview1: {
      clock_time_get(clock, precision, pointer) {
        const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
        new DataView(memory.buffer).setBigUint64(pointer, nanoseconds, true);
        return 0;
      },
      proc_exit(code) {
        throw new Error(`exit ${code}`);
      },
    },
  };
  const { exports } = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  exports._initialize();
  return new Core(exports);
}

export class Core {
  #exports;
  #error;
  #failure = null;

  constructor(exports) {
    this.#exports = exports;
    this.#error = this.call("malloc", ERROR_SIZE);
  }

  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  /** Call an export of the module. If the module stops, this call and all later calls throw. */
  call(name, ...values) {
    if (this.#failure) throw this.#failure;
    try {
      return this.#exports[name](...values);
    } catch (error) {
      // The module is built without C++ exceptions, so it stops if memory runs out.
      this.#failure = new PretokError(
        "OUT_OF_MEMORY",
        `the module stopped (${error.message}); probably it needs more memory than the 2 GiB that ` +
          "it may have, or than the system gives: call load() again, and pass less text",
      );
      throw this.#failure;
    }
  }

  /** Call an export whose last parameter is a pretok_error. Throw the error, if there is one. */
  check(name, ...values) {
    const status = this.call(name, ...values, this.#error);
    if (status === 0) return;
    const bytes = this.bytes(this.#error + ERROR_MESSAGE, ERROR_SIZE - ERROR_MESSAGE);
    const message = decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
    throw errorOf(status, message, this.word(this.#error + 4));
  }

  /** Return a view of memory. A later call may make the memory grow; then the view is invalid. */
  bytes(pointer, size) {
    return new Uint8Array(this.#exports.memory.buffer, pointer, size);
  }

  words(pointer, count) {
    return new Uint32Array(this.#exports.memory.buffer, pointer, count);
  }

  word(pointer) {
    return this.words(pointer, 1)[0];
  }

  /** Return the text at `pointer`, which ends with NUL. */
  cString(pointer) {
    const bytes = this.bytes(pointer, this.memoryBytes - pointer);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  /** Return work(allocate), and then free all memory that `allocate(size)` returned. */
  scoped(work) {
    const pointers = [];
    const allocate = (size) => {
      const pointer = this.call("malloc", Math.max(size, 1));
      if (pointer === 0) {
        throw new PretokError("OUT_OF_MEMORY", `there is no memory for ${size} bytes`);
      }
      pointers.push(pointer);
      return pointer;
    };
    try {
      return work(allocate);
    } finally {
      if (!this.#failure) for (const pointer of pointers) this.call("free", pointer);
    }
  }

  /**
   * Return work(copy), where `copy` is {pointer, size, isUtf8, isAscii, allocate}. `size` counts
   * bytes if `isUtf8` is 1, and 32-bit code points if it is 0. If `isAscii` is true, the text is
   * ASCII; if it is false, the text may be ASCII. If `keepsSurrogates`, a string with lone
   * surrogates is copied as code points; else each lone surrogate becomes U+FFFD.
   */
  withText(text, work, keepsSurrogates = false) {
    return this.scoped((allocate) => {
      if (typeof text === "string") {
        if (keepsSurrogates && !isWellFormed(text)) {
          const points = Uint32Array.from(text, (character) => character.codePointAt(0));
          const pointer = allocate(points.byteLength);
          this.words(pointer, points.length).set(points);
          return work({ pointer, size: points.length, isUtf8: 0, isAscii: false, allocate });
        }
        const { pointer, size } = this.#copyString(text, allocate);
        return work({ pointer, size, isUtf8: 1, isAscii: size === text.length, allocate });
      }
      const bytes = bytesOf(text);
      const pointer = allocate(bytes.length);
      this.bytes(pointer, bytes.length).set(bytes);
      return work({ pointer, size: bytes.length, isUtf8: 1, isAscii: false, allocate });
    });
  }

  #copyString(text, allocate) {
    const capacity = text.length < SHORT ? 3 * text.length : text.length;
    const pointer = allocate(capacity);
    const { read, written } = encoder.encodeInto(text, this.bytes(pointer, capacity));
    if (read === text.length) return { pointer, size: written };
    const bytes = encoder.encode(text);
    const larger = allocate(bytes.length);
    this.bytes(larger, bytes.length).set(bytes);
    return { pointer: larger, size: bytes.length };
  }

  /** Copy a short string, and add NUL at its end. Return 0, the null pointer, for null. */
  copyName(text, allocate) {
    if (text === undefined || text === null) return 0;
    if (typeof text !== "string" || text.includes("\0")) {
      throw invalid(`${String(text)} is not a name; expected a string without NUL`);
    }
    const { pointer } = this.#copyString(`${text}\0`, allocate);
    return pointer;
  }

  /** Copy 32-bit numbers. */
  copyWords(words, allocate) {
    const pointer = allocate(4 * words.length);
    this.words(pointer, words.length).set(words);
    return pointer;
  }

  /** Return copies of the first `count` results of the last call, and free the results. */
  takeResults(count) {
    const results = [];
    for (let index = 0; index < count; ++index) {
      const size = this.call("pretok_wasm_result_size", index);
      results.push(this.words(this.call("pretok_wasm_result", index), size).slice());
    }
    this.call("pretok_wasm_clear");
    return results;
  }
}

/** Return `text`, a Uint8Array or an ArrayBuffer, as a Uint8Array. */
export function bytesOf(text) {
  if (text instanceof Uint8Array) return text;
  if (text instanceof ArrayBuffer) return new Uint8Array(text);
  throw invalid(`the text is of type ${typeof text}; expected a string, a Uint8Array or an ArrayBuffer`);
}

/** Return the number of `unit`. If `unit` is undefined, use the unit in which `text` is indexed. */
export function unitNumber(unit, text) {
  if (unit === undefined) return UNITS.indexOf(typeof text === "string" ? "utf16" : "byte");
  const number = UNITS.indexOf(unit);
  if (number === -1) throw invalid(`unit ${String(unit)}; expected one of ${UNITS.join(", ")}`);
  return number;
}

/** Return the unit `number`; but BYTE if `copy` is ASCII, because then all units are equal. */
export function unitIn(copy, number) {
  return copy.isAscii ? BYTE : number;
}

export function decodeUtf8(bytes) {
  return decoder.decode(bytes);
}
