"""Define TokenTexts, the table of the tokens of a TextVocabulary."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from bpe.once import once
from bpe.vocabulary import Packed


class TokenTexts:
    """The texts of tokens by id, the ids by text, and both as arrays.

    The first access of a form makes it from another form.

    >>> texts = TokenTexts({0: "a", 1: "▁b"})
    >>> texts.ids["▁b"], texts.text_of(1), texts.size
    (1, '▁b', 2)
    """

    def __init__(
        self,
        by_id: Mapping[int, str] | None,
        ids: Mapping[str, int] | None = None,
        packed: Packed | None = None,
    ) -> None:
        """Store the forms that the caller has: `by_id`, or both `ids` and `packed`."""
        self._by_id = None if by_id is None else dict(by_id)
        self._ids = ids
        self._packed = packed

    @property
    def by_id(self) -> dict[int, str]:
        """The text of each token."""
        by_id = self._by_id
        if by_id is None:
            by_id = self._by_id = {id: text for text, id in self.ids.items()}
        return by_id

    @property
    def ids(self) -> Mapping[str, int]:
        """The id of each token by its text."""
        ids = self._ids
        if ids is None:
            ids = self._ids = {text: id for id, text in self.by_id.items()}
        return ids

    @property
    def token_ids(self) -> Collection[int]:
        """The ids of all tokens, in any order."""
        if self._by_id is None and self._packed is not None:
            ids: list[int] = self._packed.ids.tolist()
            return ids
        return self.by_id.keys()

    @property
    def packed(self) -> Packed:
        """The texts as arrays."""
        packed = self._packed
        if packed is None:
            packed = Packed.of({id: text.encode() for id, text in self.by_id.items()})
            self._packed = packed
        return packed

    def text_of(self, id: int) -> str | None:
        """Return the text of the token with this id, or None."""
        if self._by_id is not None or self._packed is None:
            return self.by_id.get(id)
        data, lengths, _ = self._packed
        places, ends = self._places
        place = int(places[id]) if 0 <= id < len(places) else -1
        end = int(ends[place])
        return None if place < 0 else data[end - int(lengths[place]) : end].decode()

    @once
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The index of each id in `packed`, or -1; and the end of each text in its data."""
        places = np.full(self.size, -1, np.int64)
        places[self.packed.ids] = np.arange(len(self.packed.ids))
        return places, np.cumsum(self.packed.lengths, dtype=np.int64)

    @once
    def size(self) -> int:
        """One more than the largest id."""
        if self._packed is not None:
            return 1 + int(self._packed.ids.max())
        return 1 + max(self.by_id, default=-1)
