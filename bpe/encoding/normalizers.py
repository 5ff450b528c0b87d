"""Define TextNormalizer, the normalizer of a Pipeline, and its two kinds."""

from __future__ import annotations

from typing import Protocol

from bpe.encoding.backends import Backend
from bpe.encoding.normalize import alignment
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.types import Normalizer, NormalizesText


class TextNormalizer(Protocol):
    """Normalizes the text between two added tokens. In a str, lone surrogates are invalid bytes."""

    def keeps(self, text: StrOrBytes) -> bool:
        """Return True only if `text` is normal; False may be returned for any text."""

    def normalized(self, data: bytes) -> bytes:
        """Return UTF-8 normalized."""

    def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Return `text` normalized, and the span in `text` of each code point of the result."""

    @property
    def metaspace(self) -> MetaspaceStep | None:
        """The step after the search for normalized added tokens, or None."""


def make_normalizer(normalizer: Normalizer | None, backend: Backend) -> TextNormalizer | None:
    """Return the normalizer of a Pipeline, or None if text stays as it is."""
    if normalizer is None:
        return None
    return NfcNormalizer(backend) if normalizer == "NFC" else StepNormalizer(normalizer)


class NfcNormalizer:
    """NFC of Unicode 9; the backend normalizes."""

    metaspace = None

    def __init__(self, backend: Backend) -> None:
        self.keeps = backend.is_normal
        self.normalized = backend.normalized
        self.align = alignment


class StepNormalizer:
    """Any other normalizer; it may change every text but the empty one."""

    def __init__(self, normalizer: NormalizesText) -> None:
        self._normalizer = normalizer
        self.align = normalizer.align
        self.metaspace = normalizer.metaspace if isinstance(normalizer, NormalizerChain) else None

    def keeps(self, text: StrOrBytes) -> bool:
        """Return whether `text` is empty."""
        return not text

    def normalized(self, data: bytes) -> bytes:
        """Return UTF-8 normalized."""
        return self._normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)
