"""Draw the pictures of docs/how-to/plots.md from the texts of this repository.

python docs/tools/plots.py           # rewrite docs/pictures/plot-*.svg; needs matplotlib

It trains on the documentation, the Python source and the C++ source, and prints each command that
it runs. About one file in five is held out from training.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from bpe.cli import main as pretok

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
TEXTS = {"docs": ("*.md", "docs/**/*.md"), "python": ("pretok/**/*.py", "bpe/**/*.py"),
         "cpp": ("cpp/core/**/*.cpp", "cpp/core/**/*.hpp")}  # fmt: skip
GENERATED = ("table_", "script_table")
"""Names of files that begin with these words are left out."""
HELD_OUT = 5
"""One file in so many is held out."""
COMMANDS = """\
train docs.txt -n 4000 -o docs.json --curve plot-curve.svg --held-out docs-unseen.txt
train python.txt -n 4000 -o python.json
train cpp.txt -n 4000 -o cpp.json
compare docs.json python.json cpp.json --on docs-unseen.txt --on python-unseen.txt \
--on cpp-unseen.txt --plot plot-compare.svg
inspect docs.json --plot plot-inspect.svg
tokenize lines.jsonl --vocab docs.json -o corpus
corpus-info corpus --plot plot-lengths.svg
"""


def write_texts(folder: Path) -> None:
    """Write a file to train on and a held-out file for each of TEXTS, and the lines of docs."""
    for name, patterns in TEXTS.items():
        paths = {path for pattern in patterns for path in ROOT.glob(pattern)}
        parts: dict[bool, list[str]] = {True: [], False: []}
        for path in sorted(paths):
            if not path.name.startswith(GENERATED):
                # The choice does not change if there are more files.
                is_held_out = crc32(path.relative_to(ROOT).as_posix().encode()) % HELD_OUT == 0
                parts[is_held_out].append(path.read_text(encoding="utf-8"))
        for file, is_held_out in ((f"{name}.txt", False), (f"{name}-unseen.txt", True)):
            folder.joinpath(file).write_text("\n".join(parts[is_held_out]), encoding="utf-8")
    paragraphs = folder.joinpath("docs.txt").read_text(encoding="utf-8").split("\n\n")
    lines = [json.dumps({"text": paragraph}) for paragraph in paragraphs]
    folder.joinpath("lines.jsonl").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Write the pictures to docs/pictures/, or to the folder of the first argument."""
    pictures = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURES
    with TemporaryDirectory() as name:
        os.chdir(name)
        write_texts(Path(name))
        for command in COMMANDS.splitlines():
            print("pretok", command, flush=True)
            if pretok(command.split()):
                sys.exit(1)
        for path in Path(name).glob("plot-*.svg"):
            pictures.joinpath(path.name).write_bytes(path.read_bytes())
        os.chdir(ROOT)  # so that the folder can be deleted


if __name__ == "__main__":
    main()
