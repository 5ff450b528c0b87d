"""Define AddedTokenList, whose added tokens are made when first read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from bpe.encoding.added_tokens import AddedToken, Record
from bpe.once import once


class AddedTokenList(Sequence[AddedToken]):
    """Added tokens, and what a Tokenizer needs of them.

    Some files have a thousand added tokens, whose objects take longer to make than the rest of the
    file to read. `of_records` returns a list that makes them when first read.

    >>> AddedTokenList([AddedToken("<s>", 1)]).special_ids
    frozenset({1})
    """

    def __init__(self, tokens: Iterable[AddedToken] = ()) -> None:
        self._tokens: tuple[AddedToken, ...] | None = tuple(tokens)
        self._records: list[Record] | None = None

    @classmethod
    def of(cls, tokens: Iterable[AddedToken]) -> AddedTokenList:
        """Return `tokens` if it is an AddedTokenList, else a list of `tokens`."""
        return tokens if isinstance(tokens, cls) else cls(tokens)

    @classmethod
    def of_records(cls, records: list[Record]) -> AddedTokenList:
        """Return the list of tokens that C++ has read and checked."""
        result = cls()
        result._tokens, result._records = None, records
        return result

    @property
    def tokens(self) -> tuple[AddedToken, ...]:
        """All tokens."""
        if self._tokens is None:
            self._tokens = tuple(AddedToken(*record) for record in self.records)
        return self._tokens

    @property
    def records(self) -> list[Record]:
        """All tokens as C++ takes them."""
        if self._records is None:
            self._records = [token._record for token in self.tokens]
        return self._records

    @once
    def by_content(self) -> dict[str, AddedToken]:
        """The tokens by their texts."""
        return {token.content: token for token in self.tokens}

    @once
    def special_ids(self) -> frozenset[int]:
        """The ids of special tokens."""
        return frozenset(id for _, id, special, *_ in self.records if special)

    @once
    def special_contents(self) -> frozenset[str]:
        """The texts of special tokens."""
        return frozenset(content for content, _, special, *_ in self.records if special)

    @property
    def beside_text(self) -> AddedTokenList:
        """The tokens to search for if special tokens are text.

        A special token that is text has one effect: no other token of its phase matches within it.
        So a phase of only special tokens needs no search. The tokens that are searched before
        normalization are one phase, and the `normalized` tokens are the other one.
        """
        phases = {normalized for _, _, special, normalized, *_ in self.records if not special}
        kept = [record for record in self.records if record[3] in phases]
        return self if len(kept) == len(self) else AddedTokenList.of_records(kept)

    @once
    def normalized(self) -> tuple[AddedToken, ...]:
        """The tokens that are searched in normalized text."""
        kept = [record for record in self.records if record[3]]
        return tuple(AddedToken(*record) for record in kept)

    @overload
    def __getitem__(self, index: int) -> AddedToken: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[AddedToken, ...]: ...

    def __getitem__(self, index: int | slice) -> AddedToken | tuple[AddedToken, ...]:
        return self.tokens[index]

    def __iter__(self) -> Iterator[AddedToken]:
        return iter(self.tokens)

    def __len__(self) -> int:
        return len(self.records if self._tokens is None else self._tokens)

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
