"""Define Precompiled, which applies a SentencePiece charsmap as Hugging Face's tokenizers does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from bpe.encoding.utf8 import ESCAPE
from bpe.normalizers.aligned_text import AlignedText, Change
from bpe.normalizers.charsmap import Charsmap
from bpe.normalizers.graphemes import clusters
from bpe.normalizers.growth import Growth
from bpe.normalizers.step import Field, TextStep
from bpe.once import once

_MAX_CLUSTER = 5
"""Only clusters of at most this many bytes are replaced as a whole."""
_MAX_KNOWN = 1 << 14
_UNKNOWN = False  # a part that is not in `_replacements`; None there means no replacement


@dataclass(frozen=True)
class Precompiled(TextStep):
    """Applies a charsmap as Hugging Face's tokenizers does, which differs from SentencePiece.

    The text is cut into grapheme clusters. If rules match at the start of a cluster of at most five
    bytes, the replacement of the shortest such rule replaces the whole cluster, including marks
    after the match. Otherwise, the same is done for each character of the cluster.

    Raises VocabularyError for a malformed charsmap.
    """

    FIELDS: ClassVar = {"precompiled_charsmap": Field.CHARSMAP}

    precompiled_charsmap: bytes = field(repr=False)

    def __post_init__(self) -> None:
        self._rules  # noqa: B018  # raises VocabularyError

    def grow(self, growth: Growth) -> None:
        """Add the growth of the rule that grows a text most."""
        growth.multiply(self._rules.growth, False)

    @once
    def _rules(self) -> Charsmap:
        return Charsmap(self.precompiled_charsmap)

    @once
    def _replacements(self) -> dict[str, str | None]:
        """A cache of the replacements of short parts of texts."""
        return {}

    def normalize(self, text: str) -> str:
        """Return `text` with the rules applied."""
        return "".join([part if new is None else new for part, new in self._replaced(text)])

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` with the rules applied."""
        changes: list[Change] = []
        for part, new in self._replaced(text.text):
            if new is None:
                changes += [(char, 0) for char in part]
            else:
                _replace(changes, len(part), new)
        return text.transformed(changes)

    def _replaced(self, text: str) -> Iterator[tuple[str, str | None]]:
        """Yield the parts of `text`, each with its replacement, or with None if it is kept."""
        for cluster in clusters(text):
            new = self._replacement(cluster)
            if len(cluster) == 1 or new is not None:
                yield cluster, new
            else:
                for char in cluster:
                    yield char, self._replacement(char)

    def _replacement(self, part: str) -> str | None:
        """Return the replacement of a cluster or character as a whole, or None."""
        if len(part) > _MAX_CLUSTER:
            return None
        known = self._replacements
        new = known.get(part, _UNKNOWN)
        if isinstance(new, bool):
            data = part.encode("utf-8", ESCAPE)
            new = None if len(data) > _MAX_CLUSTER else self._rules.shortest(data)
            if len(known) >= _MAX_KNOWN:
                known.clear()
            known[part] = new
        return new


def _replace(changes: list[Change], old: int, new: str) -> None:
    """Append to `changes` the changes that replace `old` characters by `new`.

    The last of `changes` also records how many old characters are dropped without replacement. If
    `changes` is empty, since the text begins with dropped characters, nothing records them. All
    later spans are then too low, as in Hugging Face's tokenizers.
    """
    changes += [(char, int(index >= old)) for index, char in enumerate(new)]
    dropped = old - len(new)
    if dropped > 0 and changes:
        char, change = changes[-1]
        changes[-1] = char, change - dropped
