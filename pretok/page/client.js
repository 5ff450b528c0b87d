// Ask the worker, and receive its answers.

export const FAILURE = "the page could not load the core; reload the page";
const waiting = new Map();
let worker = null;
let lastId = 0;
let problem = null;

/** Start the worker, and give it the core that start.js loads. */
function startWorker() {
  const created = new Worker("worker.js", { type: "module" });
  created.addEventListener("error", stop);
  created.addEventListener("message", ({ data: { id, result, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(error));
  });
  window.core.then((core) => created.postMessage({ core }), stop);
  return created;
}

/** Reject all questions, now and later. */
function stop() {
  problem = new Error(FAILURE);
  for (const { reject } of waiting.values()) reject(problem);
  waiting.clear();
}

/** Call HANDLERS[kind] of handlers.js in the worker. Return a promise of its result. */
export function ask(kind, message = {}, transfer = []) {
  if (problem) return Promise.reject(problem);
  worker ??= startWorker();
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
