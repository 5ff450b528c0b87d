"""Define FilePieces, the tokens of a SentencePiece .model that C++ has read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe.once import once
from bpe.token_table import Packed, TokenTable

if TYPE_CHECKING:
    from pretok import _core


class FilePieces(TokenTable):
    """The tokens of a file by id, and the scores of its pieces, made when first read."""

    def __init__(
        self, table: _core.PieceTable, others: Mapping[int, bytes], symbols: Packed
    ) -> None:
        """Store `table`, which has the pieces, and the other tokens: `others` and `symbols`.

        All ids below the number of tokens are in use.
        """
        super().__init__()
        self._size = table.size
        self.has_mark = table.has_mark
        self._table = table
        self._listed = dict(others)
        self._symbols = symbols

    @property
    def table(self) -> _core.PieceTable | None:
        """The pieces in C++; None if C++ cannot order them by their scores."""
        return self._table if self._table.is_ordered else None

    def _unpacked(self) -> dict[int, bytes]:
        return dict(sorted((self._pieces[0].unpacked() | self._others).items()))

    @property
    def size(self) -> int:
        """One more than the largest id."""
        return self._size

    @once
    def scores(self) -> dict[int, float]:
        """The score of each piece by its id."""
        packed, scores = self._pieces
        return dict(zip(packed.ids.tolist(), scores.tolist(), strict=True))

    def get(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        other = self._others.get(id)
        return self.by_id.get(id) if other is None else other

    @once
    def _others(self) -> dict[int, bytes]:
        return {**self._listed, **self._symbols.unpacked()}

    @once
    def _pieces(self) -> tuple[Packed, NDArray[np.float32]]:
        packed, scores = self._table.arrays()
        return Packed(*packed), scores
