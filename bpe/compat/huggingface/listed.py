"""Encode a batch straight into lists, without an Encoding for each text."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from bpe.compat.huggingface.encoding import Encoding
from bpe.compat.huggingface.engine import Engine
from bpe.compat.huggingface.padded import encoding
from bpe.compat.huggingface.rows import Span
from bpe.compat.huggingface.windows import Padding
from bpe.types import Treatment

Item = TypeVar("Item")


class Listed(NamedTuple):
    """The values of a batch; each list has one item for each text."""

    encodings: list[Encoding]
    ids: list[list[int]]
    type_ids: list[list[int]]
    masks: list[list[int]]
    spans: list[list[Span]] | None
    longest: int
    """The number of ids of the longest row."""


def encode(
    engine: Engine,
    texts: list[str],
    treatment: Treatment,
    add_special_tokens: bool,
    padding: Padding | None,
    wants: tuple[bool, bool, bool],
) -> Listed | None:
    """Return the values of a batch that is not truncated.

    `wants` says whether to return type ids, masks and spans; a value that is not wanted is empty.
    Returns None if the template is not simple, or if C++ cannot give the spans of a text.
    Raises CallFallbackError for a text that bpe cannot encode as tokenizers does.
    """
    encoded = engine.batch(texts, treatment, add_special_tokens, wants[2])
    if encoded is None:
        return None
    ids, spans = encoded
    sizes = list(map(len, ids))
    type_ids = [engine.type_ids(size, add_special_tokens) for size in sizes] if wants[0] else []
    masks = [[1] * size for size in sizes] if wants[1] else []
    length = longest = max(sizes)
    if padding is not None:
        length = padding.target(longest)
        _pad(ids, length, padding.pad_id, padding)
        _pad(type_ids, length, padding.pad_type_id, padding)
        _pad(masks, length, 0, padding)
        _pad(spans or [], length, (0, 0), padding)
    source = engine, treatment, add_special_tokens, None, length, padding
    encodings = [Encoding.lazy(encoding, text, *source) for text in texts]
    return Listed(encodings, ids, type_ids, masks, spans, max(length, longest))


def _pad(rows: list[list[Item]], length: int, filler: Item, padding: Padding) -> None:
    """Pad each row in place to `length` items."""
    for row in rows:
        missing = length - len(row)
        if missing > 0 and padding.direction == "left":
            row[:0] = [filler] * missing
        elif missing > 0:
            row += [filler] * missing
