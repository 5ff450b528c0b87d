// The worker computes everything after the first run, so that the page still responds while a long
// text is split.
//
// One message is {core}, the compiled WebAssembly module. Each other message is {id, kind, ...} and
// has one answer, {id, result} or {id, error}.

import { HANDLERS, messageOf, start } from "./handlers.js";

let useCore;
const started = new Promise((resolve) => (useCore = resolve)).then(start);

addEventListener("message", async ({ data: { core, id, kind, ...rest } }) => {
  if (core) return useCore(core);
  try {
    await started;
    postMessage({ id, result: await HANDLERS[kind](rest) });
  } catch (error) {
    postMessage({ id, error: messageOf(error) });
  }
});
