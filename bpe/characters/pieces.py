"""ScoredPieces: the tokens of a CharacterVocabulary by id, and the scores of its pieces.

ListedPieces holds them as dicts, PackedPieces as arrays, which C++ takes and returns. FilePieces
makes these arrays when they are first read, from a file that C++ has read. All have the same
attributes.
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

    table: _core.PieceTable | None = None
    """The same pieces in C++, or None if C++ cannot order them by their scores."""

    def __init__(
        self, packed: Packed, packed_scores: NDArray[np.float32], others: Mapping[int, bytes]
    ) -> None:
        """Store the pieces, their scores in the same order, and `others`, the other tokens."""
        self._packed = packed, packed_scores
        self._listed = dict(others)

    @property
    def packed(self) -> Packed:
        """The pieces."""
        return self._arrays[0]

    @property
    def packed_scores(self) -> NDArray[np.float32]:
        """The scores of the pieces."""
        return self._arrays[1]

    @property
    def _arrays(self) -> tuple[Packed, NDArray[np.float32]]:
        return self._packed

    @property
    def _others(self) -> dict[int, bytes]:
        return self._listed

    @once
    def packed_size(self) -> int:
        """The number of pieces."""
        return len(self.packed.ids)

    def drop_table(self) -> None:
        """Free the table in C++, if there is one."""

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
        data, lengths, _ = self.packed
        ends = np.cumsum(lengths.astype(np.int64))[lengths == len(_MARK)]
        pieces = np.frombuffer(data, np.uint8)[ends[:, np.newaxis] + np.arange(-len(_MARK), 0)]
        return bool((pieces == np.frombuffer(_MARK, np.uint8)).all(axis=1).any())

    @property
    def arrays(self) -> PackedPieces:
        """This object."""
        return self


class FilePieces(PackedPieces):
    """Tokens and scores of a file, of which C++ has the pieces."""

    def __init__(
        self, table: _core.PieceTable, others: Mapping[int, bytes], symbols: Packed
    ) -> None:
        """Store `table`, and the other tokens: `others` and `symbols`.

        All ids below the number of tokens are in use.
        """
        self._sizes = table.size, table.normal_size
        self._has_mark = table.has_mark
        self.table = table if table.is_ordered else None
        self._source: _core.PieceTable | None = table
        self._listed = dict(others)
        self._symbols = symbols

    @property
    def size(self) -> int:
        """One more than the largest id."""
        return self._sizes[0]

    @property
    def packed_size(self) -> int:
        """The number of pieces."""
        return self._sizes[1]

    @property
    def has_mark(self) -> bool:
        """True if "▁" is a piece."""
        return self._has_mark

    @once
    def _others(self) -> dict[int, bytes]:
        return {**self._listed, **self._symbols.unpacked()}

    @once
    def _arrays(self) -> tuple[Packed, NDArray[np.float32]]:
        source = self._source
        if source is None:
            return self._arrays  # another thread has just set it, and then dropped the table
        packed, scores = source.arrays()
        return Packed(*packed), scores

    def drop_table(self) -> None:
        """Free the table in C++, and keep only the arrays."""
        _ = self._arrays
        self.table = self._source = None


ScoredPieces: TypeAlias = ListedPieces | PackedPieces
