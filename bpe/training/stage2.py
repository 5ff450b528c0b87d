"""Define Stage2, the second stage of a training whose tokens may cross words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bpe.types import PresetLike
from bpe.vocabulary import ID_LIMIT


@dataclass(frozen=True)
class Stage2:
    """The second stage of `bpe.train`, as in SuperBPE: it goes on with another split.

    The first stage trains `vocab_size` of `bpe.train` with its preset. The second stage splits the
    texts with `preset`, so that tokens may cross words, and goes on to `vocab_size` of this object.
    No new token has more than `max_words` words, which are runs of bytes other than white space of
    ASCII; None sets no limit. The result splits with `preset`.

    The defaults are those of SuperBPE (Liu et al. 2025): text is split only at digits, and a token
    has at most four words. The preset "gemma4" splits at line ends.
    """

    vocab_size: int
    preset: PresetLike = "superbpe"
    max_words: int | None = 4

    def check(self, vocab_size: int, source: object) -> None:
        """Raise ValueError or TypeError if the stage does not fit the arguments of `bpe.train`."""
        if type(self.vocab_size) is not int or not vocab_size <= self.vocab_size <= ID_LIMIT:
            raise ValueError(
                f"stage2= has the vocab_size {self.vocab_size!r:.40}; expected an int from "
                f"{vocab_size}, the vocab_size of the first stage, to {ID_LIMIT}"
            )
        if self.max_words is not None and (type(self.max_words) is not int or self.max_words < 1):
            raise ValueError(
                f"stage2= has max_words {self.max_words!r:.40}; expected None or an int of at "
                "least 1"
            )
        if isinstance(source, Iterator):
            raise TypeError(
                f"the source is of type {type(source).__name__}, which can be read only once, but "
                "stage2= reads the texts twice; pass a list of texts, or paths"
            )
