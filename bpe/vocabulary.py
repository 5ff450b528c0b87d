"""Define Vocabulary, which holds tokens by id and the merges of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.errors import VocabularyError, shortened
from bpe.once import forget, once
from bpe.token_table import Packed, TokenTable

Merge = tuple[int, int, int]
"""(left id, right id, id of the result)."""
Rows: TypeAlias = NDArray[np.uint32]
"""Merges, one per row of three ids, in the order of Merge."""

ID_LIMIT = 1 << 24
"""Ids are below this limit, because tables have an entry for each id up to the largest."""

NOT_IN_UTF8 = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""Bytes that never occur in UTF-8; a vocabulary trained on text may have no tokens for them."""
UNASSIGNED = frozenset({0xF1, 0xF2})
"""The first bytes of the code points of planes 4 to 11; all these code points are unassigned."""


def check_tokens(tokens: Mapping[int, bytes]) -> None:
    """Raise VocabularyError unless ids are ints below ID_LIMIT, and tokens are non-empty bytes."""
    for id, token in tokens.items():
        if type(id) is not int or not 0 <= id < ID_LIMIT:
            raise invalid_id(id, token)
        if type(token) is not bytes or not token:
            raise VocabularyError(f"token {id} is {shortened(token)}; expected non-empty bytes")


def invalid_id(id: object, token: object) -> VocabularyError:
    """Return the error for a token whose id is not an int from 0 to ID_LIMIT - 1."""
    return VocabularyError(
        f"token {shortened(token)} has id {id!r}; expected an int from 0 to {ID_LIMIT - 1}"
    )


class Vocabulary:
    """The tokens of a byte-level BPE by id, and the ranks of their merges. Immutable.

    A merge is (left id, right id, id of the result), and its index in `merges` is its rank, as in
    tokenizer.json, merges.txt and minbpe. If a pair is listed twice, its last index counts. If
    `merges` is None, the id of a token is the rank of every merge that makes it, as in tiktoken:
    two adjacent tokens merge if their joined bytes are a token. The pair with the lowest rank
    merges first; of pairs with equal ranks, the leftmost. If `ignore_merges` is true or `merges` is
    None, a pre-token that equals a token becomes this token without merging.

    Raises VocabularyError if a byte has no token, an id or a token is invalid, or a merge does not
    concatenate its two tokens. If `merges` is given, the bytes of NOT_IN_UTF8 and UNASSIGNED need
    no tokens. If `merges` is None, two tokens must not have the same bytes.

    >>> tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab"}
    >>> Vocabulary(tokens, merges=[(97, 98, 256)])
    <Vocabulary of 257 tokens, 1 merges>
    """

    _table: TokenTable
    _merges: tuple[Merge, ...] | None = None
    _merge_rows: Rows | None = None
    _from_ranks = False
    _ignore_merges = False
    _is_fresh = False
    """True after a file was read, until a backend is made, which may defer its tables."""

    def __init__(
        self,
        token_bytes: Mapping[int, bytes],
        merges: Iterable[Merge] | None = None,
        ignore_merges: bool = False,
    ) -> None:
        if not isinstance(token_bytes, Mapping):
            raise TypeError(
                f"token_bytes is of type {type(token_bytes).__name__}; expected a mapping from ids "
                "to bytes"
            )
        self._table = TokenTable(token_bytes)
        self._merges = None if merges is None else _triples(merges)
        self._from_ranks = merges is None
        self._ignore_merges = bool(ignore_merges) or merges is None
        self._check_tokens()
        self._check_merges()

    @classmethod
    def _of_checked_merges(
        cls, token_bytes: dict[int, bytes], merges: tuple[Merge, ...], ignore_merges: bool
    ) -> Vocabulary:
        """Return a vocabulary. The caller has checked that `merges` fit `token_bytes`."""
        vocabulary = cls.__new__(cls)
        vocabulary._table, vocabulary._merges = TokenTable(token_bytes), merges
        vocabulary._ignore_merges = ignore_merges
        vocabulary._check_tokens()
        return vocabulary

    @classmethod
    def _of_packed(
        cls, packed: Packed, merges: Rows, from_ranks: bool, ignore_merges: bool
    ) -> Vocabulary:
        """Return a vocabulary. The caller has checked that `merges` fit the tokens of `packed`.

        If `from_ranks` is true, ids are ranks, and the caller has checked that no two tokens have
        the same bytes. Then `merges` is only a hint: likely merges, which make the native backend
        faster. Raises VocabularyError if a byte has no token.
        """
        rows = None if from_ranks and not len(merges) else merges
        vocabulary = cls._of_checked(packed, rows, from_ranks, ignore_merges)
        vocabulary._is_fresh = True
        vocabulary._check_bytes()
        return vocabulary

    @classmethod
    def _of_checked(
        cls, packed: Packed, merges: Rows | None, from_ranks: bool, ignore_merges: bool
    ) -> Vocabulary:
        vocabulary = cls.__new__(cls)
        vocabulary._table, vocabulary._merge_rows = TokenTable(arrays=packed), merges
        vocabulary._from_ranks, vocabulary._ignore_merges = from_ranks, ignore_merges
        return vocabulary

    @property
    def token_bytes(self) -> dict[int, bytes]:
        """The bytes of each token by its id; do not change it."""
        return self._table.by_id

    @property
    def token_ids(self) -> Collection[int]:
        """The ids of all tokens, in any order."""
        return self._table.ids

    @property
    def packed(self) -> Packed:
        """The tokens as arrays."""
        return self._table.packed

    def for_spec(self) -> tuple[Packed, dict[str, Any]]:
        """Return the tokens and the fields of pretok._core.Spec."""
        fields: dict[str, Any] = {
            "from_ranks": self._from_ranks,
            "ignore_merges": self._ignore_merges,
        }
        if self.merge_rows is not None:
            fields["merges"] = self.merge_rows
        return self.packed, fields

    def bytes_of(self, id: int) -> bytes | None:
        """Return the bytes of the token with this id, or None."""
        return self._table.get(id)

    @property
    def merges(self) -> tuple[Merge, ...] | None:
        """The merges in order of rank; None if ids are ranks."""
        merges = self._merges
        if merges is None and not self._from_ranks:
            assert self._merge_rows is not None
            merges = self._merges = tuple(map(tuple, self._merge_rows.tolist()))
        return merges

    @property
    def merge_rows(self) -> Rows | None:
        """The merges as an array of shape (n, 3).

        If ids are ranks, these are the likely merges (see `_of_packed`), or None.
        """
        if self._merge_rows is None and self._merges is not None:
            return np.array(self._merges, np.uint32).reshape(-1, 3)
        return self._merge_rows

    @property
    def from_ranks(self) -> bool:
        """True if ids are ranks: the id of a token is the rank of the merges that make it."""
        return self._from_ranks

    @property
    def ignore_merges(self) -> bool:
        """True if a pre-token that equals a token becomes this token without merging."""
        return self._ignore_merges

    @once
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes.

        If several tokens have the same bytes, this is the lowest of their ids. But if
        `ignore_merges` is false and merges make some of these tokens, it is the lowest id of those
        that a merge makes.
        """
        tokens = self.token_bytes
        ids = {token: id for id, token in sorted(tokens.items(), reverse=True)}
        if len(ids) != len(tokens) and not self._ignore_merges and self.merge_rows is not None:
            for id in np.unique(self.merge_rows[:, 2])[::-1].tolist():
                ids[tokens[id]] = id
        return ids

    @once
    def byte_ids(self) -> dict[int, int]:
        """The id of the token of each byte, except `missing_bytes`."""
        return {byte: self.ids[bytes([byte])] for byte in range(256) if bytes([byte]) in self.ids}

    @once
    def missing_bytes(self) -> tuple[int, ...]:
        """The bytes that have no token, all of them in NOT_IN_UTF8 or UNASSIGNED."""
        if self._table.arrays is not None:
            data, lengths, _ = self._table.arrays
            places = np.flatnonzero(lengths == 1)  # in most vocabularies the first ones
            ends = np.cumsum(lengths[: places.max(initial=-1) + 1], dtype=np.int64)[places]
            single = set(np.frombuffer(data, np.uint8)[ends - 1].tolist())
            return tuple(byte for byte in range(256) if byte not in single)
        tokens = frozenset(self.token_bytes.values())
        return tuple(byte for byte in range(256) if bytes([byte]) not in tokens)

    @property
    def size(self) -> int:
        """One more than the largest id."""
        return self._table.size

    def trim(self) -> None:
        """Drop cached values; they are computed again when needed."""
        forget(self, "ids")
        self._table.trim()
        if self._merge_rows is not None and not self._from_ranks:
            self._merges = None

    def _check_tokens(self) -> None:
        check_tokens(self.token_bytes)
        self._check_bytes()
        if self._from_ranks and len(self.ids) != len(self._table):
            for id, token in self.token_bytes.items():
                if self.ids[token] != id:
                    raise VocabularyError(
                        f"token {shortened(token)} has two ids, {self.ids[token]} and {id}; "
                        "expected one id for each token"
                    )

    def _check_bytes(self) -> None:
        may_miss = frozenset() if self._from_ranks else NOT_IN_UTF8 | UNASSIGNED
        missing = [byte for byte in self.missing_bytes if byte not in may_miss]
        if missing:
            raise VocabularyError(
                f"{no_token_for(missing)}; expected a byte-level vocabulary, with a token for each "
                "byte"
            )

    def _check_merges(self) -> None:
        tokens = self.token_bytes
        for rank, (left, right, result) in enumerate(self._merges or ()):
            try:
                fits = tokens[left] + tokens[right] == tokens[result]
            except KeyError:
                fits = False
            if not fits:
                raise _misfit_error(rank, (left, right, result))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (
            self._ignore_merges == other._ignore_merges
            and self.token_bytes == other.token_bytes
            and self.merges == other.merges
        )

    def __hash__(self) -> int:
        return hash((len(self._table), self._ignore_merges, self._from_ranks))

    def __repr__(self) -> str:
        how = "ranks" if self.merges is None else f"{len(self.merges)} merges"
        return f"<Vocabulary of {len(self._table)} tokens, {how}>"

    def __reduce__(self) -> tuple[object, ...]:
        # Arrays take less time and memory than the objects of `__init__`.
        arguments = self.packed, self.merge_rows, self._from_ranks, self._ignore_merges
        return Vocabulary._of_checked, arguments


def no_token_for(missing: Sequence[int]) -> str:
    """Return a clause that says which bytes have no token."""
    shown = ", ".join(f"0x{byte:02x}" for byte in missing[:8])
    more = " …" if len(missing) > 8 else ""
    return f"the vocabulary has no token for {len(missing)} of the 256 bytes: {shown}{more}"


def _triples(merges: Iterable[Merge]) -> tuple[Merge, ...]:
    """Return `merges` as tuples; raise VocabularyError if one does not have three ints."""
    rows = tuple(merges.tolist() if isinstance(merges, np.ndarray) else merges)
    if set(map(type, rows)) == {tuple} and set(map(len, rows)) == {3}:
        flat = chain.from_iterable(rows)
        if set(map(type, flat)) == {int}:
            return rows
    triples = []
    for rank, row in enumerate(rows):
        triple = tuple(row) if isinstance(row, (tuple, list)) else ()
        if len(triple) != 3 or not all(type(id) is int for id in triple):
            raise _misfit_error(rank, row)
        triples.append(triple)
    return tuple(triples)


def _misfit_error(rank: int, merge: object) -> VocabularyError:
    """Return the error for a merge that does not concatenate its two tokens."""
    return VocabularyError(
        f"merge {rank} is {shortened(merge)}; expected the ids of two tokens and of their "
        "concatenation"
    )
