"""Define NormalizerChain, the normalizer of a tokenizer.json, and MetaspaceStep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.errors import UnsupportedError
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.growth import growth_of, problem_of_growth, utf8_size
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import Prepend, Replace
from bpe.normalizers.unicode_forms import UnicodeForm
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset

MAX_CONTENT = 1 << 24
"""See NormalizerChain.check_contents."""

PrependScheme: TypeAlias = Literal["always", "first", "never"]


@dataclass(frozen=True)
class MetaspaceStep:
    """Changes text as the pre_tokenizer Metaspace does: replaces each space by `replacement`.

    Then prepends `replacement`, unless the text begins with it. `prepend_scheme` says where: before
    each text between two added tokens ("always"), only at the start of the whole text ("first"), or
    nowhere ("never"). The caller says whether a text takes this prefix.
    """

    replacement: str = "\u2581"
    prepend_scheme: PrependScheme = "always"
    before: Preset | None = None
    """The preset of the pre_tokenizers before Metaspace. It splits each text into pieces.

    Metaspace changes each piece by itself, so "always" prepends to each piece.
    """

    def pieces(self, data: bytes) -> Iterable[tuple[int, int]]:
        """Return the half-open spans, in bytes, of the pieces into which `before` splits UTF-8."""
        return ((0, len(data)),) if self.before is None else _splitter(self.before).spans(data)

    def normalize(self, text: str, takes_prefix: bool) -> str:
        """Return `text` changed."""
        text = text.replace(" ", self.replacement)
        return self.replacement + text if takes_prefix and self._lacks_prefix(text) else text

    def align(self, text: AlignedText, takes_prefix: bool) -> AlignedText:
        """Return `text` changed, with its alignment."""
        text = Replace(" ", self.replacement).align(text)
        # Bytes that are not UTF-8 may form a character.
        joined = decode_utf8(text.text.encode("utf-8", ESCAPE))
        if takes_prefix and self._lacks_prefix(joined):
            return text.prepended(self.replacement)
        return text

    def _lacks_prefix(self, text: str) -> bool:
        return bool(text) and not text.startswith(self.replacement)


@lru_cache(maxsize=16)
def _splitter(preset: Preset) -> PreTokenizer:
    return PreTokenizer(preset)


@dataclass(frozen=True)
class NormalizerChain:
    """Applies `steps` in order, each to the result of the step before.

    The caller applies `metaspace` last, after the search for added tokens in the normalized text.
    Raises UnsupportedError if the steps grow a text too much (bpe.normalizers.growth).
    """

    steps: tuple[TextStep, ...] = ()
    metaspace: MetaspaceStep | None = None

    def __post_init__(self) -> None:
        if problem := problem_of_growth(self.steps):
            raise UnsupportedError(f"the normalizers {problem}")

    def __str__(self) -> str:
        metaspace = () if self.metaspace is None else (self.metaspace,)
        return ", ".join(map(str, (*self.steps, *metaspace)))

    def check_contents(self, texts: Iterable[str]) -> None:
        """Raise UnsupportedError if normalizing `texts`, which a file chooses, takes too long.

        Loading normalizes the contents of added tokens. One step makes at most MAX_CONTENT bytes of
        a text. All steps together write at most MAX_CONTENT characters, or 64 for each character of
        `texts` if that is more.
        """
        listed = list(texts)
        growth = growth_of(self.steps)
        sizes = [utf8_size(text) * growth for text in listed]
        if sum(sizes) * len(self.steps) <= MAX_CONTENT:
            return
        if max(sizes) > MAX_CONTENT:
            raise UnsupportedError(
                f"the normalizers may make {max(sizes)} bytes of an added token; expected at most "
                f"{MAX_CONTENT}"
            )
        left = max(MAX_CONTENT, 64 * sum(map(len, listed)))
        for text in listed:
            for step in self.steps:
                text = step.normalize(text)
                left -= len(text)
                if left < 0:
                    raise UnsupportedError(
                        "normalizing the added tokens takes too long; expected fewer normalizers, "
                        "or added tokens with the flag `normalized` set to false"
                    )

    def continuing(self) -> NormalizerChain:
        """Return the chain for a text that continues another text: it has no Prepend."""
        return replace(
            self, steps=tuple(step for step in self.steps if not isinstance(step, Prepend))
        )

    def normalize(self, text: str) -> str:
        """Return the result of `steps`."""
        for step in self.steps:
            text = step.normalize(text)
        return text

    def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Return the result of `steps`, and the span in `text` of each character of the result."""
        aligned = AlignedText.of(text)
        for step in self.steps:
            aligned = step.align(aligned)
        return aligned.text, aligned.spans


NFC = NormalizerChain((UnicodeForm("NFC"),))
"""The normalizer of Qwen2 and others. Backends check quickly whether it keeps a text."""
