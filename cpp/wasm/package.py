"""Write the npm package, from the files of the page and of cpp/wasm/npm.

python cpp/wasm/package.py FOLDER    # then: npm publish FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = (REPOSITORY / "pretok" / "page" / "core", REPOSITORY / "cpp" / "wasm" / "npm")


def write(folder: Path) -> None:
    """Write the package to `folder`. Exit with a message if `folder` is not empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty; expected a new or empty folder")
    for source in SOURCES:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    shutil.copy(REPOSITORY / "LICENSE", folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    write(Path(sys.argv[1]))
