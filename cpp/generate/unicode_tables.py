"""Generate the Unicode tables of Python and C++ from unicodedata2.

    python -m cpp.generate.unicode_tables            # rewrite every table
    python -m cpp.generate.unicode_tables --check    # exit status 1 if a committed table differs
    python -m cpp.generate.unicode_tables --only 18.0

unicodedata2 has one release per Unicode version. The generator takes each release from
`$PRETOK_UNICODEDATA2_DIR/<release>`. If this folder does not exist, the generator installs the
release with pip into a temporary folder. unicodedata2 does not know the scripts of code points, so
the Han code points come from han.json, which states its source.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from cpp.generate.files import CPP, REPOSITORY, parser, write_or_check
from pretok.unicode import VERSIONS, table_module
from pretok.unicode.atoms import ATOMS, WHITE_SPACE_CODE_POINTS, Atom

PYTHON_TABLES = REPOSITORY / "pretok" / "unicode"
CPP_TABLES = CPP / "core" / "unicode" / "generated"
COMMAND = "python -m cpp.generate.unicode_tables"

# Atoms are disjoint sets of code points; each character class of a preset is a union of atoms.
# PLAIN has the atom of a code point that is not Han, by its general category. The categories Zs, Zl
# and Zp are absent, because `atoms` handles white space before it looks up the category.
PLAIN = {
    **dict.fromkeys(["Lu", "Lt"], Atom.UPPER),
    "Ll": Atom.LOWER,
    **dict.fromkeys(["Lm", "Lo"], Atom.CASELESS),
    **dict.fromkeys(["Mn", "Mc", "Me"], Atom.MARK),
    "Nd": Atom.DIGIT,
    **dict.fromkeys(["Nl", "No"], Atom.OTHER_NUMBER),
    **dict.fromkeys(["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"], Atom.PUNCTUATION),
    **dict.fromkeys(["Sm", "Sc", "Sk", "So"], Atom.SYMBOL),
    **dict.fromkeys(["Cc", "Cf", "Cs", "Co", "Cn"], Atom.CONTROL),
}
# The atom of a Han code point, by the atom that PLAIN gives for its category.
HAN = {
    Atom.CASELESS: Atom.HAN_LETTER,
    Atom.MARK: Atom.HAN_MARK,
    Atom.OTHER_NUMBER: Atom.HAN_NUMBER,
    Atom.PUNCTUATION: Atom.HAN_PUNCTUATION,
    Atom.SYMBOL: Atom.HAN_SYMBOL,
}

# A program that prints the Unicode version of unicodedata2, and the category of each code point.
# Run it with the folder of a release of unicodedata2 on the path.
DUMP = (
    "import sys, unicodedata2 as u; sys.stdout.write(u.unidata_version + '\\n');"
    "sys.stdout.write(''.join(u.category(chr(c)) for c in range(0x110000)))"
)


class HanData(TypedDict):
    """The contents of han.json.

    `measured` maps a Unicode version to its measured `\\p{Han}`, a list of ranges [first, last].
    """

    source: str
    measured: dict[str, list[list[int]]]


def categories(version: str) -> list[str]:
    """Return the general category of each of the 0x110000 code points in `version`."""
    release = f"{version}.0"
    releases = os.environ.get("PRETOK_UNICODEDATA2_DIR")
    if releases and (Path(releases) / release).is_dir():
        return _dump(str(Path(releases) / release), release)
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run(
            [*install, "--target", folder, f"unicodedata2=={release}"],
            check=True,
            capture_output=True,
            text=True,
        )
        return _dump(folder, release)


def _dump(folder: str, release: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", DUMP],
        env={**os.environ, "PYTHONPATH": folder},
        check=True,
        capture_output=True,
        text=True,
    )
    version, _, names = done.stdout.partition("\n")
    if version != release:
        raise RuntimeError(f"expected unicodedata2 {release} in {folder}, got {version}")
    return [names[i : i + 2] for i in range(0, len(names), 2)]


def han(version: str, category: list[str]) -> set[int]:
    """Return the Han code points of `version`; `category` is the result of `categories`.

    If han.json lacks `version`, take the Han code points of its newest version, and return those
    that are assigned in `version`. For 16.0, a test checks that this gives exactly the measured
    set.
    """
    data: HanData = json.loads(Path(__file__).with_name("han.json").read_text())
    measured = data["measured"]
    exact = version in measured
    source = version if exact else max(measured, key=lambda v: float(v))
    members = {c for first, last in measured[source] for c in range(first, last + 1)}
    return members if exact else {c for c in members if category[c] != "Cn"}


def atoms(version: str) -> Iterator[Atom]:
    """Yield the atom of each code point, from U+0000 to U+10FFFF."""
    category = categories(version)
    is_han = han(version, category)
    for code_point, name in enumerate(category):
        if code_point in (0x0A, 0x0D):
            yield Atom.NEWLINE
        elif code_point == 0x20:
            yield Atom.SPACE
        elif code_point in WHITE_SPACE_CODE_POINTS:
            yield Atom.OTHER_SPACE
        else:
            yield HAN[PLAIN[name]] if code_point in is_han else PLAIN[name]


def runs(version: str) -> list[tuple[int, Atom]]:
    """Return (first code point, atom) of each maximal run of code points with the same atom."""
    runs: list[tuple[int, Atom]] = []
    for code_point, atom in enumerate(atoms(version)):
        if not runs or runs[-1][1] is not atom:
            runs.append((code_point, atom))
    return runs


def wrap(items: list[str], separator: str, indent: str, ends: str) -> str:
    """Join `items` with `separator` in lines of at most 100 columns; each line ends with `ends`."""
    lines: list[str] = []
    line = indent
    for item in items:
        if len(line) + len(item) + len(separator) + len(ends) > 100:
            lines.append(line.rstrip() + ends)
            line = indent
        line += item + separator
    lines.append(line.rstrip() + ends)
    return "\n".join(lines) + "\n"


def python_table(version: str, table: list[tuple[int, Atom]]) -> str:
    """Return the text of the Python module of `table`."""
    items = [f"{first:X}{ATOMS[atom].code}" for first, atom in table]
    return (
        f'"""GENERATED by `{COMMAND}`. Do not edit.\n\n'
        f"Unicode {version}: each item is the first code point of a run, in hexadecimal, and the\n"
        'code letter of its atom (pretok.unicode.atoms).\n"""\n\n'
        'RUNS = """\n' + wrap(items, " ", "", "") + '"""\n'
    )


def cpp_table(version: str, table: list[tuple[int, Atom]]) -> str:
    """Return the text of the C++ include file of `table`."""
    items = [f"0x{first << 8 | atom:X}" for first, atom in table]
    return (
        f"// GENERATED by `{COMMAND}`. Do not edit.\n"
        f"// Unicode {version}: each item is the first code point of a run << 8 | its atom.\n"
        "// clang-format off\n" + wrap(items, ", ", "", "") + "// clang-format on\n"
    )


def files(version: str) -> dict[Path, str]:
    """Return the path and the contents of each generated file of `version`."""
    table = runs(version)
    return {
        PYTHON_TABLES / f"{table_module(version)}.py": python_table(version, table),
        CPP_TABLES / f"unicode_{version.replace('.', '_')}.inc": cpp_table(version, table),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write or check the tables; return the exit status."""
    command_line = parser(COMMAND, __doc__)
    command_line.add_argument("--only", choices=VERSIONS, help="one Unicode version")
    options = command_line.parse_args(arguments)
    versions = [options.only] if options.only else VERSIONS
    all_files = {path: text for version in versions for path, text in files(version).items()}
    return write_or_check(COMMAND, all_files, options.check)


if __name__ == "__main__":
    sys.exit(main())
