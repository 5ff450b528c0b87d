"""Encode a batch straight into padded arrays."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine
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
    empty, or if `Engine.arrays` returns None.
    Raises CallFallbackError for a text that bpe cannot encode as tokenizers does.
    """
    before, after = engine.template_ids if add_special_tokens else ([], [])
    added = len(before) + len(after)
    own = None
    if truncation is not None:
        own = truncation._replace(max_length=truncation.max_length - added)
    arrays = engine.arrays(texts, treatment, own)
    if arrays is None:
        return None
    sizes = [len(array) + added for array in arrays]
    longest = max(sizes)
    length = longest if padding is None else padding.target(longest)
    if not length or length < longest or (padding is None and min(sizes) < length):
        return None
    pads_left = padding is not None and padding.direction == "left"
    ids = np.full((len(arrays), length), 0 if padding is None else padding.pad_id, np.int64)
    mask = np.ones((len(arrays), length), np.int64)
    for array, size, row, ones in zip(arrays, sizes, ids, mask, strict=True):
        start = length - size if pads_left else 0
        stop = start + size
        row[start + len(before) : stop - len(after)] = array
        if before:
            row[start : start + len(before)] = before
        if after:
            row[stop - len(after) : stop] = after
        if size < length:
            ones[:start] = 0
            ones[stop:] = 0
    source = engine, treatment, add_special_tokens, truncation, length, padding
    return [Encoding.lazy(partial(encoding, text, *source)) for text in texts], ids, mask


def encoding(
    text: str,
    engine: Engine,
    treatment: Treatment,
    add_special_tokens: bool,
    truncation: Truncation | None,
    length: int,
    padding: Padding | None,
) -> Encoding:
    """Return the encoding of a text, truncated, and padded to `length` ids."""
    result = engine.encoding((engine.row(text, treatment),), add_special_tokens, truncation)
    if padding is not None:
        result.pad_to(length, padding)
    return result
