"""Define TextNormalizer, the normalizer of a Pipeline, and `make_normalizer`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from bpe.encoding.backend import Backend
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.normalizers.chain import NFC, MetaspaceStep, NormalizerChain
from bpe.normalizers.native import NativeNormalizer, span_rows
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.once import once
from bpe.types import NormalizesText, Offsets


class TextNormalizer(Protocol):
    """Normalizes the text between two added tokens.

    In a str, a lone surrogate stands for an invalid byte, as with Python's "surrogateescape".
    """

    def keeps(self, text: StrOrBytes) -> bool:
        """Return True only if normalizing keeps `text`; False may be returned for any text."""

    def normalized(self, data: bytes) -> bytes:
        """Return the normalized text of `data`; both are UTF-8."""

    def align(self, text: str) -> tuple[str, Offsets]:
        """Return `text` normalized, and the span in `text` of each code point of the result.

        The spans are the rows of an array.
        """

    @property
    def metaspace(self) -> MetaspaceStep | None:
        """The Metaspace step, which follows the search for normalized added tokens, or None."""

    @property
    def continuing(self) -> TextNormalizer:
        """The normalizer for a text that continues another text, so that it takes no prefix."""


def make_normalizer(
    normalizer: NormalizesText | None, backend: Backend, is_native: bool
) -> TextNormalizer | None:
    """Return the normalizer of a Pipeline, or None if text is not normalized.

    It runs in C++ if `is_native`. `backend` checks whether NFC keeps a text.
    """
    if normalizer is None or normalizer == NormalizerChain():
        return None
    keeps = backend.is_normal if normalizer == NFC else _is_empty
    return _Normalizer(normalizer, keeps, is_native)


class _Normalizer:
    def __init__(
        self, normalizer: NormalizesText, keeps: Callable[[StrOrBytes], bool], is_native: bool
    ) -> None:
        self.keeps = keeps
        self._normalizer = normalizer
        self.normalized: Callable[[bytes], bytes] = partial(_normalized, normalizer)
        self.align: Callable[[str], tuple[str, Offsets]] = span_rows(normalizer.align)
        if is_native:
            native = NativeNormalizer(normalizer)
            self.normalized, self.align = native.normalized, native.align
        self.metaspace = normalizer.metaspace if isinstance(normalizer, NormalizerChain) else None

    @once
    def continuing(self) -> TextNormalizer:
        """The normalizer of a continuation, in Python."""
        if not isinstance(self._normalizer, (NormalizerChain, SentencePieceNormalizer)):
            return self
        return _Normalizer(self._normalizer.continuing(), self.keeps, is_native=False)


def _is_empty(text: StrOrBytes) -> bool:
    return not text


def _normalized(normalizer: NormalizesText, data: bytes) -> bytes:
    return normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)
