"""Print how many bytes each subset of the library adds to a program, as a Markdown table.

    python cpp/sizes.py FOLDER

FOLDER is for the CMake build. Each program is linked with the static library (Release, Unicode
16.0) so that the linker omits unused code, and stripped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPLIT = """\
#include <pretok.h>
int main(int count, char **names) {
  pretok_pre_tokenizer *split;
  pretok_span spans[8];
  size_t size;
  return pretok_pre_tokenizer_named(names[count - 1], 0, &split, 0) ||
         pretok_spans(split, "text", 4, spans, 8, &size, 0);
}
"""
ENCODE = """\
#include <pretok.h>
int main(int count, char **names) {
  pretok_tokenizer *tokenizer;
  uint32_t ids[8];
  char text[8];
  size_t size;
  return pretok_tokenizer_from_file(names[count - 1], 0, &tokenizer, 0) ||
         pretok_encode(tokenizer, "text", 4, 0, ids, 8, &size, 0) ||
         pretok_decode(tokenizer, ids, size, 0, text, 8, &size, 0);
}
"""
FORMATS = ("tiktoken", "json", "sentencepiece", "gguf", "pretok", "all")


def run(*command: str | Path) -> None:
    """Run a command without its output."""
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def build(folder: Path, formats: str) -> None:
    """Build the static library in `folder` with the readers of `formats`."""
    run("cmake", "-S", HERE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPRETOK_TESTS=OFF",
        "-DPRETOK_EXAMPLES=OFF", "-DPRETOK_INSTALL=OFF", "-DPRETOK_BUILD_SHARED=OFF",
        "-DPRETOK_UNICODE=16.0", f"-DPRETOK_FORMATS={formats}")  # fmt: skip
    run("cmake", "--build", folder, "--target", "pretok", "--parallel", str(os.cpu_count()))


def program_size(folder: Path, program: str) -> int:
    """Return the size of the stripped program, linked with the library in `folder`."""
    (folder / "program.c").write_text(program, encoding="utf-8")
    run("cc", "-O2", "-I", HERE / "capi", "-c", folder / "program.c", "-o", folder / "program.o")
    run("c++", "-pthread", "-Wl,--gc-sections", "-s", folder / "program.o",
        folder / "libpretok.a", "-o", folder / "program")  # fmt: skip
    return (folder / "program").stat().st_size


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of a program for each subset, in `folder`, which is for the build."""
    folder.mkdir(parents=True, exist_ok=True)
    build(folder, "all")
    found = {"split only": program_size(folder, SPLIT)}
    for formats in FORMATS:
        build(folder, formats)
        found[formats] = program_size(folder, ENCODE)
    return found


def main(arguments: list[str]) -> int:
    """Print the table; return the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python cpp/sizes.py FOLDER", file=sys.stderr)
        return 2
    print("| subset | bytes |\n|---|---|")
    for subset, size in sizes(Path(arguments[0])).items():
        print(f"| {subset} | {size:,} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
