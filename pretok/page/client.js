// Ask the worker, and receive its answers.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let lastId = 0;

// Compile the core while the worker loads its scripts.
fetch(new URL("core/pretok.wasm", import.meta.url))
  .then((response) => response.arrayBuffer())
  .then((bytes) => WebAssembly.compile(bytes))
  .then((core) => worker.postMessage({ core }))
  .catch(stop);

worker.addEventListener("message", ({ data: { id, result, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(result);
  else reject(new Error(error));
});

worker.addEventListener("error", stop);

function stop() {
  const error = new Error("the page could not load the core; reload the page");
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

/** Ask the worker for `kind`; see HANDLERS in worker.js. */
export function ask(kind, message = {}, transfer = []) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, kind, ...message }, transfer);
  });
}

/**
 * Return a function that runs `task`. Calls while `task` runs do not start it at once: all of them
 * together make it run once more afterwards.
 */
export function latest(task) {
  let running = null;
  let isStale = false;
  const run = async () => {
    try {
      while (isStale) {
        isStale = false;
        await task();
      }
    } finally {
      running = null;
    }
  };
  return () => {
    isStale = true;
    running ??= run();
    return running;
  };
}
