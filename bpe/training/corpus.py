"""Read the texts to train on from memory and files, with bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias, cast

import numpy as np

from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.errors import TextFileError, shortened
from bpe.inputs import (
    JSON_LINES,
    SUFFIXES,
    TEXT,
    find_inputs,
    format_of,
    names_files,
    patterns_of,
    refuse_name,
)
from bpe.parquet_input import null_message, rows_of_file
from bpe.text_files import blocks_of_file, lines_of_file, text_of_line
from bpe.training.limits import MAX_TEXT
from pretok.machine.backend import BackendName

Path: TypeAlias = os.PathLike[str]
TrainingSource: TypeAlias = Iterable[StrOrBytes] | Path | Iterable[Path]
Texts: TypeAlias = tuple[str | None, list[StrOrBytes] | Iterator[bytes]]
"""The path of a file or None, and texts, or the blocks of a file that is one text."""

BLOCK = 1 << 20
"""The size of a block of a long text: bytes of a file, code points of a str."""

EXPANSION = 4
"""The estimated size of the texts of a compressed file, divided by the size of the file."""
COMPRESSED = (".gz", ".zst", ".parquet")
LAST_CHARACTERS = frozenset(suffix[-1] for suffix in SUFFIXES + tuple(map(str.upper, SUFFIXES)))
"""The last characters of SUFFIXES. A str with another last character cannot name a text file."""
CHECKED = 64
"""The number of texts at the start of a source that may not be the name of any file or folder, nor
a glob pattern. Later texts may not be the name of a file with one of SUFFIXES."""
TEXT_OVERHEAD = 64
"""The estimated memory of a text besides its characters, in bytes.

It limits the number of texts in a batch, even if the texts are empty.
"""


def read_texts(
    source: TrainingSource,
    field: str = "text",
    max_text: int = MAX_TEXT,
    include: str | Iterable[str] = (),
    backend: BackendName = "python",
) -> Iterator[Texts]:
    """Yield the texts of `source`: lists of texts, and iterators over the blocks of a file.

    Each item of `source` is a text, or the path of a file, a folder or a glob pattern, for which
    `find_inputs` gives files; `include` is its argument. Each line of a .jsonl file is an object
    with a text under `field`. Each row of a .parquet file has a text in the column `field`. Any
    other file is one text. Files that end in .gz or .zst are unpacked. The caller must exhaust each
    iterator over blocks before it takes the next item.

    Raises TypeError if `source` is a single text, or an item is neither a text nor a path;
    ValueError if a str is the name of an existing file or folder, or a glob pattern of files;
    TextFileError if a file is damaged or malformed, or a line has more than `max_text` bytes;
    OSError if a file cannot be read.
    """
    items = source_items(source, BLOCK, include, backend)
    return chain.from_iterable(
        [(None, item)]
        if isinstance(item, list)
        else texts_of_file(name_of(item), field, max_text, backend)
        for item in items
    )


def source_items(
    source: TrainingSource,
    size: int,
    include: str | Iterable[str],
    backend: BackendName = "python",
) -> Iterator[list[StrOrBytes] | Path]:
    """Yield the items of `source`: lists of texts, and the paths of files.

    A list ends when the sizes of its texts add up to `size` or more. The size of a text is its
    length plus TEXT_OVERHEAD. The other arguments and the errors are those of `read_texts`.
    """
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        what = names_files(source) if isinstance(source, str) else ""
        raise TypeError(
            f"expected an iterable of texts or a pathlib.Path, got one {type(source).__name__}"
            + (f", {shortened(source)}, which is {what}" if what else "")
            + "; pass [text] to train on one text, or pathlib.Path(name) to train on a file, a "
            "folder or a glob pattern"
        )
    items: Iterable[object] = [source] if isinstance(source, os.PathLike) else source
    if not isinstance(items, Iterable):
        advice = "; it has no __iter__, so pass iter(source)"
        raise TypeError(
            f"expected an iterable of texts or a pathlib.Path, got {type(source).__name__}"
            f"{advice if hasattr(source, '__getitem__') else ''}"
        )
    patterns = patterns_of(include)
    if isinstance(items, (list, tuple)):
        items = _found(items, patterns)
        for item in items[:CHECKED]:
            _check_item(item)
    return _items(_checked(items), size, patterns, backend)


def _found(items: Sequence[object], include: tuple[str, ...]) -> Sequence[object]:
    """Return `items` with the files that its paths name instead of these paths.

    A wrong name is an error now, not after hours of training.
    """
    if not items or not isinstance(items[0], os.PathLike):
        return items
    paths = [name_of(item) for item in items if isinstance(item, os.PathLike)]
    if len(paths) < len(items):
        find_inputs(paths, include, reported=False)  # raises the errors
        return items
    return [_File(name) for name in find_inputs(paths, include).files]


class _File(os.PathLike[str]):
    """The path of a file that `find_inputs` has found."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name


def _checked(items: Iterable[object]) -> Iterator[object]:
    """Yield `items`; check the first CHECKED texts."""
    iterator = iter(items)
    for item in islice(iterator, CHECKED):
        _check_item(item)
        yield item
    yield from iterator


def _check_item(item: object) -> None:
    """Raise ValueError if `item` is a str that names files; files must be passed as paths."""
    if isinstance(item, str):
        refuse_name(item, f"pass pathlib.Path({shortened(item)}) to read the files")


def _items(
    items: Iterable[object], size: int, include: tuple[str, ...], backend: BackendName
) -> Iterator[list[StrOrBytes] | Path]:
    collect: Any = collect_batch
    if backend == "native":
        from pretok import _core

        collect = _core.gather
    iterator = iter(items)
    index = 0
    is_end = False
    while not is_end:
        batch, rest, is_end = collect(
            iterator, size, TEXT_OVERHEAD, "".join(LAST_CHARACTERS), _check_text
        )
        index += len(batch)
        if batch:
            yield batch
        for item in rest:
            if isinstance(item, _File):
                yield item
            elif isinstance(item, os.PathLike):
                yield from map(_File, find_inputs([name_of(item)], include).files)
            elif isinstance(item, (bytearray, memoryview)):
                yield [bytes(item)]
            else:
                raise TypeError(
                    f"item {index}: expected str, bytes holding UTF-8, or a path such as "
                    f"pathlib.Path; got {type(item).__name__}"
                )
            index += 1


def expected_size(source: TrainingSource, include: str | Iterable[str]) -> int | None:
    """Return the size of all texts of `source` in bytes, about; None if it is not known.

    It is the size of the files. A compressed file counts EXPANSION times.
    """
    items = [source] if isinstance(source, os.PathLike) else source
    if not isinstance(items, (list, tuple)) or not all(
        isinstance(item, os.PathLike) for item in items
    ):
        return None
    files = find_inputs(map(name_of, items), include, reported=False).files
    return sum(
        os.path.getsize(name) * (EXPANSION if name.lower().endswith(COMPRESSED) else 1)
        for name in files
    )


def texts_of_file(
    name: str, field: str, max_text: int = MAX_TEXT, backend: BackendName = "python"
) -> Iterator[Texts]:
    """Yield the texts of a file, as `read_texts` does."""
    if format_of(name) == TEXT:
        yield name, blocks_of_file(name, BLOCK)
        return
    reader = _texts_of_lines if format_of(name) == JSON_LINES else _texts_of_rows
    for batch in _items(reader(name, field, max_text), BLOCK, (), backend):
        yield name, cast("list[StrOrBytes]", batch)


def collect_batch(
    iterator: Iterator[object],
    max_size: int,
    text_overhead: int,
    last: str,
    check: Callable[[str], None],
) -> tuple[list[StrOrBytes], list[object], bool]:
    """Return (batch, rest, is_end). `batch` has the next texts of `iterator`.

    The batch ends when the sum of its sizes is `max_size` or more. The size of a text is its length
    plus `text_overhead`. An item that is neither a str nor bytes also ends the batch; `rest` is
    then [item], else []. `is_end` is true if the iterator is exhausted. A str that ends with one of
    the characters of `last` may be the name of a file; `check` is called with it. _core.gather is
    the C++ version.
    """
    batch: list[StrOrBytes] = []
    size = 0
    for item in iterator:
        if not isinstance(item, (str, bytes)):
            return batch, [item], False
        if isinstance(item, str) and item[-1:] in last and item:
            check(item)
        batch.append(item)
        size += len(item) + text_overhead
        if size >= max_size:
            return batch, [], False
    return batch, [], True


def _check_text(text: str) -> None:
    """Raise ValueError if `text` is the name of an existing file with one of SUFFIXES."""
    if text.lower().endswith(SUFFIXES):
        _check_item(text)


def name_of(path: os.PathLike[str] | os.PathLike[bytes]) -> str:
    """Return a path as str."""
    return os.fsdecode(path)


def blocks_of(text: StrOrBytes) -> Iterator[bytes]:
    """Yield the blocks of a text as UTF-8."""
    if isinstance(text, bytes):
        yield from (text[start : start + BLOCK] for start in range(0, len(text), BLOCK))
        return
    start = 0
    while start < len(text):
        end = start + BLOCK
        if "\ud800" <= text[end - 1 : end] <= "\udbff":
            end += 1  # keep the high surrogate with the low surrogate that may follow
        yield encode_utf8(text[start:end])
        start = end


def _texts_of_lines(name: str, field: str, max_text: int) -> Iterator[StrOrBytes]:
    for number, line in enumerate(lines_of_file(name, max_text, BLOCK), 1):
        if line.strip():
            # Yield bytes. For a str, collect_batch would check whether it is the name of a file.
            yield encode_utf8(text_of_line(line, field, f"{name}, line {number}"))


def _texts_of_rows(name: str, field: str, _: int) -> Iterator[StrOrBytes]:
    first = 1
    for texts, is_null in rows_of_file(name, field, lambda data: None):
        if is_null.any():
            raise TextFileError(null_message(name, first + int(np.argmax(is_null)), field))
        yield from texts
        first += len(texts)
