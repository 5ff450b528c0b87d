"""The page that shows splits and tokens in a browser, and the server of `pretok page`.

The page is static: index.html, page.css, modules in JavaScript, and the C++ core as WebAssembly in
pretok.js and pretok.wasm, which cpp/wasm/ builds. The documentation contains the same files.
"""
