"""Define TriedTexts, which tries texts to find out whether an id may follow open ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, product
from typing import TypeAlias

import numpy as np

from bpe.canonical.classes import Classes
from bpe.canonical.open_ids import OpenIds, is_valid
from bpe.canonical.pairs import Pairs
from bpe.canonical.token_texts import TokenTexts, complete_part

Encode: TypeAlias = Callable[[list[bytes]], "list[list[int]]"]
Firsts: TypeAlias = Callable[[], Collection[int]]
"""Returns the classes of the characters that may follow an id."""
MAX_EXAMPLES = 40
"""The maximal number of characters of a class that are tried after an id."""
BATCH = 4096
"""The number of texts that are encoded at once."""


class TriedTexts:
    """Encodes texts that begin with the bytes of open ids and of an id."""

    def __init__(
        self,
        pairs: Pairs,
        classes: Classes,
        texts: TokenTexts,
        tokens: Mapping[int, bytes],
        encode: Encode,
    ) -> None:
        """Store the parts; they are those of NextIds."""
        self._pairs, self._classes, self._texts = pairs, classes, texts
        self._tokens, self._encode = tokens, encode

    def found(self, state: OpenIds, tried: Mapping[int, Firsts]) -> list[int]:
        """Return those of `tried` that follow the open ids in the ids of some text."""
        # The first text of each id mostly shows it, so these texts are encoded together.
        firsts = [next(self._endings(state, id, None), b"\xff") for id in tried]
        encoded = iter(self._encode([text for text in firsts if is_valid(text)]))
        size = len(state.all_ids) + 1
        return [
            id
            for id, text in zip(tried, firsts, strict=True)
            if (is_valid(text) and next(encoded)[:size] == [*state.all_ids, id])
            or self.search(state, id, tried[id]()) is not None
        ]

    def search(self, state: OpenIds, id: int, classes: Collection[int] | None) -> bytes | None:
        """Return a text whose ids begin with the open ids and `id`, or None.

        `classes` are the classes of the characters that may follow, or None for any.
        """
        wanted = [*state.all_ids, id]
        found = self.first(wanted, self._endings(state, id, classes))
        if found is not None or self._texts.is_open[id] or not self._pairs.is_made[id]:
            return found
        # Each token that may be the next one of the same pre-token.
        apart = self._pairs.apart(id)[self._texts.ids]
        if classes is not None:
            firsts = [-1, *self._classes.plain[list(classes)]]
            apart = apart & np.isin(self._texts.firsts[self._texts.ids], firsts)
        followers = np.flatnonzero(apart).tolist()
        start = state.data + self._tokens[id]
        return self.first(wanted, (start + self._texts.texts[n].encode() for n in followers))

    def first(self, wanted: list[int], texts: Iterable[bytes]) -> bytes | None:
        """Return the first text whose ids begin with `wanted`."""
        rest, size = iter(texts), 8
        while batch := list(islice(rest, size)):
            size = min(size * 4, BATCH)
            valid = [text for text in batch if is_valid(text)]
            for text, ids in zip(valid, self._encode(valid), strict=True):
                if ids[: len(wanted)] == wanted:
                    return text
        return None

    def _endings(self, state: OpenIds, id: int, classes: Collection[int] | None) -> Iterator[bytes]:
        """Yield the bytes of the open ids and `id`, and texts that begin with them.

        The texts end with a whole character. `classes` are those of `search`.
        """
        data = state.data + self._tokens[id]
        _, end = complete_part(data)
        starts = [data]
        if end < len(data):
            before = data[:end].decode("utf-8", "replace")
            completions = self._texts.completions(id, data[end:], before)
            starts = [data[:end] + char.encode() for char in completions]
        yield from starts
        examples = [
            char
            for class_, chars in enumerate(self._classes.examples)
            if classes is None or class_ in classes
            for char in chars[:MAX_EXAMPLES]
        ]
        any_class = [chars[0] for chars in self._classes.examples if chars]
        for start in starts:
            for char in examples:
                yield start + char.encode()
        for start, char, last in product(starts[:8], examples[:64], any_class):
            yield start + (char + last).encode()
