"""The page that shows splits and tokens in a browser, and the server of `pretok page`.

The page is static: index.html, page.css, modules in JavaScript. The folder core/ has the C++ core
as WebAssembly, which cpp/wasm/build.py builds. The documentation contains the same files.
"""
