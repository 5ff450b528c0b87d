"""Contents: what a vocabulary file says, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bpe.encoding.added_tokens import AddedToken
from bpe.types import Template
from bpe.vocabulary import Vocabulary
from pretok.preset import Preset


def most_made(count: int) -> int:
    """Return how many bytes tokens may have that merges make, in a vocabulary of `count` tokens.

    A merge is a few bytes of a file, whatever it makes: the memory for it must not depend on what
    a file says. Real tokens have seven bytes on average. cpp/formats/pretok_file.hpp has the same.
    """
    return max(1 << 24, 32 * count)


@dataclass(frozen=True)
class Contents:
    """The vocabulary of a file and whatever else it says.

    Where the file names no split that pretok has, `preset` is None and `why_no_preset` says what it
    does say.
    """

    vocabulary: Vocabulary
    preset: Preset | None = None
    why_no_preset: str = ""
    added_tokens: tuple[AddedToken, ...] = ()
    normalizer: Literal["NFC"] | None = None
    add_prefix_space: bool = False
    template: Template = field(default_factory=Template)
    unicode: str | None = None
    """The Unicode version that the preset is for, if it is not the preset's own."""
