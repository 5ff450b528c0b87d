"""The classes of code points that some character sets tell apart, and the sets as masks of them.

The classes are the coarsest partition of the code points that the rules of a stage can tell apart,
so a mask over them fits a machine word whatever sets a user writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pretok.charsets.sets import CharSet
from pretok.errors import InvalidRuleError
from pretok.unicode.atoms import ATOMS

END = 31
"""The class of the end of the text: no mask has this bit, so every run stops there."""
NO_MASK = 0


@dataclass(frozen=True)
class Alphabet:
    """The partition: from `firsts[i]` on, a code point of atom `a` has class `maps[i][a]`.

    `bits[s]` is the mask of the classes that make up set `s`.
    """

    firsts: tuple[int, ...]
    maps: tuple[bytes, ...]
    bits: dict[CharSet, int]
    size: int

    def mask(self, chars: CharSet | None) -> int:
        """Return the mask of `chars`, which must be one of the sets partitioned; 0 for None."""
        return NO_MASK if chars is None else self.bits[chars]


def partition(sets: Iterable[CharSet]) -> Alphabet:
    """Return the coarsest partition of the code points in which each set is a union of classes.

    Raises InvalidRuleError if it has more than 31 classes. O(sets x segments x atoms).
    """
    unique = list(dict.fromkeys(sets))
    firsts = sorted({first for chars in unique for first, _ in chars.segments} | {0})
    class_of: dict[int, int] = {}
    maps = []
    for first in firsts:
        masks = [chars.mask_at(first) for chars in unique]
        signatures = [
            sum((mask >> atom & 1) << i for i, mask in enumerate(masks))
            for atom in range(len(ATOMS))
        ]
        maps.append(bytes(class_of.setdefault(s, len(class_of)) & 0xFF for s in signatures))
    if len(class_of) > END:
        raise InvalidRuleError(
            f"the rules tell {len(class_of)} classes of code points apart; at most {END} are "
            "possible. Write fewer different character sets, or cut the text in an earlier step"
        )
    bits = {
        chars: sum(1 << class_ for signature, class_ in class_of.items() if signature >> i & 1)
        for i, chars in enumerate(unique)
    }
    return Alphabet(tuple(firsts), tuple(maps), bits, len(class_of))
