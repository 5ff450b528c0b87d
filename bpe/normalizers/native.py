"""Define NativeNormalizer, which normalizes UTF-8 with C++.

The methods `normalize` and `align` of the normalizers are the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.utf8 import ESCAPE, decode_utf8, has_surrogates
from bpe.errors import UnsupportedError
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import STORED_NORMALIZERS
from bpe.normalizers.stored import dump_list
from bpe.types import NormalizesText, Offsets

if TYPE_CHECKING:
    from pretok import _core

_NOTHING_ELSE = b"\0\0"
"""No Metaspace and no decoder, in the section `steps` of a .pretok file."""


class NativeNormalizer:
    """Normalizes and aligns text as `normalizer` does, if possible in C++.

    Python aligns a text with bytes that are not UTF-8.
    """

    def __init__(self, normalizer: NormalizesText) -> None:
        self._normalizer = normalizer
        self._native = lru_cache(1)(partial(_native, normalizer))

    def normalized(self, data: bytes) -> bytes:
        """Return the normalized text of UTF-8."""
        native = self._native()
        if native is not None:
            return native.normalized(data)
        return self._normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)

    def align(self, text: str) -> tuple[str, Offsets]:
        """Return `text` normalized, and the span in `text` of each code point of the result.

        The spans are the rows of an array.
        """
        native = self._native()
        aligned = None if native is None else native.align(text.encode("utf-8", ESCAPE))
        if aligned is None:
            return span_rows(self._normalizer.align)(text)
        normal, spans = aligned
        return decode_utf8(normal), spans.reshape(-1, 2)


def _native(normalizer: NormalizesText) -> _core.Normalizer | None:
    """Return the normalizer in C++, or None if C++ lacks a step of it."""
    steps: tuple[object, ...] = (normalizer,)
    symbols: tuple[str, ...] = ()
    if type(normalizer) is NormalizerChain:
        steps = normalizer.steps
    elif type(normalizer) is SentencePieceNormalizer:
        symbols = normalizer.user_defined
    if any(map(has_surrogates, symbols)):
        return None
    try:
        stored = dump_list(steps, STORED_NORMALIZERS, "normalizer") + _NOTHING_ELSE
    except UnsupportedError:
        return None
    from pretok import _core

    return _core.Normalizer(stored, [symbol.encode() for symbol in symbols])


def as_rows(spans: list[tuple[int, int]]) -> Offsets:
    """Return an array with `spans` as its rows."""
    return np.array(spans, np.int64).reshape(-1, 2)


def span_rows(
    align: Callable[[str], tuple[str, list[tuple[int, int]]]],
) -> Callable[[str], tuple[str, Offsets]]:
    """Return a function with the results of `align`, but with the spans as rows of an array."""

    def align_rows(text: str) -> tuple[str, Offsets]:
        normal, spans = align(text)
        return normal, as_rows(spans)

    return align_rows
