"""Build programs and libraries once, for all processes of pytest and for later runs.

A folder in pytest's cache keeps the results. Its name is a hash of the sources, so a change builds
them again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from paths import CPP

Built: TypeAlias = "Callable[[str, Iterable[Path], Callable[[Path], None]], Path]"
"""The type of the fixture `built`, which takes a name, the sources and a function that builds."""
KEPT = 4
"""The number of folders that stay for each name: runs of several checkouts may share a cache."""


def library_sources() -> list[Path]:
    """Return the files that the C library is built of."""
    folders = [path for name in ("core", "formats", "capi") for path in (CPP / name).rglob("*.*")]
    return [CPP / "CMakeLists.txt", CPP / "amalgamate.py", *folders]


def compiler() -> str | None:
    """Return the path of the C++ compiler, or None.

    clang++ comes first, because it builds the library in half the time of g++.
    """
    names = (os.environ.get("CXX", ""), "clang++", "c++", "g++")
    return next(filter(None, map(shutil.which, names)), None)


def run(*command: str | Path) -> str:
    """Run a command of a build; return its messages. If it fails, raise AssertionError."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stderr


def built(
    cache: pytest.Cache | None, name: str, sources: Iterable[Path], build: Callable[[Path], None],
    spare: Path,
) -> Path:  # fmt: skip
    """Return the folder that `build` fills; call `build` only if no run has filled it yet.

    The result depends on `sources`, on `name` and on the compiler. Without a cache (`-p
    no:cacheprovider`), the folder is in `spare`. Skips the test without a Unix compiler.
    """
    if sys.platform == "win32" or compiler() is None:
        pytest.skip("building the C library needs Unix and a C++ compiler")
    import fcntl

    parent = spare / name if cache is None else cache.mkdir(f"pretok_{name}")
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / _hash(sources)
    with (parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may build
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            _remove_old([path for path in parent.iterdir() if (path / "done").exists()])
        (folder / "done").touch()
    return folder


def _hash(sources: Iterable[Path]) -> str:
    """Return a hash of the compiler and of the contents of `sources`."""
    command = str(compiler())
    hashed = hashlib.sha256(f"{command} {os.stat(command)[7:9]}".encode())
    for path in sorted(sources):
        hashed.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return hashed.hexdigest()[:16]


def _remove_old(folders: Sequence[Path]) -> None:
    """Keep the KEPT - 1 folders that were used last."""
    for path in sorted(folders, key=lambda path: (path / "done").stat().st_mtime)[: 1 - KEPT]:
        shutil.rmtree(path)
