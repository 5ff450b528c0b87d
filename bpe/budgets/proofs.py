"""Say for two neighbors of a text whether a cut between them is proven; bpe.budgets.cuts explains.

A cut is looked up by the two characters alone, in constant time. cpp/core/encode/pair_proofs.hpp
is the C++ version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import SPACE_MARK
from bpe.once import once
from pretok.machine.pair_cuts import PairCuts
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

if TYPE_CHECKING:
    from pretok import _core

NONE, CUT, UNKNOWN, JOINT = range(4)
"""The proofs for a cut between two neighbors. Only tables have UNKNOWN, before the first look-up.

At a JOINT a text may be cut if a token of the text ends there. Merging then never joins the two
sides, so it gives the same tokens on both.
"""
SPACES = sorted({*WHITE_SPACE_CODE_POINTS, *range(0x1C, 0x20)})
"""The code points that str.isspace() accepts. An added token may take white space beside it."""
CODE_POINT_BITS = 21


class Proofs(Protocol):
    """The proof for each pair of characters."""

    def between(self, before: str, after: str) -> int:
        """Return what is proven for two characters."""

    def are_cuts(self, points: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return for each two neighbors of n code points whether a cut is proven: n - 1 bools."""

    def native(self) -> _core.PairProofs:
        """Return the same proofs for C++."""


class SplitProofs:
    """The proofs of a split, by the kinds of both characters.

    `kinds` has the kind of each code point. The proof for kinds a and b is table[a * count + b],
    filled at the first look-up. If `strips`, nothing is proven beside white space.
    """

    def __init__(self, pairs: PairCuts, strips: bool) -> None:
        self._pairs = pairs
        self._strips = strips
        self.kinds = pairs.kinds(SPACES if strips else ())
        self.kinds.flags.writeable = False
        self._kinds: memoryview[int] = memoryview(self.kinds)  # type: ignore[arg-type]
        self.count = int(self.kinds.max()) + 1
        self.table = bytearray([UNKNOWN]) * (self.count * self.count)
        examples = np.zeros(self.count, np.int64)
        examples[self.kinds] = np.arange(len(self.kinds))
        self._examples = list(map(chr, examples.tolist()))

    def between(self, before: str, after: str) -> int:
        """Return what is proven for two characters."""
        return self.of_kinds(self._kinds[ord(before)], self._kinds[ord(after)])

    def of_kinds(self, before: int, after: int) -> int:
        """Return what is proven for characters of two kinds."""
        at = before * self.count + after
        known = self.table[at]
        if known == UNKNOWN:
            known = self.table[at] = self._proven(self._examples[before], self._examples[after])
        return known

    def are_cuts(self, points: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return for each two neighbors of n code points whether a cut is proven: n - 1 bools."""
        kinds = self.kinds[points].astype(np.intp)
        pairs = kinds[:-1] * self.count + kinds[1:]
        table = np.frombuffer(self.table, np.uint8)
        for pair in np.unique(pairs[table[pairs] == UNKNOWN]).tolist():
            self.of_kinds(*divmod(pair, self.count))
        are_cuts: NDArray[np.bool_] = table[pairs] == CUT
        return are_cuts

    def native(self) -> _core.PairProofs:
        """Return the same proofs for C++, which shares `table`."""
        from pretok import _core

        return _core.PairProofs.of_kinds(self.kinds, self.table, self.of_kinds)

    def _proven(self, before: str, after: str) -> int:
        if self._strips and (before.isspace() or after.isspace()):
            return NONE
        if self._pairs.is_cut(before, after):
            return CUT
        return JOINT if self._pairs.is_joint(before, after) else NONE


class CharacterProofs:
    """The proofs of a text vocabulary: a cut between two characters that no token holds as a pair.

    No merge crosses these cuts. All other pairs are joints, because the text is one pre-token.
    """

    def __init__(self, texts: Iterable[str], strips: bool) -> None:
        """Store the pairs of neighbors of `texts`, in which "▁" stands for a space."""
        self._texts = list(texts)
        self._strips = strips

    def between(self, before: str, after: str) -> int:
        """Return what is proven for two characters."""
        if self._strips and (before.isspace() or after.isspace()):
            return NONE
        left, right = map(ord, (before + after).replace(" ", SPACE_MARK))
        return JOINT if left << CODE_POINT_BITS | right in self._joined else CUT

    def are_cuts(self, points: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return for each two neighbors of n code points whether a cut is proven: n - 1 bools."""
        marked = np.where(points == 0x20, ord(SPACE_MARK), points).astype(np.uint64)
        pairs = marked[:-1] << np.uint64(CODE_POINT_BITS) | marked[1:]
        known = self._pairs
        at = np.searchsorted(known, pairs)
        are_cuts: NDArray[np.bool_] = known[np.minimum(at, len(known) - 1)] != pairs
        if self._strips:
            is_space = np.isin(points, SPACES)
            are_cuts &= ~(is_space[:-1] | is_space[1:])
        return are_cuts

    def native(self) -> _core.PairProofs:
        """Return the same proofs for C++."""
        from pretok import _core

        return _core.PairProofs.of_joined(self._pairs, SPACES if self._strips else [])

    @once
    def _pairs(self) -> NDArray[np.uint64]:
        """The pairs as numbers a << 21 | b that ascend. Never empty: 0 stands for no pair."""
        texts = self._texts
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        pairs = points[:-1].astype(np.uint64) << np.uint64(CODE_POINT_BITS) | points[1:]
        pairs = np.delete(pairs, ends[(ends > 0) & (ends < len(points))] - 1)
        return np.unique(pairs) if len(pairs) else np.zeros(1, np.uint64)

    @once
    def _joined(self) -> frozenset[int]:
        return frozenset(self._pairs.tolist())
