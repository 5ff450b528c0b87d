// The first run of the page. It does not wait for the worker, which takes longer to start.

import { FAILURE } from "./client.js";
import { SAMPLES } from "./samples.js";

export const DEFAULT_PRESETS = ["cl100k", "qwen2"];

/** The message "run" of a page whose address has no fragment. */
export const FIRST_RUN = {
  source: Object.values(SAMPLES)[0],
  settings: [{ preset: DEFAULT_PRESETS[0], unicode: "", special: false }],
  view: "pre-tokens",
};

/** Return the answers to the messages "start" and FIRST_RUN. */
export async function runFirst() {
  const loaded = Promise.all([import("./handlers.js"), window.core]);
  const [{ HANDLERS, start }, core] = await loaded.catch(() => {
    throw new Error(FAILURE);
  });
  await start(core);
  return [HANDLERS.start(), HANDLERS.run(FIRST_RUN)];
}
