"""Define TextNormalizer, the normalizer of a Pipeline, and the two classes that implement it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from bpe.encoding.backend import Backend
from bpe.encoding.normalize import alignment
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.native import NativeNormalizer, span_rows
from bpe.types import Normalizer, NormalizesText, Offsets


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


def make_normalizer(
    normalizer: Normalizer | None, backend: Backend, is_native: bool
) -> TextNormalizer | None:
    """Return the normalizer of a Pipeline, or None if text is not normalized.

    NFC is computed by `backend`, other normalizers in C++ if `is_native`.
    """
    if normalizer is None:
        return None
    if normalizer == "NFC":
        return NfcNormalizer(backend)
    return StepNormalizer(normalizer, is_native)


class NfcNormalizer:
    """Normalizes to NFC of Unicode 9, with the methods of the backend."""

    metaspace = None

    def __init__(self, backend: Backend) -> None:
        self.keeps = backend.is_normal
        self.normalized = backend.normalized
        self.align = span_rows(alignment)


class StepNormalizer:
    """Any other normalizer; it may change every text except the empty text."""

    def __init__(self, normalizer: NormalizesText, is_native: bool) -> None:
        self.normalized: Callable[[bytes], bytes] = partial(_normalized, normalizer)
        self.align: Callable[[str], tuple[str, Offsets]] = span_rows(normalizer.align)
        if is_native:
            native = NativeNormalizer(normalizer)
            self.normalized, self.align = native.normalized, native.align
        self.metaspace = normalizer.metaspace if isinstance(normalizer, NormalizerChain) else None

    def keeps(self, text: StrOrBytes) -> bool:
        """Return whether `text` is empty."""
        return not text


def _normalized(normalizer: NormalizesText, data: bytes) -> bytes:
    return normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)
