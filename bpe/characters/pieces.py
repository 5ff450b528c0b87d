"""ScoredPieces: the tokens of a CharacterVocabulary by id, and the scores of its pieces.

ListedPieces holds them as dicts, and PackedPieces as arrays, which C++ reads and returns. Both have
the same attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.characters.marks import SPACE_MARK
from bpe.once import once
from bpe.vocabulary import Packed

if TYPE_CHECKING:
    from pretok import _core

_MARK = SPACE_MARK.encode()


class ListedPieces:
    """Tokens and scores as dicts.

    >>> ListedPieces({0: b"<unk>", 1: b"a"}, {1: -0.5}).arrays.scores
    {1: -0.5}
    """

    def __init__(self, token_bytes: Mapping[int, bytes], scores: Mapping[int, float]) -> None:
        self.token_bytes = dict(token_bytes)
        self.scores = dict(scores)

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        return self.token_bytes.get(id)

    @once
    def size(self) -> int:
        """One more than the largest id."""
        return 1 + max(self.token_bytes)

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a piece."""
        return _MARK in map(self.token_bytes.__getitem__, self.scores)

    @once
    def arrays(self) -> PackedPieces | None:
        """The same tokens and scores as arrays, or None if rounding would change a score."""
        tokens, scores = self.token_bytes, self.scores
        exact = np.fromiter(scores.values(), np.float64, len(scores))
        with np.errstate(over="ignore"):
            rounded = exact.astype(np.float32)
        if rounded.tolist() != list(scores.values()):
            return None  # C++ would take rounded scores for equal ones
        others = {id: token for id, token in tokens.items() if id not in scores}
        return PackedPieces(Packed.of({id: tokens[id] for id in scores}), rounded, others)


class PackedPieces:
    """Tokens and scores as arrays."""

    def __init__(
        self,
        packed: Packed,
        packed_scores: NDArray[np.float32],
        others: Mapping[int, bytes],
        table: _core.PieceTable | None = None,
    ) -> None:
        """Store the pieces, their scores in the same order, and `others`, the other tokens.

        `table` has the same pieces, if C++ can order them by their scores.
        """
        self.packed = packed
        self.packed_scores = packed_scores
        self.table = table
        self._others = dict(others)

    @once
    def token_bytes(self) -> dict[int, bytes]:
        """The bytes of each token by its id, in order of ids."""
        return dict(sorted((self.packed.unpacked() | self._others).items()))

    @once
    def scores(self) -> dict[int, float]:
        """The score of each piece by its id."""
        return dict(zip(self.packed.ids.tolist(), self.packed_scores.tolist(), strict=True))

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        other = self._others.get(id)
        return self.token_bytes.get(id) if other is None else other

    @once
    def size(self) -> int:
        """One more than the largest id."""
        return 1 + max(int(self.packed.ids.max(initial=0)), *self._others)

    @once
    def has_mark(self) -> bool:
        """True if "▁" is a piece."""
        table = self.table  # another thread may set it to None meanwhile
        if table is not None:
            return table.has_mark
        data, lengths, _ = self.packed
        ends = np.cumsum(lengths.astype(np.int64))[lengths == len(_MARK)]
        pieces = np.frombuffer(data, np.uint8)[ends[:, np.newaxis] + np.arange(-len(_MARK), 0)]
        return bool((pieces == np.frombuffer(_MARK, np.uint8)).all(axis=1).any())

    @property
    def arrays(self) -> PackedPieces:
        """This object."""
        return self


ScoredPieces: TypeAlias = ListedPieces | PackedPieces
