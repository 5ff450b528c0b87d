"""Find the input files of a corpus: files, folders and glob patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from errno import ENOENT

from bpe.errors import TextFileError
from bpe.text_files import find_suffix, suffix_of

SUFFIXES = (".txt", ".jsonl", ".parquet")


def find_inputs(inputs: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files that `inputs` name, in order.

    A folder gives its files with a known suffix, also from folders inside it, in the order of their
    paths; hidden files and folders are omitted. A glob pattern gives the files that match it, and
    the files of folders that match it, in the same order. Raises TextFileError for a file of
    unknown type, for an input without files, and for a file that occurs twice; OSError for a
    missing file.
    """
    names: list[str] = []
    for item in inputs:
        files = list(_files_of(os.fspath(item)))
        if not files:
            raise TextFileError(
                f"{os.fspath(item)}: no file to read; expected files that end in "
                f"{', '.join(SUFFIXES)}, or one of these with .gz or .zst"
            )
        names += files
    seen = set()
    for name, path in zip(names, real_paths(names), strict=True):
        if path in seen:
            raise TextFileError(f"{name}: the inputs have this file twice; name it once")
        seen.add(path)
    return names


def real_paths(names: Iterable[str]) -> Iterator[str]:
    """Yield the real path of each file; find the real path of each folder once."""
    folders: dict[str, str] = {}
    for name in names:
        folder, base = os.path.split(name)
        if os.path.islink(name):
            yield os.path.realpath(name)
            continue
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        yield os.path.join(folders[folder], base)


def _files_of(name: str) -> Iterator[str]:
    """Yield the files that one input names; see `find_inputs`."""
    if os.path.isdir(name):
        yield from _files_in(name)
    elif not os.path.exists(name) and any(char in name for char in "*?["):
        # A recursive pattern may match a folder and also the files in this folder.
        names: set[str] = set()
        for match in glob.glob(name, recursive=True):
            if os.path.isdir(match):
                names.update(_files_in(match))
            elif find_suffix(match, SUFFIXES):
                names.add(match)
        yield from sorted(names, key=_parts)
    else:
        if not os.path.lexists(name):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
        suffix_of(name, SUFFIXES)
        yield name


def _files_in(folder: str) -> Iterator[str]:
    """Return the files in a folder, and in folders inside it, with a known suffix."""
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names += [
            os.path.join(place, file)
            for file in files
            if not file.startswith(".") and find_suffix(file, SUFFIXES)
        ]
    return iter(sorted(names, key=_parts))


def _parts(name: str) -> list[str]:
    """Return the sort key of a path: its parts, so that the order is the same on each system."""
    return name.replace(os.sep, "/").split("/")
