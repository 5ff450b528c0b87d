"""Define Derivations, which says of which two tokens merges make each token.

In any pre-token, merges make a token of the same two tokens. Proof: before a merge makes a token,
no merge crosses its borders, so its bytes merge as they do alone, and the last merge is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import TypeAlias, TypeVar

import numpy as np

from bpe.characters.text_vocabulary import TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.once import once
from bpe.vocabulary import Merge, Rows, Vocabulary

Pair: TypeAlias = tuple[int, int]
Symbol = TypeVar("Symbol")


class Derivations:
    """The merges that make the tokens of a vocabulary.

    `rows` has the merges in order of rank (`Tokenizer.merge_ids` as an array).

    >>> tokens = {byte: bytes([byte]) for byte in range(256)}
    >>> tokens |= {256: b"ab", 257: b"abb", 258: b"bb"}
    >>> made = Vocabulary(tokens, merges=[(97, 98, 256), (97, 258, 257), (98, 98, 258)])
    >>> found = Derivations(made, made.merge_rows)
    >>> found.of(256), found.of(257), found.is_made(257), found.is_made(97)
    ((97, 98), (), False, True)
    """

    def __init__(self, vocabulary: Vocabulary, rows: Rows) -> None:
        self._vocabulary = vocabulary
        self._rows = rows
        # If a pair is listed twice, the last merge counts.
        self.effective: dict[Pair, tuple[int, int]] = {
            (left, right): (rank, result)
            for rank, (left, right, result) in enumerate(rows.tolist())
        }
        """(rank, result) of each pair of ids that merges, unless merges depend on texts."""
        self._known: dict[int, tuple[int, ...] | None] = {}

    @property
    def merges(self) -> list[Merge]:
        """The merges that have an effect, in order of rank."""
        ranked = sorted((rank, pair, id) for pair, (rank, id) in self.effective.items())
        return [(*pair, id) for _, pair, id in ranked]

    @once
    def depends_on_place(self) -> bool:
        """True if a token may have several derivations, depending on its place in the pre-token."""
        vocabulary = self._vocabulary
        if not isinstance(vocabulary, TextVocabulary):
            return False
        options = vocabulary.options
        if options.prefix or options.suffix or not vocabulary.concatenates:
            return True
        # The unknown token and fallback tokens stand for other characters than their texts have.
        others = {vocabulary.unknown_id, *vocabulary.byte_ids.values()}
        return any(left in others or right in others for left, right, _ in vocabulary.merges)

    def of(self, id: int) -> tuple[int, ...]:
        """Return the ids of the tokens that the token is made of; () if no merge makes it.

        If derivations depend on the place, return all tokens that the merges of the token name.
        """
        return self._derivation(id) or ()

    def is_made(self, id: int) -> bool:
        """Return whether merges make the token, or a character or byte becomes it by itself."""
        return self._derivation(id) is not None

    def rank(self, id: int) -> int:
        """Return the rank of the first merge that makes the token; the number of merges if none."""
        return self._ranks.get(id, len(self._rows))

    @once
    def _ranks(self) -> dict[int, int]:
        ids, ranks = np.unique(self._rows[:, 2], return_index=True)
        return dict(zip(ids.tolist(), ranks.tolist(), strict=True))

    def _derivation(self, id: int) -> tuple[int, ...] | None:
        """Return the parts of a token; () for a first symbol, and None if nothing makes it."""
        if id not in self._known:
            self._known[id] = self._derive(id)
        return self._known[id]

    def _derive(self, id: int) -> tuple[int, ...] | None:
        vocabulary = self._vocabulary
        if isinstance(vocabulary, CharacterVocabulary):
            return self._derive_piece(vocabulary, id)
        if isinstance(vocabulary, TextVocabulary):
            if self.depends_on_place:
                return self._all_parts.get(id, () if _is_symbol(vocabulary, id) else None)
            pieces = vocabulary.pieces
            symbols = [pieces.get(char, -1) for char in vocabulary.texts[id]]
        elif vocabulary.from_ranks:
            is_byte = len(vocabulary.token_bytes[id]) == 1
            return () if is_byte else self._all_parts.get(id)
        else:
            byte_ids = vocabulary.byte_ids
            symbols = [byte_ids.get(byte, -1) for byte in vocabulary.token_bytes[id]]
        return _last_pair(symbols, id, self.effective.get)

    def _derive_piece(self, vocabulary: CharacterVocabulary, id: int) -> tuple[int, ...] | None:
        if id not in vocabulary.scores:
            return None
        pieces, ranks = vocabulary.pieces, vocabulary.ranks
        text = vocabulary.token_bytes[id].decode()

        def find(pair: tuple[str, str]) -> tuple[int, str] | None:
            piece = pieces.get(pair[0] + pair[1])
            return None if piece is None else (ranks[piece], pair[0] + pair[1])

        parts = _last_pair(list(text), text, find)
        return None if parts is None else tuple(pieces[part] for part in parts if part in pieces)

    @once
    def _all_parts(self) -> dict[int, tuple[int, ...]]:
        """The tokens that the merges of each token name."""
        parts: dict[int, tuple[int, ...]] = {}
        for pair, (_, id) in self.effective.items():
            parts[id] = tuple(sorted({*parts.get(id, ()), *pair}))
        return parts


def _is_symbol(vocabulary: TextVocabulary, id: int) -> bool:
    """Return whether a character or byte of some text may become the token by itself."""
    if id == vocabulary.unknown_id or id in vocabulary.byte_ids.values():
        return True
    options, text = vocabulary.options, vocabulary.texts[id]
    ends = product({"", options.prefix}, {"", options.suffix})
    return any(
        text.startswith(prefix)
        and text.endswith(suffix)
        and len(text) == len(prefix) + 1 + len(suffix)
        for prefix, suffix in ends
    )


def _last_pair(
    symbols: list[Symbol],
    result: Symbol,
    find: Callable[[tuple[Symbol, Symbol]], tuple[int, Symbol] | None],
) -> tuple[Symbol, ...] | None:
    """Return the last two symbols before `symbols` become `result`; None if they do not.

    Returns () if `symbols` are `result` alone.
    """
    last: tuple[Symbol, ...] = ()
    while len(symbols) > 1:
        merges = ((find(pair), at) for at, pair in enumerate(pairwise(symbols)))
        best = min(
            ((*merge, at) for merge, at in merges if merge), key=_rank_and_place, default=None
        )
        if best is None:
            return None
        _, merged, at = best
        last = symbols[at], symbols[at + 1]
        symbols[at : at + 2] = [merged]
    return last if symbols == [result] else None


def _rank_and_place(merge: tuple[int, object, int]) -> tuple[int, int]:
    return merge[0], merge[2]
