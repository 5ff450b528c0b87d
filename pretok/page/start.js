// Load and compile the core while the browser loads the modules of the page.
//
// index.html runs this file before its modules.

/** A promise of the compiled core. */
window.core = fetch("core/pretok.wasm")
  .then((response) => response.arrayBuffer())
  .then((bytes) => WebAssembly.compile(bytes));

// The first segmenter takes 9 ms to make, and others no time. Make it while the browser waits for
// files; display.js makes the one that it uses.
setTimeout(() => new Intl.Segmenter("en", { granularity: "grapheme" }));
