"""Arrange the ids of many texts in one array, in which every text has the same length."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.types import Ids, Offsets, Template

Side = Literal["right", "left"]


class PaddedIds(NamedTuple):
    """The ids of n texts, int64 of shape (n, length), and a mask of the same shape and type.

    The mask is 1 for ids of a text, and 0 for padding.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class Layout(NamedTuple):
    """How to pad: `pad_id` is put on `side` of each text.

    All texts get the length of the longest one, rounded up to a multiple of `multiple_of`. If
    `max_length` is not None, a text and its template keep at most `max_length` ids. A longer text
    loses its ids on the side `cut`.
    """

    pad_id: int
    side: Side
    max_length: int | None
    multiple_of: int
    cut: Side = "right"

    def max_count(self, template: Template) -> int | None:
        """Return the maximal number of ids of a text without its template, or None."""
        return None if self.max_length is None else self.max_length - _size(template)


def check_layout(layout: Layout, template: Template) -> Layout:
    """Return `layout`; raise ValueError or TypeError for an argument that cannot be used."""
    numbers = {"pad_id": layout.pad_id, "multiple_of": layout.multiple_of}
    if layout.max_length is not None:
        numbers["max_length"] = layout.max_length
    for name, number in numbers.items():
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise TypeError(f"{name}={number!r}: expected an int, got {type(number).__name__}")
    if not 0 <= layout.pad_id < 1 << 32:
        raise ValueError(f"pad_id={layout.pad_id}: expected an id from 0 to 2**32 - 1")
    if layout.multiple_of < 1:
        raise ValueError(f"multiple_of={layout.multiple_of}: expected a positive number")
    if layout.side not in get_args(Side):
        raise ValueError(f'side={layout.side!r}: expected "right" or "left"')
    added = _size(template)
    if layout.max_length is not None and layout.max_length < added:
        raise ValueError(
            f"max_length={layout.max_length}: the template of the vocabulary alone has {added} "
            "ids; pass a larger max_length, or add_special_tokens=False"
        )
    return layout


def row_length(offsets: Offsets, template: Template, layout: Layout) -> int:
    """Return the length of the rows of texts: that of the longest one, rounded up."""
    longest = int(lengths(offsets, template, layout).max(initial=0))
    return -(-longest // layout.multiple_of) * layout.multiple_of


def lengths(offsets: Offsets, template: Template, layout: Layout) -> Offsets:
    """Return the number of ids of each text after truncation, with its template."""
    counts = np.diff(offsets)
    max_count = layout.max_count(template)
    if max_count is not None:
        counts = np.minimum(counts, max_count)
    counts += _size(template)
    return counts


def pad(
    ids: Ids, offsets: Offsets, template: Template, layout: Layout, length: int, is_native: bool
) -> PaddedIds:
    """Return the padded ids of texts: text i has ids[offsets[i]:offsets[i + 1]].

    The ids of `template` come before and after each text. `length` is the length of each row; it
    must not be below any of `lengths`. `is_native` says whether C++ may do it. Takes linear time in
    the result.
    """
    max_count = layout.max_count(template)
    keeps_last, pads_left = layout.cut == "left", layout.side == "left"
    if is_native:
        from pretok import _core

        limit = len(ids) if max_count is None else max_count
        return PaddedIds(
            *_core.pad_rows(
                ids, offsets, *template, length, limit, keeps_last, layout.pad_id, pads_left
            )
        )
    before, after = (np.array(part, np.uint32) for part in template)
    padded = np.full((len(offsets) - 1, length), layout.pad_id, np.int64)
    mask = np.zeros_like(padded)
    for (start, stop), row, ones in zip(pairwise(offsets.tolist()), padded, mask, strict=True):
        text = ids[start:stop]
        if max_count is not None:
            text = text[max(len(text) - max_count, 0) :] if keeps_last else text[:max_count]
        total = len(text) + _size(template)
        first = length - total if pads_left else 0
        ones[first : first + total] = 1
        row[first : first + total] = np.concatenate([before, text, after])
    return PaddedIds(padded, mask)


def add_template(ids: Ids, offsets: Offsets, template: Template) -> tuple[Ids, Offsets]:
    """Return the ids and offsets of texts with the ids of `template` before and after each text.

    Text i has ids[offsets[i]:offsets[i + 1]].
    """
    before, after = (np.array(part, np.uint32) for part in template)
    counts = np.diff(offsets)
    new_offsets = offsets + np.arange(len(offsets)) * _size(template)
    starts, ends = new_offsets[:-1, None], new_offsets[1:, None]
    result = np.empty(int(new_offsets[-1]), np.uint32)
    result[starts + np.arange(len(before))] = before
    result[ends - np.arange(len(after), 0, -1)] = after
    result[np.arange(len(ids)) + np.repeat(starts[:, 0] + len(before) - offsets[:-1], counts)] = ids
    return result, new_offsets


def _size(template: Template) -> int:
    return len(template.before) + len(template.after)
