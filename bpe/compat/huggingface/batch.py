"""Define Batch: texts that are encoded together, and views of their ids and other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from bpe.compat.huggingface.align import Span
from bpe.compat.huggingface.bpe_engine import BpeEngine
from bpe.compat.huggingface.serving import CallFallbackError
from bpe.compat.huggingface.windows import MAX_LENGTH, Padding, Truncation, Window, window_ranges
from bpe.encoding.padded import Layout, PaddedIds, pad
from bpe.types import Template, Treatment

Item = TypeVar("Item")


class Batch:
    """Texts that are encoded together, each one with its template, truncated and padded.

    `lists` and `arrays` return values of all texts, `window` all values of one text, with its
    overflow. The template must be simple (see BpeEngine).
    """

    def __init__(
        self,
        engine: BpeEngine,
        texts: list[str],
        treatment: Treatment,
        add_special_tokens: bool,
        truncation: Truncation | None,
        padding: Padding | None,
    ) -> None:
        self._engine = engine
        self._texts = texts
        self._treatment: Treatment = treatment
        self._truncation = truncation
        self._padding = padding
        self._adds_special_tokens = add_special_tokens
        self._template = engine.template if add_special_tokens else _NO_TEMPLATE
        self._types = engine.types if add_special_tokens else _NO_TEMPLATE
        self._added = len(self._template.before) + len(self._template.after)
        self._length = 0
        """The length to which all texts are padded, from `lists` or `arrays` on."""

    def lists(self, keys: Sequence[str]) -> dict[str, list[Any]]:
        """Return the values with these keys of a BatchEncoding; each has a list for each text.

        Raises CallFallbackError for a text that bpe cannot encode as tokenizers does.
        """
        spans: list[list[Span]] | None = None
        encoded = None
        if "offset_mapping" in keys and self._truncation is None:
            encoded = self._engine.ids_and_spans(self._texts, self._treatment)
        if encoded is None:
            ids = self._ids()
        else:
            ids, spans = encoded
        counts = list(map(len, ids))
        padding = self._padding or _NO_PADDING
        self._length = padding.target(max(counts) + self._added) if self._padding else 0
        data: dict[str, list[Any]] = {}
        for key in keys:
            if key == "input_ids":
                data[key] = self._framed(ids, self._template, padding.pad_id)
            elif key == "attention_mask":
                data[key] = self._framed([[1] * count for count in counts], self._around(1), 0)
            elif key == "special_tokens_mask":
                data[key] = self._framed([[0] * count for count in counts], self._around(1), 1)
            elif key == "token_type_ids":
                types = [[self._engine.type] * count for count in counts]
                data[key] = self._framed(types, self._types, padding.pad_type_id)
            elif key == "length":
                data[key] = [max(count + self._added, self._length) for count in counts]
            elif spans is not None:
                data[key] = self._framed(spans, self._around((0, 0)), (0, 0))
            else:
                data[key] = [self.window(at).of_each_id("spans") for at in range(len(ids))]
        return data

    def _around(self, item: Item) -> list[list[Item]]:
        """Return `item` for each id before a text, and for each id after it."""
        return [[item] * len(side) for side in self._template]

    def arrays(self, keys: Sequence[str]) -> dict[str, Any] | None:
        """Return what `lists` returns as arrays of int64, with a row for each text.

        Returns None if rows differ in length, or are empty.
        """
        padded = None
        has_types = self._engine.type or any(map(any, self._types))
        if _ARRAYS.issuperset(keys) and not (has_types and "token_type_ids" in keys):
            padded = self._padded()
        if padded is None:
            data = self.lists(keys)
            sizes = set(map(len, data["input_ids"]))
            if len(sizes) != 1 or 0 in sizes:
                return None
            return {key: np.array(value, np.int64) for key, value in data.items()}
        values: dict[str, Any] = {"input_ids": padded.ids}
        if "token_type_ids" in keys:
            pad_type = self._padding.pad_type_id if self._padding else 0
            mask = padded.mask
            values["token_type_ids"] = (1 - mask) * pad_type if pad_type else np.zeros_like(mask)
        if "attention_mask" in keys:
            values["attention_mask"] = padded.mask
        return values

    def window(self, index: int) -> Window:
        """Return all values of one text, for its Encoding; call `lists` or `arrays` before."""
        rows = (self._engine.row(self._texts[index], self._treatment),)
        window = self._engine.window(rows, self._adds_special_tokens, self._truncation)
        return window if self._padding is None else window.padded(self._length, self._padding)

    def _ids(self) -> list[list[int]]:
        """Return the ids of each text without its template, truncated."""
        rows = self._engine.ids(self._texts, self._treatment)
        truncation = self._truncation
        if truncation is None:
            return rows
        # If the template alone is longer, nothing is truncated: as in tokenizers, the negative
        # difference wraps around to a large number.
        limit = (truncation.max_length - self._added) & MAX_LENGTH
        return [ids if len(ids) <= limit else _first(ids, limit, truncation) for ids in rows]

    def _framed(
        self, rows: list[list[Item]], template: Sequence[Sequence[Item]], filler: Item
    ) -> list[list[Item]]:
        """Put both sides of `template` around each row, in place, and pad it with `filler`."""
        padding = self._padding
        before, after = template
        for row in rows:
            if before:
                row[:0] = before
            if after:
                row += after
            if padding is not None and len(row) < self._length:
                fill = [filler] * (self._length - len(row))
                if padding.direction == "left":
                    row[:0] = fill
                else:
                    row += fill
        return rows

    def _padded(self) -> PaddedIds | None:
        """Return the ids and the mask as arrays; None if rows differ in length, or are empty.

        Also returns None for special cases of truncation.
        """
        truncation, padding = self._truncation, self._padding
        limit = None if truncation is None else truncation.max_length
        if truncation is not None and (
            truncation.max_length <= self._added or truncation.strategy == "only_second"
        ):
            return None
        ids, offsets = self._engine.arrays(self._texts, self._treatment)
        sizes = offsets[1:] - offsets[:-1] + self._added
        if limit is not None:
            np.minimum(sizes, limit, out=sizes)
        shortest, longest = int(sizes.min()), int(sizes.max())
        length = longest if padding is None else padding.target(longest)
        if not length or length < longest or (padding is None and shortest < longest):
            return None
        self._length = length
        layout = Layout(
            0 if padding is None else padding.pad_id,
            "right" if padding is None else padding.direction,
            limit,
            1,
            "right" if truncation is None else truncation.direction,
        )
        return pad(ids, offsets, self._template, layout, length, self._engine.is_native)


_NO_TEMPLATE = Template()
_NO_PADDING = Padding(None, "right", 0, "", 0, None)
_ARRAYS = {"input_ids", "token_type_ids", "attention_mask"}
"""The keys of values that `Batch.arrays` computes without lists."""


def _first(ids: list[int], limit: int, truncation: Truncation) -> list[int]:
    """Return the first window of up to `limit` ids; there are more ids than that."""
    if limit == 0:
        return []
    if truncation.strategy == "only_second":
        raise CallFallbackError("a sequence that is too short to truncate")
    ranges = window_ranges(len(ids), limit, truncation.stride, truncation.direction)
    return ids[slice(*next(ranges))]
