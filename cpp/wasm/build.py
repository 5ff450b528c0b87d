"""Build the WebAssembly module of the npm package with Emscripten.

python cpp/wasm/build.py    # writes pretok/page/core/pretok.wasm

Needs Emscripten 3.1, CMake and Ninja. The version of Emscripten that built the committed module is
in sources.json: the same version makes the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import sources

CPP = Path(__file__).resolve().parents[1]


def main() -> None:
    """Build the module, and print its size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=CPP.parent / "build" / "wasm")
    parser.add_argument("--unicode", default="all", help="Unicode versions, such as 16.0")
    parser.add_argument("--output", type=Path, default=sources.MODULE)
    options = parser.parse_args()
    build(options.build.resolve(), options.unicode)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(options.build / "wasm" / "pretok.wasm", options.output)
    if options.output.resolve() == sources.MODULE:
        sources.write(used_sources(options.build.resolve()), versions())
    data = options.output.read_bytes()
    print(f"{options.output}: {len(data):,} bytes, {len(gzip.compress(data, 9)):,} with gzip")


def build(folder: Path, unicode: str) -> None:
    """Configure and build the module in `folder`."""
    definitions = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_UNITY_BUILD": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "0",
        "PRETOK_TESTS": "OFF",
        "PRETOK_EXAMPLES": "OFF",
        "PRETOK_INSTALL": "OFF",
        "PRETOK_HUGE_PAGES": "OFF",
        "PRETOK_UNICODE": unicode,
    }
    arguments = [f"-D{name}={value}" for name, value in definitions.items()]
    run("emcmake", "cmake", "-S", str(CPP), "-B", str(folder), "-G", "Ninja", *arguments)
    run("cmake", "--build", str(folder), "--target", "pretok_wasm")


def used_sources(folder: Path) -> set[Path]:
    """Return the files of cpp/ that the compiler read, and the CMake file of the module."""
    listed = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "deps"], check=True, capture_output=True, text=True
    ).stdout
    paths = {Path(line.strip()) for line in listed.splitlines() if line.startswith(" ")}
    return {path for path in paths if CPP in path.parents} | {CPP / "wasm" / "CMakeLists.txt"}


def versions() -> dict[str, str]:
    """Return the version of Emscripten."""
    emcc = subprocess.run(["emcc", "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+\.\d+\.\d+)", emcc)
    return {"emscripten": found[1] if found else "unknown"}


def run(*command: str) -> None:
    """Run a command; raise CalledProcessError if it fails."""
    subprocess.run(command, check=True, env={**os.environ, "EMCC_STRICT": "1"})


if __name__ == "__main__":
    main()
