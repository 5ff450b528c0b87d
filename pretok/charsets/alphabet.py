"""Partition the code points into classes, and express character sets as masks of classes.

The partition is the coarsest one in which every set of a stage is a union of classes. A partition
has at most 31 classes, so the mask of a set fits in a 32-bit word, and bit 31 is free for END. An
atom is a part of another, fixed partition (pretok.unicode.atoms), from which sets are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pretok.charsets.sets import CharSet
from pretok.errors import DefinitionError
from pretok.unicode.atoms import ATOMS

END = 31
"""Class of the sentinel after the text. No mask has bit 31, so every run stops at the sentinel."""
NO_MASK = 0
"""Stands for the mask of an absent set. Contains no class."""


@dataclass(frozen=True)
class Alphabet:
    """A partition of the code points into `size` classes.

    A code point of atom `a` in the range that starts at `range_starts[i]` has class
    `class_maps[i][a]`. `masks[s]` is the mask of the classes that make up set `s`.
    """

    range_starts: tuple[int, ...]
    class_maps: tuple[bytes, ...]
    masks: dict[CharSet, int]
    size: int

    def mask(self, chars: CharSet | None) -> int:
        """Return the mask of `chars`, which must be a key of `masks`; NO_MASK for None."""
        return NO_MASK if chars is None else self.masks[chars]


def partition(sets: Iterable[CharSet]) -> Alphabet:
    """Return the coarsest partition of the code points in which each set is a union of classes.

    Raises DefinitionError if the partition has more than 31 classes. Takes time
    O(sets x segments x atoms).
    """
    unique = list(dict.fromkeys(sets))
    range_starts = sorted({first for chars in unique for first, _ in chars.segments} | {0})
    # A signature describes the code points of one atom in one range: bit i is 1 if set i contains
    # them. Code points with equal signatures form one class.
    class_of: dict[int, int] = {}
    class_maps = []
    for first in range_starts:
        atom_masks = [chars.mask_at(first) for chars in unique]
        signatures = [
            sum((mask >> atom & 1) << i for i, mask in enumerate(atom_masks))
            for atom in range(len(ATOMS))
        ]
        # `& 0xFF` keeps bytes() from failing; too many classes raise DefinitionError below.
        class_maps.append(bytes(class_of.setdefault(s, len(class_of)) & 0xFF for s in signatures))
    if len(class_of) > END:
        raise DefinitionError(
            f"the rules distinguish {len(class_of)} classes of code points; "
            f"expected {END} at most. Use fewer different character sets, or cut the text in an "
            "earlier stage"
        )
    masks = {
        chars: sum(1 << class_ for signature, class_ in class_of.items() if signature >> i & 1)
        for i, chars in enumerate(unique)
    }
    return Alphabet(tuple(range_starts), tuple(class_maps), masks, len(class_of))
