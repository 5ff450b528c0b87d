// Start the worker and compile the core while the browser loads the modules of the page.
//
// index.html runs this file before its modules, whose first run waits for the layout of the page.

const worker = new Worker("worker.js", { type: "module" });

/** The worker, and a promise that resolves if the worker or the core cannot be loaded. */
window.core = {
  worker,
  failure: new Promise((resolve) => {
    worker.addEventListener("error", resolve);
    fetch("core/pretok.wasm")
      .then((response) => response.arrayBuffer())
      .then((bytes) => WebAssembly.compile(bytes))
      .then((core) => worker.postMessage({ core }))
      .catch(resolve);
  }),
};
