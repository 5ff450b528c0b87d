"""Define `Differences`, the result of `compare`, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bpe.conversion.difference import TextDifference
from bpe.conversion.flags import flags_of
from bpe.encoding.added_tokens import AddedToken
from bpe.errors import shortened

_MAX_SHOWN = 5


class MovedToken(NamedTuple):
    """A token with different ids."""

    token: bytes
    id: int
    other_id: int


class MergeDifferences(NamedTuple):
    """How two lists of merges differ."""

    only_in_first: int
    """The number of merges that the second tokenizer lacks."""
    only_in_second: int
    rank: int
    """The first rank at which the lists differ."""
    merge: tuple[bytes, bytes] | None
    """The merge of this rank in the first tokenizer; None after the end of its list."""
    other_merge: tuple[bytes, bytes] | None


class PartDifference(NamedTuple):
    """A part that differs, as text."""

    part: str
    value: str
    other_value: str


@dataclass(frozen=True)
class Differences:
    """The differences between two tokenizers. It is false if there are none.

    Tokens are in the bytes that they add to a decoded text. Added tokens are listed apart.
    """

    names: tuple[str, str]
    """The names of the tokenizers: their paths, or "the first" and "the second"."""
    only_in_first: tuple[tuple[bytes, int], ...] = ()
    """The tokens that the second tokenizer lacks, and their ids."""
    only_in_second: tuple[tuple[bytes, int], ...] = ()
    moved: tuple[MovedToken, ...] = ()
    """The tokens of both with different ids."""
    merges: MergeDifferences | None = None
    """How the merges differ. None if they do not, or if the tokenizers merge in different ways."""
    added_only_in_first: tuple[AddedToken, ...] = ()
    added_only_in_second: tuple[AddedToken, ...] = ()
    changed: tuple[tuple[AddedToken, AddedToken], ...] = ()
    """The added tokens with different ids or flags."""
    parts: tuple[PartDifference, ...] = ()
    """The other parts that differ, such as the pre-tokenizer or the chat template."""
    example: TextDifference | None = None
    """A short text with different ids, or with different text for its ids; None if none of the
    compared texts has any."""
    texts: int = 0
    """The number of texts compared."""

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return any(self._lines())

    def __str__(self) -> str:
        """Return a text with a line for each difference, and some examples of each kind."""
        lines = list(self._lines())
        first, second = self.names
        if not lines:
            return f"no difference; {self.texts:,} texts have equal ids"
        if self.example is None:
            lines.append(f"ids: equal for all {self.texts:,} compared texts")
        return "\n".join([f"first: {first}", f"second: {second}", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return all differences as values that JSON can hold; tokens are text with escapes."""
        example = None if self.example is None else self.example._asdict()
        merges = None
        if self.merges is not None:
            merges = self.merges._asdict()
            for name in ("merge", "other_merge"):
                merges[name] = None if merges[name] is None else [*map(_text, merges[name])]
        return {
            "names": list(self.names),
            "only_in_first": [[_text(token), id] for token, id in self.only_in_first],
            "only_in_second": [[_text(token), id] for token, id in self.only_in_second],
            "moved": [[_text(token), id, other_id] for token, id, other_id in self.moved],
            "merges": merges,
            "added_only_in_first": [*map(_record, self.added_only_in_first)],
            "added_only_in_second": [*map(_record, self.added_only_in_second)],
            "changed": [[_record(token), _record(other)] for token, other in self.changed],
            "parts": {part: [value, other] for part, value, other in self.parts},
            "example": example,
            "texts": self.texts,
        }

    def _lines(self) -> Iterator[str]:
        yield from _listed("tokens only in the first", [*map(_token, self.only_in_first)])
        yield from _listed("tokens only in the second", [*map(_token, self.only_in_second)])
        yield from _listed(
            "tokens with other ids",
            [f"{shortened(token)} {id} -> {other}" for token, id, other in self.moved],
        )
        if self.merges is not None:
            only, other_only, rank, merge, other_merge = self.merges
            yield (
                f"merges: {only:,} only in the first, {other_only:,} only in the second; the first "
                f"difference is rank {rank}: {_merge(merge)} and {_merge(other_merge)}"
            )
        yield from _listed(
            "added tokens only in the first", [*map(_added, self.added_only_in_first)]
        )
        yield from _listed(
            "added tokens only in the second", [*map(_added, self.added_only_in_second)]
        )
        yield from _listed(
            "added tokens that differ",
            [f"{_added(token)} -> {_added(other)}" for token, other in self.changed],
        )
        for part, value, other in self.parts:
            yield f"{part}: {value} and {other}"
        if self.example is not None:
            yield f"example: {self.example}"


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        rest = ", …" * (len(items) > _MAX_SHOWN)
        yield f"{title}: {len(items):,} ({', '.join(items[:_MAX_SHOWN])}{rest})"


def _token(item: tuple[bytes, int]) -> str:
    return f"{shortened(item[0])} {item[1]}"


def _merge(merge: tuple[bytes, bytes] | None) -> str:
    return "none" if merge is None else f"{shortened(merge[0])} {shortened(merge[1])}"


def _added(token: AddedToken) -> str:
    flags = [name for name, is_set in flags_of(token).items() if is_set]
    return f"{shortened(token.content)} {token.id}{f' ({chr(44).join(flags)})' if flags else ''}"


def _record(token: AddedToken) -> dict[str, Any]:
    return {"content": token.content, "id": token.id, **flags_of(token)}


def _text(token: bytes) -> str:
    return token.decode("utf-8", "backslashreplace")
