// Ask the worker, and receive its answers.

const { worker, failure } = window.core; // set by start.js
const waiting = new Map();
let lastId = 0;
let problem = null;

failure.then(stop);

worker.addEventListener("message", ({ data: { id, result, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(result);
  else reject(new Error(error));
});

/** Reject all questions, now and later. */
function stop() {
  problem = new Error("the page could not load the core; reload the page");
  for (const { reject } of waiting.values()) reject(problem);
  waiting.clear();
}

/** Call HANDLERS[kind] of worker.js with `message`. Return a promise of its result. */
export function ask(kind, message = {}, transfer = []) {
  if (problem) return Promise.reject(problem);
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
