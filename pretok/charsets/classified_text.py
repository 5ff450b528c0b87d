"""Find the class of each code point of a text, once for all rules of the Python backend.

pretok.charsets.alphabet makes the classes: the rules do not distinguish code points of one class.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pretok.charsets.alphabet import END, Alphabet
from pretok.text import code_points_of
from pretok.unicode import CODE_POINTS, table

OUT, IN = b"\0", b"\1"
"""Values of the bytes in `Text.members`."""
UNLIMITED = sys.maxsize
UNDECIDED = -2
"""Result of a Matcher if later text may change the match; see `Text.undecided`."""


class Classifier:
    """Maps a text to the classes of one alphabet in one Unicode version. Immutable."""

    def __init__(self, alphabet: Alphabet, version: str) -> None:
        atoms = _atoms(version)
        bounds = [*alphabet.range_starts, CODE_POINTS]
        classes = b"".join(
            atoms[first:end].translate(class_map.ljust(256, b"\0"))
            for first, end, class_map in zip(bounds, bounds[1:], alphabet.class_maps, strict=False)
        )
        self.classes: NDArray[np.uint8] = np.frombuffer(classes, np.uint8)
        # bytes.translate needs tables of 256 bytes. No ASCII text has a byte above 127, and no text
        # has a class above END, so the further entries of the tables may have any value.
        self._ascii = classes[:128].ljust(256, b"\0")
        self._members = {
            mask: bytes(mask >> min(class_, END) & 1 for class_ in range(256))
            for mask in alphabet.masks.values()
        }

    def text(self, chars: str, partial: bool) -> Text:
        """Return `chars` as a Text, in time O(len(chars)).

        If `partial` is true, more text may follow `chars`.
        """
        if chars.isascii():
            classes = chars.encode("ascii").translate(self._ascii)
        else:
            classes = self.classes[code_points_of(chars)].tobytes()
        return Text(chars, classes + bytes([END]), self._members, partial)


@cache
def _atoms(version: str) -> bytes:
    """Return the atom of each code point in a Unicode version."""
    starts, atoms = table(version)
    return np.repeat(atoms, np.diff(starts, append=CODE_POINTS)).tobytes()


class Text:
    """A text and the class of each of its code points; not related to pretok.text.Text.

    `members[mask]` has one byte for each code point: IN if the class of the code point is in
    `mask`, else OUT. A last byte OUT stands for the end of the text, so every run stops there.

    `pending_mask`, `pending_limit` and `restart` are the arguments of the last call of `undecided`.
    `space_end` is the end of the run that a Spaces rule scanned last. `space_newline` is the index
    of the last line break in this run, or -1. `group_end` is the end of the run that a Groups rule
    scanned last.
    """

    __slots__ = ("chars", "classes", "group_end", "members", "partial", "pending_limit",
                 "pending_mask", "restart", "size", "space_end", "space_newline")  # fmt: skip

    def __init__(
        self, chars: str, classes: bytes, members: dict[int, bytes], partial: bool
    ) -> None:
        self.chars = chars
        self.classes = classes
        self.members = {mask: classes.translate(member) for mask, member in members.items()}
        self.size = len(chars)
        self.partial = partial
        self.pending_mask = 0
        self.pending_limit = UNLIMITED
        self.restart = 0
        self.space_end = 0
        self.space_newline = -1
        self.group_end = 0

    def undecided(self, mask: int, limit: int = UNLIMITED, restart: int = 0) -> int:
        """Record that the match depends on later text, and return UNDECIDED.

        The match stays undecided while fewer than `limit` code points follow the text and the
        classes of all these code points are in `mask`. To find the end of the match later, the rule
        needs only the text from index `restart` on. A `restart` of 0 means that the rule needs the
        text from the start of the match on.
        """
        self.pending_mask = mask
        self.pending_limit = limit
        self.restart = restart
        return UNDECIDED
