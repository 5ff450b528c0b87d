"""Encode a batch straight into padded arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine
from bpe.compat.huggingface.rows import Row
from bpe.compat.huggingface.windows import Padding, Truncation
from bpe.types import Treatment


def encode(
    engine: Engine,
    texts: list[str],
    treatment: Treatment,
    add_special_tokens: bool,
    truncation: Truncation | None,
    padding: Padding | None,
) -> tuple[list[Encoding], NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the encodings, the ids and the attention mask of a batch.

    Returns None if the result is not one array: if rows differ in length without padding, or if the
    padded length is less than that of the longest row. Also returns None if the arrays would be
    empty, or if `Engine.array_rows` returns None.
    Raises CallFallbackError for a text that bpe cannot encode as tokenizers does.
    """
    before, after = engine.template_ids if add_special_tokens else ([], [])
    added = len(before) + len(after)
    own = None
    if truncation is not None:
        own = truncation._replace(max_length=truncation.max_length - added)
    encoded = engine.array_rows(texts, treatment, own)
    if encoded is None:
        return None
    rows, arrays = encoded
    sizes = [len(array) + added for array in arrays]
    length = max(sizes) if padding is None else padding.target(max(sizes))
    if not length or length < max(sizes) or (padding is None and min(sizes) < length):
        return None
    pads_left = padding is not None and padding.direction == "left"
    ids = np.full((len(rows), length), 0 if padding is None else padding.pad_id, np.int64)
    mask = np.zeros((len(rows), length), np.int64)
    for index, (array, size) in enumerate(zip(arrays, sizes, strict=True)):
        start = length - size if pads_left else 0
        first, last = start + len(before), start + size - len(after)
        ids[index, start:first] = before
        ids[index, first:last] = array
        ids[index, last : start + size] = after
        mask[index, start : start + size] = 1

    def lazy(row: Row) -> Encoding:
        def eager() -> Encoding:
            encoding = engine.encoding((row,), add_special_tokens, truncation)
            if padding is not None:
                encoding.pad_to(length, padding)
            return encoding

        return Encoding.lazy(eager)

    return [lazy(row) for row in rows], ids, mask
