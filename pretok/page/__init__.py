"""The page that shows splits and tokens in a browser, and the server of `pretok page`.

The page is static: index.html, page.css and modules in JavaScript. The folder core/ has the C++
core as WebAssembly; cpp/wasm/build.py builds it. The documentation contains the same files.
"""
