"""Compile stages: character sets of rules become bit masks over a few classes of the stage's own.

Both backends run the same programs. The classes are the coarsest partition of the code points that
the rules can tell apart, so a mask over them fits a machine word whatever sets a user writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pretok.behaviors import BEHAVIORS
from pretok.classes import CharSet
from pretok.errors import InvalidRuleError
from pretok.unicode.atoms import ATOMS

if TYPE_CHECKING:
    from pretok.rules import Rule
    from pretok.stage import Stage

END = 31
"""The class of the end of the text: no mask has this bit, so every run stops there."""
NO_MASK = 0
MAGIC = 0x70740002
"""First word of serialised stages: 'pt' and the format's version."""


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


@dataclass(frozen=True)
class Program:
    """The rules of a stage over one alphabet: what both backends run."""

    rules: tuple[Rule, ...]
    alphabet: Alphabet

    def words(self) -> list[int]:
        """Return the program as 32-bit words, as cpp/core/split/program.hpp has them."""
        alphabet = self.alphabet
        words = [alphabet.size, len(alphabet.firsts)]
        for first, classes in zip(alphabet.firsts, alphabet.maps, strict=True):
            padded = classes.ljust(-len(classes) // 4 * -4, b"\0")
            words.append(first)
            words += (int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4))
        words.append(len(self.rules))
        for rule in self.rules:
            record = rule.record(alphabet)
            words += [len(record), *record]
        return words


def compile_rules(rules: Sequence[Rule]) -> Program:
    """Return the program of `rules`; raises InvalidRuleError as `partition` does."""
    return Program(tuple(rules), partition(chars for rule in rules for chars in rule.sets()))


def stage_words(stages: Sequence[Stage]) -> list[int]:
    """Return `stages` as 32-bit words, the form that C++ reads (cpp/core/split/program.hpp).

    Raises InvalidRuleError as `partition` does.
    """
    words = [MAGIC, len(stages)]
    for stage in stages:
        program = compile_rules(stage.rules).words()
        words += [BEHAVIORS.index(stage.behavior), int(stage.invert), len(program), *program]
    return words
