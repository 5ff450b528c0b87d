"""Write generated files, or compare the committed files with the generated text."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CPP = REPOSITORY / "cpp"


def parser(command: str, description: str | None) -> argparse.ArgumentParser:
    """Return the argument parser of the generator that users run as `command`."""
    options = argparse.ArgumentParser(prog=command, description=(description or "").split("\n")[0])
    options.add_argument("--check", action="store_true", help="compare instead of writing")
    return options


def write_or_check(command: str, files: Mapping[Path, str], check: bool) -> int:
    """Write each text to its file. If `check`, write nothing and report the files that differ.

    Return the exit status. The report asks the user to run `command`, which rewrites the files.
    """
    if not check:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in files.items() if not _holds(path, text)]
    for path in stale:
        print(f"{path} is stale; run `{command}`", file=sys.stderr)
    return 1 if stale else 0


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def literal(text: str) -> str:
    """Return a C++ string literal with the UTF-8 of `text`."""
    codes = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return '"' + "".join(codes) + '"'


def table(name: str, items: Iterable[str], keywords: str = "constexpr") -> str:
    """Return the definition of a C++ array; `name` is its type and its name.

    `keywords` is "inline constexpr" for an array in a header that several files include, so that
    the program has one copy of the array.
    """
    lines = textwrap.fill(
        ", ".join(items),
        100,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return f"{keywords} {name}[] = {{\n{lines},\n}};\n"
