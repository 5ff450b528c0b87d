"""Define Reachability, which says for each token of a vocabulary how text becomes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, overload

from bpe.errors import UnknownTokenError

TokenReach: TypeAlias = Literal[
    "alone", "context", "added", "bytes",
    "merges", "split", "normalizer", "hidden", "fallback", "unproven",
]  # fmt: skip
"""How text becomes a token, or the reason that no text does; see `Reachability`."""

REACHED: tuple[TokenReach, ...] = ("alone", "context", "added", "bytes")
KINDS: tuple[TokenReach, ...] = (
    *REACHED, "merges", "split", "normalizer", "hidden", "fallback", "unproven",
)  # fmt: skip


class TokenWitness(NamedTuple):
    """A token, how text becomes it, and the witness or the proof."""

    id: int
    token: bytes
    """The bytes of the token; the content of an added token."""
    kind: TokenReach
    witness: str | bytes | None
    """A text whose ids have the token, or None."""
    reason: str
    """One sentence that says how the witness encodes, or why there is none."""

    @property
    def is_reachable(self) -> bool:
        """True if there is a witness."""
        return self.witness is not None


class Reachability(Sequence[TokenWitness]):
    """The witness of each token, or the proof that there is none; in order of ids.

    A witness is a text whose `encode(text, special="allow")` has the id of the token. The kinds of
    tokens with a witness are:

    - "alone": the ids of the witness are the token alone
    - "context": the ids of the witness have the token among others
    - "added": the token is an added token
    - "bytes": no str becomes the token, but bytes that are not valid UTF-8 do

    The kinds of tokens that no text becomes, each with a proof:

    - "merges": no sequence of merges makes the token
    - "split": the pre-tokenizer always splits the bytes of the token
    - "normalizer": no normalized text has the bytes of the token
    - "hidden": an added token always matches in the bytes of the token
    - "fallback": the token stands for a byte, and each character with this byte is a token itself

    A token is "unproven" if the search found no str, and there is no proof either. Then it may be
    reachable in a context that the search did not try. It has a witness if bytes become it.

    >>> import bpe
    >>> tok = bpe.train(["ab"], vocab_size=257)
    >>> found = bpe.reachability(tok)
    >>> found.counts["alone"], found.witness(256), found.reason(0xFF)
    (129, 'ab', 'no str becomes the token: its bytes are never part of valid UTF-8')
    """

    def __init__(self, records: Sequence[TokenWitness]) -> None:
        """Store records in the order of their ids."""
        self._records = tuple(records)
        self._by_id = {record.id: record for record in records}

    @property
    def counts(self) -> dict[TokenReach, int]:
        """The number of tokens of each kind."""
        counts = dict.fromkeys(KINDS, 0)
        for record in self._records:
            counts[record.kind] += 1
        return counts

    @property
    def unreachable(self) -> tuple[int, ...]:
        """The ids of the tokens that provably no text becomes."""
        others = {*REACHED, "unproven"}
        return tuple(record.id for record in self._records if record.kind not in others)

    @property
    def unproven(self) -> tuple[int, ...]:
        """The ids of the tokens with neither a str as a witness nor a proof."""
        return self.of_kind("unproven")

    def of_kind(self, kind: TokenReach) -> tuple[int, ...]:
        """Return the ids of the tokens of one kind."""
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}; expected one of {', '.join(KINDS)}")
        return tuple(record.id for record in self._records if record.kind == kind)

    def of(self, id: int) -> TokenWitness:
        """Return the record of the token with this id; raises UnknownTokenError if none has it."""
        record = self._by_id.get(id)
        if record is None:
            raise UnknownTokenError(f"no token has the id {id}")
        return record

    def witness(self, id: int) -> str | bytes | None:
        """Return a text that becomes the token, or None. Otherwise like `of`."""
        return self.of(id).witness

    def reason(self, id: int) -> str:
        """Return the sentence about the token. Otherwise like `of`."""
        return self.of(id).reason

    @overload
    def __getitem__(self, index: int) -> TokenWitness: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TokenWitness, ...]: ...

    def __getitem__(self, index: int | slice) -> TokenWitness | tuple[TokenWitness, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[TokenWitness]:
        return iter(self._records)

    def __repr__(self) -> str:
        counts = ", ".join(f"{size} {kind}" for kind, size in self.counts.items() if size)
        return f"<Reachability of {len(self)} tokens: {counts}>"
