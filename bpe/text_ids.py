"""Define TextIds, the vocabulary of a tokenizer.json that C++ has read."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bpe.once import once

if TYPE_CHECKING:
    from pretok import _core


def find_all(ids: Mapping[str, int], texts: Sequence[str]) -> list[int | None]:
    """Return the id of each text, or None; in one call for TextIds, which is faster."""
    return ids.find_all(texts) if isinstance(ids, TextIds) else list(map(ids.get, texts))


class TextIds(Mapping[str, int]):
    """The id of each token of the vocabulary, by the text of the token. Immutable.

    A look-up makes no Python objects for the other tokens, but iterating makes a dict of all.
    """

    def __init__(self, native: _core.JsonFile) -> None:
        self.native = native

    @once
    def _ids(self) -> dict[str, int]:
        return self.native.ids()

    def items(self) -> ItemsView[str, int]:
        """Return the items of a new dict. Mapping.items would look up each token, which is slow."""
        return self.native.ids().items()

    def __getitem__(self, text: str) -> int:
        (id,) = self.native.find_all([text])
        if id is None:
            raise KeyError(text)
        return id

    def find_all(self, texts: Sequence[str]) -> list[int | None]:
        """Return the id of each text, or None if it is not in the vocabulary."""
        return self.native.find_all(texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self.native)
