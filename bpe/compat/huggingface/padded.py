"""Encode a batch straight into padded arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine
from bpe.compat.huggingface.windows import Padding, Truncation
from bpe.encoding.padded import Layout, lengths, pad
from bpe.types import Template, Treatment


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
    template = engine.template if add_special_tokens else Template()
    layout = Layout(0, "right", None, 1)
    if truncation is not None:
        # A maximal length of 0 is a special case of tokenizers.
        added = len(template.before) + len(template.after)
        if truncation.max_length <= added or truncation.strategy == "only_second":
            return None
        layout = layout._replace(max_length=truncation.max_length, cut=truncation.direction)
    if padding is not None:
        layout = layout._replace(pad_id=padding.pad_id, side=padding.direction)
    arrays = engine.arrays(texts, treatment)
    if arrays is None:
        return None
    ids, offsets = arrays
    sizes = lengths(offsets, template, layout)
    longest = int(sizes.max())
    length = longest if padding is None else padding.target(longest)
    if not length or length < longest or (padding is None and int(sizes.min()) < length):
        return None
    rows = pad(ids, offsets, template, layout, length, engine.is_native)
    source = engine, treatment, add_special_tokens, truncation, length, padding
    return [Encoding.lazy(encoding, text, *source) for text in texts], *rows


def type_ids(mask: NDArray[np.int64], padding: Padding | None) -> NDArray[np.int64]:
    """Return the type ids of a batch whose sequences have type 0."""
    pad_type = 0 if padding is None else padding.pad_type_id
    return (1 - mask) * pad_type if pad_type else np.zeros_like(mask)


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
