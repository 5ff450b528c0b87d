"""Make texts that are difficult to split, for differential tests; equal seeds give equal texts.

An atom is a part of a fixed partition of the code points, such as all of Nd (pretok.unicode.atoms).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from pretok.unicode import CODE_POINTS, VERSIONS, table
from pretok.unicode.atoms import ATOMS, WHITE_SPACE_CODE_POINTS

WHITE_SPACE = tuple(map(chr, WHITE_SPACE_CODE_POINTS))
# Three kinds of code points:
# - code points that only some languages or engines treat as white space, as an ASCII letter, or as
#   an apostrophe;
# - the first and last code points of planes;
# - code points that some UTF-8 decoders get wrong.
CONFUSABLE = tuple(
    chr(c)
    for c in (
        0, 0x1C, 0x1D, 0x1E, 0x1F, 0x7F, 0x80, 0xAD, 0xDF, 0x130, 0x131, 0x17F, 0x1E9E, 0x180E,
        0x200B, 0x200D, 0x2019, 0x2060, 0x212A, 0xFE0F, 0xFEFF, 0xFFFD, 0xFFFF, 0x7FF, 0x800,
        0xE000, 0xFF07, 0x10000, 0x1017F, 0x1F600, 0x1F1E6, 0xFFFFF, 0x100000, 0x10FFFF,
    )
)  # fmt: skip
CONTRACTIONS = (
    "'s", "'S", "'\u017f", "'t", "'T", "'re", "'rE", "'RE", "'ve", "'Ve", "'m", "'ll", "'lL",
    "'l", "'d", "'D", "'r", "'v", "'x", "''", "'",
)  # fmt: skip
PLAIN = (*"aszbelrvtmdSTLREVMDAZ0123789'''//!.-_$+(", " ", " ", "  ", "\n", "\r", "\r\n")
LONE_SURROGATES = ("\ud800", "\udbff", "\udc80", "\udcff", "\udfff")
# For each of these texts, some port of a published pattern gave a wrong split.
SEEDS = (
    "", "Hello  world", "a   b", "a\t b", "a \tb", "\n\nfoo", "=\n  y", "\u00a0x", "\u3000x",
    "  \n\n\n  x", "\n \n x", "a\n  ", "a \t b", "a\u0085\u0085b", "a \n \n  ", "x\nx", "a  123",
    "abc  \u4e2d\u6587", "\x1cword", "'\u017fx", "don'\u017f x", "'tis", "don't", "l'\u00e9t\u00e9",
    "'RE x'Ve", "'s's", "DON'T", "can't", "CAN'T", "I'M", "e\u0301's", "can'ts", "3'ts", "foo's",
    "a (foo)", "!!Hello", "\tword", "\U0001f600word", "\u200bword", "\x85x", "\u2028x", "\u0301a",
    "_foo_bar", "a/b", "e\u0301a", "!!word", "C++\n//x", "$100", "!\u0301\n", "\u0301A",
    "\u0301Ab", "camelCase", "HTTPResponse", "XMLHttpRequest2x", "HelloWORLD", "HELLOworld",
    "iPhone", "\u4e2dA", "\u4e2dABC", "A\u4e2dB", "A\u4e2db", "a\u02b0B", "\u02b0A", "\u01c5abo",
    "a\u0301B", ".\n//x", "foo/\n/bar", "!\n\n/", "foo/\n/x", "\uff0c\u4e2d\u6587",
    "12\u3007", "\u2178\u302112\u3007", "12345", "1234567", "12345.678", "x1234", "1234abc",
    "\u00bd1234", "\u216712", "\u2460\u0967\u0663", "a\x00\x01b", "\u200b\u200bword",
    "a\u30fbb", " \u30fbc", ".\u0301\n", "ied 4 \u00bd months", "C\u1eeda Vi\u1ec7t", "\n =",
    "' era", "w048 7tuijk dsdfhu", "\u201cHello,\u201d \u4e16\u754c\u4e16\u4e16\u754c",
    "\u2014\u2014I'm ChatGPT. CAN'T wait 'til 2026.\u4e16\u754c", "a \U0001fae8", "\u2029 \ua3e4",
    "\u0295Ab", "A\u0295B", "'S'sx", "''s", "a'\u212a", "\r\n\r\n x", "/\r/\n/", " \u0301'LL",
)  # fmt: skip


class TextMaker:
    """Makes difficult texts of at most `longest` code points.

    Texts mix code points of every atom in Unicode `version` and of every length in UTF-8, code
    points whose atom changed between Unicode versions, contractions, white space, runs, and strings
    that other splitters split wrongly. Lone surrogates occur only if `surrogates` is true. Equal
    seeds and equal calls give equal texts.
    """

    def __init__(
        self, seed: int | str, version: str, *, longest: int = 400, surrogates: bool = True
    ) -> None:
        self._rng = random.Random(seed)
        self._longest = longest
        self._surrogates = surrogates
        self._runs = _runs_by_atom_and_width(version)
        self._changed = tuple(run for run, _ in changed_runs())
        self._fixed = [*PLAIN, *WHITE_SPACE, *CONFUSABLE, *CONTRACTIONS]
        if surrogates:
            self._fixed += LONE_SURROGATES

    def batch(self, count: int) -> list[str]:
        """Return the next `count` texts."""
        # Draw new code points for each batch, so that many batches together try all of Unicode.
        drawn = [self._draw(runs) for runs in (*self._runs, *[self._changed] * 4) for _ in range(3)]
        symbols = self._fixed + [char for char in drawn if self._allowed(char)]
        return [self._text(symbols)[: self._longest] for _ in range(count)]

    def _text(self, symbols: list[str]) -> str:
        rng = self._rng
        choice = rng.random()
        length = 1 + int(16 * rng.random() ** 2)
        if choice < 0.55:
            return "".join(rng.choices(symbols, k=length))
        if choice < 0.75:
            return "".join([c * rng.choice((1, 1, 2, 3, 4, 7)) for c in rng.choices(symbols, k=4)])
        if choice < 0.93:
            return self._spliced(symbols)
        if choice < 0.995:
            return "".join([self._any() for _ in range(length // 2 + 1)]) + rng.choice(symbols)
        if choice < 0.998:  # runs longer than a vector register or a cache line
            return "".join([c * rng.randrange(99) for c in rng.choices(symbols, k=4)])
        return "".join(rng.choices(symbols, k=rng.randrange(self._longest)))

    def _spliced(self, symbols: list[str]) -> str:
        rng = self._rng
        first, second = rng.choices(SEEDS, k=2)
        left = first[: rng.randrange(len(first) + 1)]
        right = second[rng.randrange(len(second) + 1) :]
        return left + "".join(rng.choices(symbols, k=rng.randrange(4))) + right

    def _draw(self, runs: Sequence[tuple[int, int]]) -> str:
        first, last = self._rng.choice(runs)
        return chr(self._rng.randint(first, last))

    def _any(self) -> str:
        while True:
            char = chr(self._rng.randrange(CODE_POINTS))
            if self._allowed(char):
                return char

    def _allowed(self, char: str) -> bool:
        return self._surrogates or not "\ud800" <= char <= "\udfff"


@cache
def changed_runs(
    versions: tuple[str, ...] = VERSIONS,
) -> tuple[tuple[tuple[int, int], tuple[int, ...]], ...]:
    """Return ((first, last), atoms) of each run of code points whose atom changed.

    `atoms` has the run's atom in each of `versions`. Runs are maximal and ascending.
    """
    tables = [table(version) for version in versions]
    bounds = sorted({int(first) for firsts, _ in tables for first in firsts} | {CODE_POINTS})
    columns = [atoms[firsts.searchsorted(bounds[:-1], "right") - 1] for firsts, atoms in tables]
    runs: list[tuple[tuple[int, int], tuple[int, ...]]] = []
    for first, end, *atoms in zip(bounds, bounds[1:], *columns, strict=False):
        if len(set(atoms)) > 1:
            runs.append(((first, end - 1), tuple(int(atom) for atom in atoms)))
    return tuple(runs)


@cache
def _runs_by_atom_and_width(version: str) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return a tuple for each pair of an atom and a length in UTF-8.

    The tuple has the runs (first, last) of the code points with this atom and this length.
    """
    firsts, atoms = table(version)
    ends = [*firsts[1:].tolist(), CODE_POINTS]
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    widths = ((0, 0x80), (0x80, 0x800), (0x800, 0x10000), (0x10000, CODE_POINTS))
    for first, end, atom in zip(firsts.tolist(), ends, atoms.tolist(), strict=True):
        for width, (low, high) in enumerate(widths):
            if max(first, low) < min(end, high):
                run = (max(first, low), min(end, high) - 1)
                groups.setdefault((atom, width), []).append(run)
    assert {atom for atom, _ in groups} == set(range(len(ATOMS))), "expected members of every atom"
    return tuple(map(tuple, groups.values()))
