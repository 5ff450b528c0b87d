"""Write the library as two files, pretok.hpp and pretok.cpp, for projects without a build system.

    python cpp/amalgamate.py FOLDER

Both go into FOLDER, which is made if need be. They are compiled with nothing but -std=c++17 and
-pthread. pretok.hpp is the C header with the C++ one; C programs may include it too. Reading
tokenizer.json, which needs a library, is left out.

Source files have names for themselves, in nameless namespaces, which may meet in one file. Those
that any other file has too get the name of their source file behind them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("core", "formats", "capi")
TARGETS = ("pretok_core", "pretok_formats", "pretok")
INCLUDE = re.compile(r'#include "(.+)"$')
MACRO = re.compile(r"#define (\w+)")
# Comments and literals are tokens, so that nothing within them is taken for a name.
TOKEN = re.compile(r"""//.*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w[\w']*|\s+|::|->|.""")
# In a line that starts a declaration (clang-format indents no other): the name that it declares.
DECLARED = re.compile(
    r"(?:(?:struct|class|union|enum|enum class|using|namespace) (\w+)"
    r"|(?!static_assert|template|using)\w.*?(?<![\w:])(?!__attribute__)(\w+)(?: ?=|[\[({;]))"
)
TEMPLATE = re.compile(r"template <[^>]*> ")
WORD = re.compile(r"[A-Za-z_]\w*$")


def sources(cmake: str) -> list[Path]:
    """Return the source files of the library, in the order in which CMakeLists.txt has them."""
    found: list[Path] = []
    for target in TARGETS:
        listed = re.search(rf"add_library\({target}\b([^)]*)\)", cmake)
        if listed is None:
            raise ValueError(f"CMakeLists.txt has no add_library({target} …)")
        found += [HERE / name for name in listed[1].split() if name.endswith(".cpp")]
    # Its system headers define macros that nothing behind it should meet.
    return sorted(found, key=lambda path: path.name == "input_file.cpp")


def find(name: str, beside: Path) -> Path:
    """Return the file that `beside` includes as `name`."""
    for folder in (beside.parent, *(HERE / folder for folder in FOLDERS)):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{beside}: there is no {name!r} to include")


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def words_of(path: Path) -> set[str]:
    """Return the names in a file, but for those that can only be members."""
    return {token for line in lines_of(path)
            for before, token in tokens(line) if before not in (".", "->")}  # fmt: skip


def tokens(line: str) -> Iterator[tuple[str, str]]:
    """Yield each token of a line with the one before it, spaces aside."""
    before = ""
    for token in TOKEN.findall(line):
        yield before, token
        before = before if token.isspace() else token


def own_names(lines: list[str]) -> set[str]:
    """Return what the lines of a source file declare in its nameless namespaces."""
    found = set()
    inside = False
    for line in lines:
        if line in ("namespace {", "} // namespace"):
            inside = line.endswith("{")
        declared = DECLARED.match(TEMPLATE.sub("", line)) if inside else None
        if declared is not None:
            found.add(declared[1] or declared[2])
    return found


def renamed(line: str, names: dict[str, str]) -> str:
    """Return a line with other names in place of `names`."""
    changed = ""
    two_before = ""
    for before, token in tokens(line):
        # A member of what is renamed may be its constructor; other members are not meant.
        other = before in (".", "->") or (before == "::" and two_before not in names)
        changed += token if other else names.get(token, token)
        two_before = two_before if token == "::" or token.isspace() else token
    return changed


def inlined(path: Path, seen: set[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the lines of `path` with the project's own headers in place of their includes.

    With each line comes its file. A header is taken once; a table (.inc) is part of the file that
    includes it.
    """
    seen.add(path)
    yield path, f"// ---- {path.relative_to(HERE).as_posix()}"
    conditions = 0
    for line in lines_of(path):
        conditions += line.startswith("#if") - line.startswith("#endif")
        included = INCLUDE.match(line)
        if included is not None and conditions > (path.suffix == ".h"):
            raise ValueError(f"{path}: {line!r} is within an #if, but others need that file too")
        if included is not None:
            other = find(included[1], path)
            if other.suffix == ".inc":
                yield from ((path, part) for _, part in inlined(other, seen))
            elif other not in seen:
                yield from inlined(other, seen)
        elif line != "#pragma once":
            yield path, line


def source_file(cmake: str) -> Iterator[str]:
    """Yield the lines of pretok.cpp behind its first ones."""
    paths = sources(cmake)
    files = [path for folder in FOLDERS for path in (HERE / folder).rglob("*.[hc]*")]
    words = {path: words_of(path) for path in files}
    seen: set[Path] = set()
    for path in paths:
        shared = set().union(*(words[other] for other in files if other != path))
        lines = list(inlined(path, seen))
        own = [line for of, line in lines if of == path]
        names = {name: f"{name}_{path.stem}" for name in own_names(own) & shared}
        for of, line in lines:
            yield renamed(line, names) if of == path else line
        yield from (f"#undef {macro[1]}" for macro in map(MACRO.match, own) if macro is not None)


def amalgamation() -> dict[str, str]:
    """Return the text of each file, by its name."""
    cmake = (HERE / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(pretok VERSION ([\d.]+)", cmake)
    if version is None:
        raise ValueError("CMakeLists.txt has no project(pretok VERSION …)")
    head = f"// pretok {version[1]} in two files, GENERATED by cpp/amalgamate.py. Do not edit."
    c_header = HERE / "capi" / "pretok.h"
    header = [
        *(line for _, line in inlined(c_header, set())),
        "#ifdef __cplusplus",
        *(line for _, line in inlined(HERE / "capi" / "pretok.hpp", {c_header})),
        "#endif",
    ]
    first = [f'#define PRETOK_VERSION "{version[1]}"',
             "#ifndef _FILE_OFFSET_BITS", "#define _FILE_OFFSET_BITS 64", "#endif"]  # fmt: skip
    texts = {"pretok.hpp": header, "pretok.cpp": [*first, *source_file(cmake)]}
    return {name: "\n".join([head, *lines, ""]) for name, lines in texts.items()}


def main(arguments: list[str]) -> int:
    """Write the files; return the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python cpp/amalgamate.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in amalgamation().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
