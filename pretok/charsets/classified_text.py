"""The text as the pure Python rules see it: one class per code point, found once."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.alphabet import END, Alphabet
from pretok.unicode import CODE_POINTS, table

OUT, IN = b"\0", b"\1"
UNLIMITED = sys.maxsize
UNDECIDED = -2
"""The text may go on, and how it goes on decides; `Text.open` says what would not."""


def code_points_of(chars: str) -> NDArray[np.uint32]:
    """Return the code points of `chars`, lone surrogates included."""
    return np.frombuffer(chars.encode("utf-32-le", "surrogatepass"), dtype="<u4")


class Classifier:
    """Maps a text to the classes of one alphabet in one Unicode version. Immutable."""

    def __init__(self, alphabet: Alphabet, version: str) -> None:
        firsts, atoms = table(version)
        per_code_point = np.repeat(atoms, np.diff(firsts, append=CODE_POINTS))
        bounds = [*alphabet.firsts, CODE_POINTS]
        for first, end, classes in zip(alphabet.firsts, bounds[1:], alphabet.maps, strict=True):
            of_atom = np.frombuffer(classes, dtype=np.uint8)
            per_code_point[first:end] = of_atom[per_code_point[first:end]]
        self.classes: NDArray[np.uint8] = per_code_point
        self._ascii = per_code_point[:128].tobytes().ljust(256, b"\0")
        self._members = {
            mask: bytes(mask >> min(class_, END) & 1 for class_ in range(256))
            for mask in alphabet.bits.values()
        }

    def text(self, chars: str, partial: bool) -> Text:
        """Return `chars` classified; with `partial`, more may follow. O(len(chars))."""
        if chars.isascii():
            classes = chars.encode("ascii").translate(self._ascii)
        else:
            classes = self.classes[code_points_of(chars)].tobytes()
        return Text(chars, classes + bytes([END]), self._members, partial)


class Text:
    """A classified text.

    `members[mask]` has IN or OUT for each code point, by whether its class is in the mask, and OUT
    at the end of the text, where every run stops.
    """

    __slots__ = ("chars", "classes", "group_end", "members", "open", "partial", "restart", "room",
                 "size", "space_end", "space_newline")  # fmt: skip

    def __init__(
        self, chars: str, classes: bytes, members: dict[int, bytes], partial: bool
    ) -> None:
        self.chars = chars
        self.classes = classes
        self.members = {mask: classes.translate(member) for mask, member in members.items()}
        self.size = len(chars)
        self.partial = partial
        self.open = 0
        self.room = UNLIMITED
        self.restart = 0
        self.space_end = 0
        self.space_newline = -1
        self.group_end = 0

    def undecided(self, mask: int, room: int = UNLIMITED, last_word: int = 0) -> int:
        """Say that what follows decides, but not fewer than `room` code points, all in `mask`.

        A match that continues at `last_word` does not depend on the text before `last_word`.
        """
        self.open = mask
        self.room = room
        self.restart = last_word
        return UNDECIDED
