// Ask the worker, and receive its answers.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let lastId = 0;

worker.addEventListener("message", ({ data: { id, result, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(result);
  else reject(new Error(error));
});

worker.addEventListener("error", () => {
  for (const { reject } of waiting.values()) reject(new Error("the worker could not start"));
  waiting.clear();
});

/** Ask the worker for `kind`; see HANDLERS in worker.js. */
export function ask(kind, message = {}, transfer = []) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, kind, ...message }, transfer);
  });
}

/** Return a function that runs `task` once at a time, and once more if it was called meanwhile. */
export function latest(task) {
  let running = null;
  let isStale = false;
  const run = async () => {
    while (isStale) {
      isStale = false;
      await task();
    }
    running = null;
  };
  return () => {
    isStale = true;
    running ??= run();
    return running;
  };
}
