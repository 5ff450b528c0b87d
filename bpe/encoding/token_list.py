"""Define AddedTokenList, the added tokens of a tokenizer, some of them made when first read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import overload

from bpe.encoding.added_tokens import AddedToken
from bpe.once import once


class AddedTokenList(Sequence[AddedToken]):
    """Added tokens, and what a Tokenizer needs of them.

    Some SentencePiece models have a thousand control symbols, whose objects take longer to make
    than the rest of the file to read. `of_symbols` returns a list that makes them when first read.

    >>> AddedTokenList([AddedToken("<s>", 1)]).special_ids
    frozenset({1})
    """

    def __init__(self, tokens: Iterable[AddedToken] = ()) -> None:
        self._listed = tuple(tokens)
        self._symbol_ids: frozenset[int] = frozenset()
        self._symbols: Callable[[], Mapping[int, bytes]] | None = None

    @classmethod
    def of(cls, tokens: Iterable[AddedToken]) -> AddedTokenList:
        """Return `tokens` if it is an AddedTokenList, else a list of `tokens`."""
        return tokens if isinstance(tokens, cls) else cls(tokens)

    @classmethod
    def of_symbols(
        cls,
        tokens: Iterable[AddedToken],
        symbol_ids: frozenset[int],
        symbols: Callable[[], Mapping[int, bytes]],
    ) -> AddedTokenList:
        """Return a list of `tokens` and of special tokens, in order of ids.

        `symbols` returns the UTF-8 of the special tokens by id, and `symbol_ids` are these ids. The
        caller has checked that all tokens are different tokens of the vocabulary.
        """
        result = cls(tokens)
        result._symbol_ids, result._symbols = symbol_ids, symbols
        return result

    @once
    def tokens(self) -> tuple[AddedToken, ...]:
        """All tokens."""
        if self._symbols is None:
            return self._listed
        symbols = self._symbols().items()
        made = [AddedToken.of_piece(content.decode(), id, True) for id, content in symbols]
        return tuple(sorted((*self._listed, *made), key=lambda token: token.id))

    @property
    def is_checked(self) -> bool:
        """True if all tokens are known to be different tokens of the vocabulary."""
        return self._symbols is not None

    @once
    def by_content(self) -> dict[str, AddedToken]:
        """The tokens by their texts."""
        return {token.content: token for token in self.tokens}

    @once
    def special_ids(self) -> frozenset[int]:
        """The ids of special tokens."""
        return self._symbol_ids.union(token.id for token in self._listed if token.special)

    @once
    def special_contents(self) -> frozenset[str]:
        """The texts of special tokens."""
        return frozenset(token.content for token in self.tokens if token.special)

    @property
    def beside_text(self) -> tuple[AddedToken, ...]:
        """The tokens to search for if special tokens are text.

        A special token that is text has one effect: no other token of its phase matches within it.
        So a phase of only special tokens needs no search. The tokens that are searched before
        normalization are one phase, and the `normalized` tokens are the other one.
        """
        phases = {token.normalized for token in self._listed if not token.special}
        tokens = self._listed if False not in phases else self.tokens
        return tuple(token for token in tokens if token.normalized in phases)

    @once
    def has_exact(self) -> bool:
        """True if some tokens are searched before normalization."""
        return bool(self._symbol_ids) or any(not token.normalized for token in self._listed)

    @once
    def normalized(self) -> tuple[AddedToken, ...]:
        """The tokens that are searched in normalized text."""
        return tuple(token for token in self._listed if token.normalized)

    @overload
    def __getitem__(self, index: int) -> AddedToken: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[AddedToken, ...]: ...

    def __getitem__(self, index: int | slice) -> AddedToken | tuple[AddedToken, ...]:
        return self.tokens[index]

    def __iter__(self) -> Iterator[AddedToken]:
        return iter(self.tokens)

    def __len__(self) -> int:
        return len(self._listed) + len(self._symbol_ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, AddedTokenList)):
            return NotImplemented
        return self.tokens == tuple(other)

    def __hash__(self) -> int:
        return hash(self.tokens)

    def __repr__(self) -> str:
        return repr(self.tokens)

    def __reduce__(self) -> tuple[object, ...]:
        return AddedTokenList, (self.tokens,)
