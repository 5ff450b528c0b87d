"""Arrange the ids of many texts in one array, in which every text has the same length."""

from __future__ import annotations

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
    `max_length` is not None, a text and its template keep at most `max_length` ids: the last ids
    of the text are dropped.
    """

    pad_id: int
    side: Side
    max_length: int | None
    multiple_of: int


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
    added = sum(map(len, template))
    if layout.max_length is not None and layout.max_length < added:
        raise ValueError(
            f"max_length={layout.max_length}: the template of the vocabulary alone has {added} "
            "ids; pass a larger max_length, or add_special_tokens=False"
        )
    return layout


def pad(ids: Ids, offsets: Offsets, template: Template, layout: Layout) -> PaddedIds:
    """Return the padded ids of texts: text i has ids[offsets[i]:offsets[i + 1]].

    The ids of `template` come before and after each text. Takes linear time in the result.
    """
    before, after = (np.array(part, np.int64) for part in template)
    sizes = np.diff(offsets)
    if layout.max_length is not None:
        limit = layout.max_length - len(before) - len(after)
        if sizes.max(initial=0) > limit:
            ids = ids[np.arange(len(ids)) - np.repeat(offsets[:-1], sizes) < limit]
            sizes = np.minimum(sizes, limit)
    totals = sizes + len(before) + len(after)
    longest = int(totals.max(initial=0))
    length = -(-longest // layout.multiple_of) * layout.multiple_of
    columns = np.arange(length)
    starts = (length - totals if layout.side == "left" else np.zeros_like(totals))[:, None]
    ends = starts + totals[:, None]
    is_text = (columns >= starts + len(before)) & (columns < ends - len(after))
    padded = np.full((len(sizes), length), layout.pad_id, np.int64)
    padded[is_text] = ids
    rows = np.arange(len(sizes))[:, None]
    padded[rows, starts + np.arange(len(before))] = before
    padded[rows, ends - len(after) + np.arange(len(after))] = after
    return PaddedIds(padded, ((columns >= starts) & (columns < ends)).astype(np.int64))
