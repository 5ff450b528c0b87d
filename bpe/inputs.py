"""Find input files: files, folders and glob patterns, and the format of each file."""

from __future__ import annotations

import glob
import logging
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from errno import ENOENT
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from bpe.errors import TextFileError, shortened
from bpe.text_files import PACKED, blocks_of_file

logger = logging.getLogger("bpe")

TEXT, JSON_LINES, PARQUET = ".txt", ".jsonl", ".parquet"
FORMATS = (TEXT, JSON_LINES, PARQUET)
"""The suffixes of the known formats. A file that the caller names is a text with any other one."""
SUFFIXES = tuple(suffix + packed for suffix in FORMATS for packed in PACKED)
STANDARD_INPUT = "-"
HEAD = 1 << 13
"""A NUL in this many first bytes shows that a file of an unknown type is not a text."""
WILDCARDS = "*?["
MAX_SHOWN = 8
"""The maximum number of suffixes that a message lists."""
MAX_NAME_LENGTH = 4096
"""A longer str counts as a text, not as the name of a file."""

Path: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Found:
    """The files that inputs name, and how many files of folders were left out, by suffix."""

    files: list[str]
    left_out: dict[str, int]


def find_inputs(
    inputs: Iterable[Path],
    include: str | Iterable[str] = (),
    standard_input: bool = False,
    reported: bool = True,
    binary: bool = False,
) -> Found:
    """Return the files that `inputs` name, in order.

    A folder gives its files with a known suffix, also from folders inside it, in the order of their
    paths. If `include` has glob patterns, a folder gives the files whose names match one of them
    instead. Hidden files and folders, and links to folders, are omitted. A glob pattern gives the
    files that match it, and the files of folders that match it, in the same order. If
    `standard_input` is true, the name "-" stays. If `binary` is true, files that are not texts are
    files like any other.

    Logs a warning about files of folders that were left out, unless `reported` is false. Raises
    TextFileError for a file that is not a text, for an input without files, and for a file that
    occurs twice; OSError for a missing file or an unreadable folder; TypeError for a pattern that
    is not a str.
    """
    patterns = patterns_of(include)
    left_out: dict[str, str] = {}  # the path of each file that is left out, with the reason
    names: list[str] = []
    for item in inputs:
        name = os.fspath(item)
        if standard_input and name == STANDARD_INPUT:
            names.append(name)
            continue
        files = list(_files_of(name, patterns, left_out, binary))
        if not files:
            raise TextFileError(_no_file(name, patterns, _counted(left_out)))
        names += files
    seen = set()
    for name, path in zip(names, real_paths(names), strict=True):
        if path in seen:
            raise TextFileError(f"{name}: the inputs have this file twice; name it once")
        seen.add(path)
    # A pattern may match a folder, and also the files that the folder leaves out.
    for name in names:
        left_out.pop(name, None)
    found = Found(names, _counted(left_out))
    if reported and left_out:
        logger.warning("%s", left_out_message(found.left_out, patterns))
    return found


def patterns_of(include: str | Iterable[str]) -> tuple[str, ...]:
    """Return the glob patterns of an argument `include`; raise TypeError if it has another type.

    >>> patterns_of("*.md"), patterns_of(["*.md", "*.py"])
    (('*.md',), ('*.md', '*.py'))
    """
    is_one = isinstance(include, (str, bytes)) or not isinstance(include, Iterable)
    found: tuple[Any, ...] = (include,) if is_one else tuple(include)
    for pattern in found:
        if not isinstance(pattern, str):
            raise TypeError(
                f"include has {shortened(pattern)} of type {type(pattern).__name__}; expected a "
                "glob pattern such as '*.md', or several; omit include= for the known suffixes"
            )
    return found


def _counted(left_out: dict[str, str]) -> dict[str, int]:
    """Return how many files were left out for each reason, the most frequent reason first."""
    counts = Counter(left_out.values())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def format_of(name: str) -> str:
    """Return the format of a file that the caller may read: one of FORMATS."""
    return find_suffix(name) or TEXT


def find_suffix(name: str) -> str | None:
    """Return the one of FORMATS that `name` ends with, not counting .gz and .zst, or None."""
    lowered = name.lower()
    for suffix in FORMATS:
        if lowered.endswith(tuple(suffix + packed for packed in PACKED)):
            return suffix
    return None


def left_out_message(left_out: dict[str, int], patterns: tuple[str, ...] = ()) -> str:
    """Return the sentence about the files of folders that were left out."""
    count = sum(left_out.values())
    listed = [f"{number} {suffix}" for suffix, number in left_out.items()][:MAX_SHOWN]
    more = f" and {len(left_out) - MAX_SHOWN} more suffixes" if len(left_out) > MAX_SHOWN else ""
    known = f"only {TEXT}, {JSON_LINES} and {PARQUET} files are read"
    if patterns:
        known = f"only names that match {' or '.join(map(repr, patterns))} are read"
    reason = f"{known}; pass include='*' to read every text file"
    if "*" in patterns:
        reason = "binary files and links to folders are not read"
    return (
        f"left out {count} file{'s' * (count != 1)} in folders: {', '.join(listed)}{more}; {reason}"
    )


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


def names_files(text: str) -> str:
    """Return what `text` names, if it looks like a path or a glob pattern: "" if nothing exists.

    A path has a dot or a separator, so that single words are texts. The check is cheap for a text.
    """
    is_path = 0 < len(text) <= MAX_NAME_LENGTH and not {"\0", "\n"}.intersection(text)
    if not is_path or not any(map(str.isalnum, text)):
        return ""
    if not any(char in text for char in (".", "/", os.sep)):
        return ""
    if os.path.isfile(text):
        return "the name of a file"
    if os.path.isdir(text):
        return "the name of a folder"
    # Without `recursive`, "**" matches one level, so a pattern cannot search a whole disk.
    if any(char in text for char in WILDCARDS) and next(glob.iglob(text), None) is not None:
        return "a glob pattern of files"
    return ""


def refuse_name(text: str, advice: str) -> None:
    """Raise ValueError if a text names files; `advice` says how to pass the files."""
    if what := names_files(text):
        raise ValueError(
            f"text {shortened(text)} is {what}; {advice}, or pass bytes if it is the text itself"
        )


def _no_file(name: str, patterns: tuple[str, ...], left_out: dict[str, int]) -> str:
    """Return the message for an input that gives no file."""
    if left_out:
        return f"{name}: no file to read; {left_out_message(left_out, patterns)}"
    if not os.path.isdir(name):
        return f"{name}: no file matches this pattern"
    suffixes = f"{', '.join(FORMATS)}, or one of these with .gz or .zst"
    return f"{name}: no file to read; expected files that end in {suffixes}"


def _files_of(
    name: str, patterns: tuple[str, ...], left_out: dict[str, str], binary: bool
) -> Iterator[str]:
    """Yield the files that one input names; see `find_inputs`."""
    if os.path.isdir(name):
        yield from _files_in(name, patterns, left_out, binary)
    elif not os.path.lexists(name) and any(char in name for char in WILDCARDS):
        # A recursive pattern may match a folder and also the files in this folder.
        names: set[str] = set()
        _check_folders(name)
        for match in glob.glob(name, recursive=True):
            if os.path.isdir(match):
                names.update(_files_in(match, patterns, left_out, binary))
            else:
                _check_file(match, binary)
                names.add(match)
        yield from sorted(names, key=_parts)
    else:
        if not os.path.lexists(name):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
        _check_file(name, binary)
        yield name


def _check_folders(pattern: str) -> None:
    """Raise OSError for a folder of `pattern` that cannot be read; glob omits it silently."""
    folder = os.path.dirname(pattern)
    while folder:
        is_pattern = any(char in folder for char in WILDCARDS)
        for match in glob.glob(folder, recursive=True) if is_pattern else [folder]:
            if os.path.isdir(match):
                os.scandir(match).close()
        folder = os.path.dirname(folder) if is_pattern else ""


def _check_file(name: str, binary: bool) -> None:
    """Raise TextFileError if a file that the caller names has an unknown type, and is not a text.

    Raises OSError if the file cannot be opened.
    """
    if binary or find_suffix(name):
        open(name, "rb").close()  # raises OSError
    elif (at := _nul(name)) >= 0:
        raise TextFileError(
            f"{name}: byte {at} is NUL, so the file is not a text; expected a text in UTF-8, "
            f"or a {JSON_LINES} or {PARQUET} file"
        )


def _nul(name: str) -> int:
    """Return the offset of the first NUL in the first HEAD bytes of a file, or -1.

    Returns -1 for a pipe, because the bytes of a pipe can be read only once.
    """
    if not stat.S_ISREG(os.stat(name).st_mode):
        return -1
    for block in blocks_of_file(name, HEAD):
        return block.find(b"\0", 0, HEAD)
    return -1


def _files_in(
    folder: str, patterns: tuple[str, ...], left_out: dict[str, str], binary: bool
) -> Iterator[str]:
    """Return the files in a folder, and in folders inside it; see `find_inputs`."""
    names = []
    for place, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            if os.path.islink(path := os.path.join(place, name)):
                left_out[path] = "link to a folder"
        for file in files:
            if file.startswith("."):
                continue
            path = os.path.join(place, file)
            reason = _reason(path, file, patterns, binary)
            if reason:
                left_out[path] = reason
            else:
                names.append(path)
    return iter(sorted(names, key=_parts))


def _reason(path: str, file: str, patterns: tuple[str, ...], binary: bool) -> str:
    """Return "" if a file of a folder is read, else the name under which it is counted."""
    is_known = find_suffix(file) is not None
    is_wanted = any(fnmatchcase(file, pattern) for pattern in patterns) if patterns else is_known
    if not is_wanted:
        return _shown_suffix(file)
    if is_known or binary or not _is_binary(path):
        return ""
    return f"{_shown_suffix(file)} (binary)"


def _is_binary(path: str) -> bool:
    """Return whether a file of an unknown type is not a text. Errors appear when it is read."""
    try:
        return _nul(path) >= 0
    except (TextFileError, ModuleNotFoundError):
        return False


def _shown_suffix(file: str) -> str:
    """Return the suffix of a file, with that of its content if it is compressed."""
    base, packed = os.path.splitext(file.lower())
    inner = os.path.splitext(base)[1] if packed in PACKED else ""
    return inner + packed if len(inner + packed) <= 20 and inner + packed else "without suffix"


def _raise(error: OSError) -> None:
    raise error


def _parts(name: str) -> list[str]:
    """Return the sort key of a path: its parts, so that the order is the same on each system."""
    return name.replace(os.sep, "/").split("/")
