"""Read the texts to train on from memory and files, with bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, cast

from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.text_files import PACKED, blocks_of_file, lines_of_file, suffix_of, text_of_line
from bpe.training.limits import MAX_TEXT

Path: TypeAlias = os.PathLike[str]
Source: TypeAlias = Iterable[StrOrBytes] | Path | Iterable[Path]
CollectBatch: TypeAlias = Callable[
    [Iterator[object], int, int, str, Callable[[str], None]],
    tuple[list[StrOrBytes], list[object], bool],
]
"""The type of `collect_batch`."""

BLOCK = 1 << 20
"""The size of a block of a long text: bytes of a file, code points of a str."""

FORMATS = (".txt", ".jsonl")
SUFFIXES = tuple(suffix + packed for suffix in FORMATS for packed in PACKED)
LAST_CHARACTERS = frozenset(suffix[-1] for suffix in SUFFIXES + tuple(map(str.upper, SUFFIXES)))
"""The last characters of SUFFIXES. A str with another last character cannot name a text file."""
MAX_NAME_LENGTH = 4096
"""A longer str counts as a text, not as the name of a file."""
TEXT_OVERHEAD = 64
"""The estimated memory of a text besides its characters, in bytes.

It limits the number of texts in a batch, even if the texts are empty.
"""


class FileTexts(list[StrOrBytes]):
    """A list of texts from one file."""

    def __init__(self, texts: Iterable[StrOrBytes], name: str) -> None:
        super().__init__(texts)
        self.name = name


class FileBlocks(Iterator[bytes]):
    """Iterates over the blocks of a file that is one text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._blocks = blocks_of_file(name, BLOCK)

    def __next__(self) -> bytes:
        return next(self._blocks)


def read_texts(
    source: Source, field: str, collect: CollectBatch | None = None, max_text: int = MAX_TEXT
) -> Iterator[list[StrOrBytes] | Iterator[bytes]]:
    """Yield the texts of `source`: lists of texts, and iterators over the blocks of a .txt file.

    Each item of `source` is a text or a path. A .txt file is one text. Each line of a .jsonl file
    is an object with a text under `field`. Files that end in .gz or .zst are unpacked. The caller
    must exhaust each iterator over blocks before it takes the next item. A list or iterator that
    comes from a file has the attribute `name`, the path of the file. `collect` is `collect_batch`
    (the default) or _core.gather, its C++ version.

    Raises TypeError if `source` is a single text, or an item is neither a text nor a path;
    ValueError if a str is the name of an existing file; TextFileError if a file is damaged or
    malformed, or a line has more than `max_text` bytes; OSError if a file cannot be read.
    """
    chosen = collect or collect_batch
    return _texts(source_items(source, chosen), field, chosen, max_text)


def _texts(
    items: Iterable[list[StrOrBytes] | Path], field: str, collect: CollectBatch, max_text: int
) -> Iterator[list[StrOrBytes] | Iterator[bytes]]:
    for item in items:
        if isinstance(item, list):
            yield item
        else:
            yield from _texts_of_file(name_of(item), field, collect, max_text)


def source_items(
    source: Source, collect: CollectBatch | None = None, size: int = BLOCK
) -> Iterator[list[StrOrBytes] | Path]:
    """Yield the items of `source`: lists of texts, and paths.

    A list ends when the sizes of its texts add up to `size` or more. The size of a text is its
    length plus TEXT_OVERHEAD. The other arguments and the errors are those of `read_texts`.
    """
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"expected an iterable of texts or a pathlib.Path, got one {type(source).__name__}; "
            "pass [text] to train on one text, or pathlib.Path(name) to train on a file"
        )
    items: Iterable[object] = [source] if isinstance(source, os.PathLike) else source
    if not isinstance(items, Iterable):
        advice = "; it has no __iter__, so pass iter(source)"
        raise TypeError(
            f"expected an iterable of texts or a pathlib.Path, got {type(source).__name__}"
            f"{advice if hasattr(source, '__getitem__') else ''}"
        )
    if isinstance(items, (list, tuple)) and items and isinstance(items[0], os.PathLike):
        # Report a wrong file name now, not after hours of training.
        for path in items:
            if isinstance(path, os.PathLike):
                suffix_of(name_of(path), FORMATS)
    return _items(items, collect or collect_batch, size)


def _items(
    items: Iterable[object], collect: CollectBatch, size: int
) -> Iterator[list[StrOrBytes] | Path]:
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
            if isinstance(item, os.PathLike):
                yield item
            elif isinstance(item, (bytearray, memoryview)):
                yield [bytes(item)]
            else:
                raise TypeError(
                    f"item {index}: expected str, bytes holding UTF-8, or a path such as "
                    f"pathlib.Path; got {type(item).__name__}"
                )
            index += 1


def _texts_of_file(
    name: str, field: str, collect: CollectBatch, max_text: int
) -> Iterator[list[StrOrBytes] | Iterator[bytes]]:
    """Yield the texts of a file, as `read_texts` does."""
    if suffix_of(name, FORMATS) == ".txt":
        yield FileBlocks(name)
        return
    for batch in _items(_texts_of_lines(name, field, max_text), collect, BLOCK):
        yield FileTexts(cast("list[StrOrBytes]", batch), name)


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
    """Raise ValueError if `text` is the name of an existing file; files must be passed as paths."""
    if _is_filename_of(text):
        raise ValueError(
            f"text {text!r} is the name of a file; pass pathlib.Path({text!r}) to train on "
            "the file, or bytes to train on the name itself"
        )


def name_of(path: os.PathLike[str] | os.PathLike[bytes]) -> str:
    """Return a path as str."""
    return os.fsdecode(path)


def _is_filename_of(text: str) -> bool:
    return (
        len(text) <= MAX_NAME_LENGTH
        and text.lower().endswith(SUFFIXES)
        and "\0" not in text
        and os.path.isfile(text)
    )


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
