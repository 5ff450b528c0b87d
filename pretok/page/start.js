// Load and compile the core while the browser loads the modules of the page.
//
// index.html runs this file before its modules.

/** A promise of the compiled core. */
window.core = fetch("core/pretok.wasm")
  .then((response) => response.arrayBuffer())
  .then((bytes) => WebAssembly.compile(bytes));
