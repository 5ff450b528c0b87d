// Answer the calls of tests: each line of the input is {module, calls, texts}, and each line of the
// output is the list of answers, or {failure}. Each list of calls gets a new instance of the module.
//
// A call is {on, method, arguments}. `on` names the object: null is the module, {get: [name,
// options]} a pre-tokenizer, {load: [path, options]} a tokenizer, and {splitOf: [path, options]} the
// pre-tokenizer of this tokenizer. The answer is {value}, or
// {error, message, position}, where `error` is the code of the PretokError. A call with `each` is
// repeated with each of `texts` as the first argument; its answer is a list of answers. Arguments
// and values are JSON, except that {bytes: "hex"} is a Uint8Array.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

async function answersTo(line) {
  const { module, calls, texts } = JSON.parse(line, decoded);
  const { load } = await import(pathToFileURL(module));
  const pretok = await load();
  const objects = new Map();

  function objectOf(on) {
    if (on === null) return pretok;
    const key = JSON.stringify(on);
    if (!objects.has(key)) {
      const [name, options] = on.get ?? on.load ?? on.splitOf;
      const load = () => pretok.loadTokenizer(readFileSync(name), options);
      const make = on.get ? () => pretok.get(name, options) : load;
      objects.set(key, on.splitOf ? load().preTokenizer() : make());
    }
    return objects.get(key);
  }

  function answers({ each, ...call }) {
    if (!each) return answer(call);
    return texts.map((text) => answer({ ...call, arguments: [text, ...call.arguments] }));
  }

  function answer({ on, method, arguments: values }) {
    try {
      const object = objectOf(on);
      const member = object[method];
      return { value: (typeof member === "function" ? object[method](...values) : member) ?? null };
    } catch (error) {
      if (error.name !== "PretokError") throw error;
      return { error: error.code, message: error.message, position: error.position };
    }
  }

  return calls.map(answers);
}

function decoded(key, value) {
  return value !== null && typeof value === "object" && typeof value.bytes === "string"
    ? new Uint8Array(Buffer.from(value.bytes, "hex"))
    : value;
}

function encodable(key, value) {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("hex") };
  return ArrayBuffer.isView(value) ? Array.from(value) : value;
}

for await (const line of createInterface({ input: process.stdin })) {
  const answers = await answersTo(line).catch((error) => ({ failure: String(error.stack) }));
  process.stdout.write(`${JSON.stringify(answers, encodable)}\n`);
}
