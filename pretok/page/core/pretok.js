// The entry point of pretok in JavaScript; pretok.d.ts documents all functions and classes.

import { PretokError, invalid } from "./errors.js";
import { start } from "./memory.js";
import { NO_RULE, PreTokenizer } from "./pre_tokenizer.js";
import { PRESETS, UNICODE_VERSIONS, UNICODE_VERSION } from "./presets.js";
import { Tokenizer } from "./tokenizer.js";

export { NO_RULE, PretokError };

export async function load(source = new URL("pretok.wasm", import.meta.url)) {
  return new Pretok(await start(await compiled(source)));
}

/** Return the WebAssembly.Module for `source`: bytes, a URL, or a module. */
async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof URL || typeof source === "string") source = await fetched(source);
  return WebAssembly.compile(source);
}

async function fetched(url) {
  // In Node, read files without fetch(), which rejects file: URLs there.
  if (String(url).startsWith("file:") && globalThis.process?.versions?.node) {
    return (await import("node:fs/promises")).readFile(new URL(url));
  }
  const response = await fetch(url);
  if (!response.ok) {
    throw new PretokError("CANNOT_READ", `${url}: ${response.status} ${response.statusText}`);
  }
  return response.arrayBuffer();
}

const BY_NAME = new Map();
for (const preset of PRESETS) {
  for (const name of [preset.name, ...preset.aliases]) BY_NAME.set(name, preset);
}

class Pretok {
  #core;

  constructor(core) {
    this.#core = core;
    this.version = core.cString(core.call("pretok_version"));
    this.unicodeVersion = UNICODE_VERSION;
    this.unicodeVersions = Object.freeze(UNICODE_VERSIONS.filter((version) => this.#has(version)));
    Object.freeze(this);
  }

  get memoryBytes() {
    return this.#core.memoryBytes;
  }

  presets() {
    return PRESETS;
  }

  get(name, { unicode } = {}) {
    const preset = BY_NAME.get(name);
    if (preset === undefined) {
      throw new PretokError("UNKNOWN_NAME", `no preset is named ${name}; presets() lists them`);
    }
    const version = unicode ?? preset.unicode;
    if (!this.unicodeVersions.includes(version)) {
      throw new PretokError(
        "UNKNOWN_NAME",
        `unknown Unicode version ${version}; expected one of ${this.unicodeVersions.join(", ")}`,
      );
    }
    return new PreTokenizer(this.#core, preset, version);
  }

  loadTokenizer(bytes, options = {}) {
    if (options === null || typeof options !== "object") {
      throw invalid(`options is ${String(options)}; expected an object, such as {preset: "gpt2"}`);
    }
    return new Tokenizer(this.#core, bytes, options, (name, unicode) => this.get(name, { unicode }));
  }

  #has(version) {
    return this.#core.scoped((allocate) =>
      this.#core.call("pretok_wasm_has_unicode", this.#core.copyName(version, allocate)),
    );
  }
}
