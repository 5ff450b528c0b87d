"""Read token ids from decimal numbers or from arrays of 16-bit or 32-bit integers."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import click
import numpy as np

from pretok.cli.input import Input

SEPARATORS = (string.whitespace + ",[]").encode()
ALLOWED = string.digits.encode() + SEPARATORS
TO_SPACES = bytes.maketrans(SEPARATORS, b" " * len(SEPARATORS))
MAX_DIGITS = 20
"""Maximum number of digits of an id. A longer number is an error."""


class IdsPart(NamedTuple):
    """Consecutive ids of the input; `place` maps an index in `ids` to a byte offset in the input.

    `ends_line` is True if a line of the input ends after these ids.
    """

    ids: list[int]
    place: Callable[[int], int]
    ends_line: bool = False


def decimal_ids(source: Input, lines: bool) -> Iterator[list[IdsPart]]:
    """Yield the Parts of each block of `source`. If `lines`, a part ends at each line break."""
    start, rest, is_line_open = 0, b"", False
    for block in source.blocks:
        data = rest + block
        unknown = data.translate(None, ALLOWED)
        if unknown:
            raise _invalid_id(source.name, start, data, data.index(unknown[:1]))
        spaced = data.translate(TO_SPACES)
        # The last number may continue in the next block. An empty block ends the input.
        end = spaced.rfind(b" ") + 1 if block else len(data)
        parts, at = [], 0
        while lines and (line_end := data.find(b"\n", at, end) + 1):
            parts.append(_part(source.name, start + at, spaced[at:line_end], ends_line=True))
            at, is_line_open = line_end, False
        is_line_open |= at < len(data)
        ends_line = lines and not block and is_line_open
        yield [*parts, _part(source.name, start + at, spaced[at:end], ends_line)]
        start, rest = start + end, data[end:]
        if len(rest) > MAX_DIGITS:
            raise _invalid_id(source.name, start, rest, 0)


def _part(name: str, start: int, spaced: bytes, ends_line: bool) -> IdsPart:
    """Return the ids of the numbers in `spaced`.

    `spaced` begins at byte `start` of the input `name`.
    """
    numbers = spaced.split()
    for index, number in enumerate(numbers):
        if len(number) > MAX_DIGITS:
            raise _invalid_id(name, start, spaced, _place(0, spaced, index))
    return IdsPart(list(map(int, numbers)), partial(_place, start, spaced), ends_line)


def _place(start: int, spaced: bytes, index: int) -> int:
    """Return the byte offset of number `index` of `spaced`.

    `spaced` begins at byte `start` of the input.
    """
    end = at = 0
    for number in spaced.split(maxsplit=index + 1)[: index + 1]:
        at = spaced.index(number, end)
        end = at + len(number)
    return start + at


def _invalid_id(name: str, start: int, data: bytes, at: int) -> click.ClickException:
    """Return the error for the number around data[at]; data[0] is byte `start` of the input."""
    spaced = data.translate(TO_SPACES)
    first = spaced.rfind(b" ", 0, at) + 1
    number = spaced[first:].split(maxsplit=1)[0]
    shown = number[: MAX_DIGITS + 1].decode("utf-8", "backslashreplace")
    cut = " …" if len(number) > MAX_DIGITS + 1 else ""
    return click.ClickException(
        f"{name}, byte {start + first}: {shown!r}{cut} is not an id; expected decimal numbers "
        "separated by white space, commas or brackets"
    )


def binary_ids(source: Input, dtype: np.dtype[Any]) -> Iterator[list[IdsPart]]:
    """Yield the ids of each block; the input is an array of `dtype`."""
    start, rest, width = 0, b"", dtype.itemsize
    for block in source.blocks:
        data = rest + block
        count = len(data) // width
        place = range(start, start + len(data) + 1, width).__getitem__
        yield [IdsPart(np.frombuffer(data, dtype, count).tolist(), place)]
        start, rest = start + count * width, data[count * width :]
    if rest:
        raise click.ClickException(
            f"{source.name}, byte {start}: the input ends within an id; expected {width} bytes "
            "per id; check --format"
        )
