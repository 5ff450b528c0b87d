"""Define TextNormalizer, the normalizer of a Pipeline, which runs in C++ if possible.

The methods `normalize` and `align` of the normalizers are the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.python_backend import Backend
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8, has_surrogates
from bpe.errors import UnsupportedError
from bpe.normalizers.chain import NFC, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import STORED_NORMALIZERS
from bpe.normalizers.stored import dump_list
from bpe.once import once
from bpe.types import NormalizesText, Offsets

if TYPE_CHECKING:
    from pretok import _core

_NOTHING_ELSE = b"\0\0"
"""No Metaspace and no decoder, in the section `steps` of a .pretok file."""


def make_normalizer(
    normalizer: NormalizesText | None, backend: Backend, is_native: bool
) -> TextNormalizer | None:
    """Return the normalizer of a Pipeline, or None if text is not normalized.

    It runs in C++ if `is_native`. `backend` checks whether NFC keeps a text.
    """
    if normalizer is None or normalizer == NormalizerChain():
        return None
    return TextNormalizer(normalizer, is_native, backend.is_normal if normalizer == NFC else None)


class TextNormalizer:
    """Normalizes the text between two added tokens.

    In a str, a lone surrogate stands for an invalid byte, as with Python's "surrogateescape".
    """

    def __init__(
        self,
        normalizer: NormalizesText,
        is_native: bool = True,
        keeps: Callable[[StrOrBytes], bool] | None = None,
    ) -> None:
        """Store the parts; `keeps(text)` is true only if normalizing keeps the text."""
        self.keeps = keeps or (lambda text: not text)
        self.metaspace = normalizer.metaspace if isinstance(normalizer, NormalizerChain) else None
        """The Metaspace step, which follows the search for normalized added tokens, or None."""
        self._normalizer = normalizer
        self._is_native = is_native

    @once
    def continuing(self) -> TextNormalizer:
        """The normalizer for a text that continues another text, so that it takes no prefix."""
        if not isinstance(self._normalizer, (NormalizerChain, SentencePieceNormalizer)):
            return self
        return TextNormalizer(self._normalizer.continuing(), is_native=False, keeps=self.keeps)

    def normalized(self, data: bytes) -> bytes:
        """Return the normalized text of `data`; both are UTF-8."""
        if self._native is not None:
            return self._native.normalized(data)
        return self._normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)

    def align(self, text: str) -> tuple[str, Offsets]:
        """Return `text` normalized, and the span in `text` of each code point of the result.

        The spans are the rows of an array. Python aligns a text with bytes that are not UTF-8.
        """
        native = self._native
        aligned = None if native is None else native.align(text.encode("utf-8", ESCAPE))
        if aligned is None:
            normal, spans = self._normalizer.align(text)
            return normal, as_rows(spans)
        return decode_utf8(aligned[0]), aligned[1].reshape(-1, 2)

    @once
    def _native(self) -> _core.Normalizer | None:
        """The normalizer in C++, or None if C++ lacks a step of it."""
        normalizer = self._normalizer
        steps: tuple[object, ...] = (normalizer,)
        symbols: tuple[str, ...] = ()
        if type(normalizer) is NormalizerChain:
            steps = normalizer.steps
        elif type(normalizer) is SentencePieceNormalizer:
            symbols = normalizer.user_defined
        if not self._is_native or any(map(has_surrogates, symbols)):
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
