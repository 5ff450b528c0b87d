"""Define KeptText, a text that changes and its ids: PythonText, or _core.Session in C++."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import RLock
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from bpe.canonical.drift import first_difference
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.utf8 import StrOrBytes, encode_utf8
from bpe.errors import SpecialTokenError
from bpe.types import Ids, Offsets, Special
from pretok.process_lock import ProcessLock

Change: TypeAlias = tuple[int, Ids, int]
"""The fields of a Patch: (keep, ids, tail)."""


class KeptText(Protocol):
    """A text in UTF-8 and its ids, without checks of its calls. Positions count bytes.

    `policy` says which added tokens to search in the text of a call. Neighboring texts with the
    same policy are one text; a match of an added token does not cross to another policy. A call
    that raises an error changes nothing.
    """

    def append(self, text: StrOrBytes, policy: Any) -> Change:
        """Add `text` at the end. Raises SpecialTokenError with the position in the whole text."""
        ...

    def peek(self, text: StrOrBytes, policy: Any) -> Change:
        """Return the result of `append`, without a change."""
        ...

    def update(self, text: StrOrBytes, policy: Any) -> Change:
        """Replace all but the longest common start and end of the text and the new `text`."""
        ...

    def replace(self, start: int, end: int, text: StrOrBytes, policy: Any) -> Change:
        """Replace the bytes from `start` to `end`. Given ids with a replaced byte become text."""
        ...

    def extend(self, ids: Ids, sizes: Ids, text: bytes, policy: Any) -> Change:
        """Add given ids at the end; `sizes` has their numbers of bytes in `text`."""
        ...

    def clone(self) -> KeptText:
        """Return an independent copy."""
        ...

    def drop_text(self) -> None:
        """Drop text that no append changes, from now on; only append, peek, extend may follow."""
        ...

    def spans(self, first: int, last: int) -> tuple[Offsets, Offsets]:
        """Return the starts and the ends of the ids from `first` to `last`."""
        ...

    def text(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`."""
        ...

    def byte_of(self, character: int) -> int:
        """Return the byte at which a code point begins."""
        ...

    def character_of(self, byte: int) -> int:
        """Return the number of code points that begin before `byte`."""
        ...

    def parts(self) -> list[tuple[int, Any, bool]]:
        """Return the parts of the text: the number of bytes, the policy, whether ids are given.

        Neighboring parts differ.
        """
        ...

    def __len__(self) -> int:
        """Return the number of ids."""
        ...

    @property
    def ids(self) -> Ids:
        """A copy of the ids."""
        ...

    @property
    def size(self) -> int:
        """The number of bytes of the text."""
        ...

    @property
    def characters(self) -> int:
        """The number of code points of the text."""
        ...

    @property
    def stable(self) -> int:
        """A number of ids that stay whatever text is appended."""
        ...

    @property
    def memory(self) -> int:
        """The number of bytes of memory."""
        ...


@dataclass(frozen=True)
class _Item:
    """A text with a policy, or one given id with its bytes."""

    data: bytes
    policy: Special
    id: int | None = None


class _Content(NamedTuple):
    """The items of a text, the ids with their starts and ends, and the number of stable ids."""

    items: Sequence[_Item]
    spans: tuple[Ids, Offsets, Offsets]
    stable: int


class PythonText:
    """The KeptText in pure Python. Each call encodes the whole text, but for given ids."""

    # cpp/core/session/session.hpp has the same results.
    def __init__(self, pipeline: Pipeline, added_ids: dict[int, str], continuation: bool) -> None:
        """Begin with an empty text; `added_ids` has the contents of added tokens by id."""
        self._pipeline = pipeline
        self._added_ids = added_ids
        self._continuation = continuation
        # One attribute, so that a forked child never finds it half changed.
        self._content = _Content((), _no_spans(), 0)
        self._lock = ProcessLock(RLock)  # while a call changes the text

    def append(self, text: StrOrBytes, policy: Special) -> Change:
        """Add `text` at the end."""
        with self._lock():
            return self.replace(self.size, self.size, text, policy)

    def peek(self, text: StrOrBytes, policy: Special) -> Change:
        """Return the result of `append`, without a change."""
        return self.clone().append(text, policy)

    def update(self, text: StrOrBytes, policy: Special) -> Change:
        """Replace what differs from `text`."""
        new = encode_utf8(text)
        with self._lock():
            old = self.text(0, self.size)
            shorter = min(len(old), len(new))
            start = _common(old, new, shorter)
            tail = _common(old[::-1], new[::-1], shorter - start)
            return self.replace(start, len(old) - tail, new[start : len(new) - tail], policy)

    def replace(self, start: int, end: int, text: StrOrBytes, policy: Special) -> Change:
        """Replace the bytes from `start` to `end`."""
        with self._lock():
            return self._replace(start, end, encode_utf8(text), policy)

    def _replace(self, start: int, end: int, text: bytes, policy: Special) -> Change:
        if not 0 <= start <= end <= self.size:
            raise ValueError("expected 0 <= start <= end <= size")
        left: list[_Item] = []
        right: list[_Item] = []
        at = 0
        for item in self._content.items:
            first, at = at, at + len(item.data)
            if at > start and first < end:
                before = item.data[: max(0, start - first)]
                after = item.data[end - first :]
                left.append(_Item(before, item.policy))
                right.append(_Item(after, item.policy))
            else:
                (left if at <= start else right).append(item)
        return self._change([*left, _Item(text, policy), *right])

    def extend(self, ids: Ids, sizes: Ids, text: bytes, policy: Special) -> Change:
        """Add given ids at the end."""
        items = []
        at = 0
        for id, size in zip(ids.tolist(), sizes.tolist(), strict=True):
            items.append(_Item(text[at : at + size], policy, id))
            at += size
        with self._lock():
            return self._change([*self._content.items, *items])

    def _change(self, items: Sequence[_Item]) -> Change:
        """Take new items."""
        items = list(_joined(items))
        spans, stable = self._encoded(items)
        old, new = self.ids, spans[0]
        self._content = _Content(items, spans, stable)
        shorter = min(len(old), len(new))
        keep = _common(old, new, shorter)
        tail = _common(old[::-1], new[::-1], shorter - keep)
        return keep, new[keep : len(new) - tail], tail

    def _encoded(self, items: Sequence[_Item]) -> tuple[tuple[Ids, Offsets, Offsets], int]:
        """Return the ids of `items` and their spans, and the number of ids up to a given one."""
        rows = [_no_spans()]
        last: int | None = None  # the given id before a run of texts
        at = stable = 0
        for is_given, group in groupby(items, lambda item: item.id is not None):
            run = list(group)
            sizes = np.array([len(item.data) for item in run], np.int64)
            if is_given:
                ends = np.cumsum(sizes) + at
                ids = np.array([item.id for item in run], np.uint32)
                rows.append((ids, ends - sizes, ends))
                last = run[-1].id
                stable = sum(len(row[0]) for row in rows)
            else:
                rows.append(self._encoded_run(run, last, at))
            at += int(sizes.sum())
        ids, starts, stops = map(np.concatenate, zip(*rows, strict=True))
        return (ids, starts, stops), stable

    def _encoded_run(
        self, run: Sequence[_Item], last: int | None, at: int
    ) -> tuple[Ids, Offsets, Offsets]:
        """Return the ids and the spans of texts at byte `at`, after the given id `last`."""
        data = b"".join(item.data for item in run)
        ends = np.cumsum([len(item.data) for item in run]).tolist()
        ranges = [(end, item.policy, ()) for end, item in zip(ends, run, strict=True)]
        continuation = self._continuation if last is None else not self._puts_prefix_after(last)
        try:
            ids, starts, stops = self._pipeline.spans_in_ranges(data, ranges, continuation)
        except SpecialTokenError as error:
            raise SpecialTokenError(error.token, error.position + at) from None
        return ids, starts + at, np.maximum(starts, stops) + at

    def _puts_prefix_after(self, id: int) -> bool:
        """Return whether a text after the given id `id` gets a prefix."""
        content = self._added_ids.get(id)
        if content is None:
            return False
        encode = self._pipeline.encode
        first = encode("a", "allow", "replace")
        return [id, *first] == encode(content + "a", "allow", "replace")

    def clone(self) -> PythonText:
        """Return an independent copy."""
        copy = PythonText(self._pipeline, self._added_ids, self._continuation)
        copy._content = self._content
        return copy

    def drop_text(self) -> None:
        """Drop nothing, since each call encodes the whole text."""

    def spans(self, first: int, last: int) -> tuple[Offsets, Offsets]:
        """Return the starts and the ends of the ids from `first` to `last`."""
        _, starts, ends = self._content.spans
        return starts[first:last].copy(), ends[first:last].copy()

    def text(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`."""
        return b"".join(item.data for item in self._content.items)[start:end]

    def byte_of(self, character: int) -> int:
        """Return the byte at which a code point begins."""
        starts = self._character_starts()
        return int(starts[character]) if character < len(starts) else self.size

    def character_of(self, byte: int) -> int:
        """Return the number of code points that begin before `byte`."""
        return int(np.searchsorted(self._character_starts(), byte))

    def _character_starts(self) -> Offsets:
        data = np.frombuffer(self.text(0, self.size), np.uint8)
        return np.flatnonzero(data & 0xC0 != 0x80)

    def parts(self) -> list[tuple[int, Any, bool]]:
        """Return the parts of the text."""
        parts: list[tuple[int, Any, bool]] = []
        for item in self._content.items:
            is_given = item.id is not None
            size = len(item.data)
            if not size:
                continue
            if parts and parts[-1][1:] == (item.policy, is_given):
                size += parts.pop()[0]
            parts.append((size, item.policy, is_given))
        return parts

    def __len__(self) -> int:
        return len(self._content.spans[0])

    @property
    def ids(self) -> Ids:
        """A copy of the ids."""
        return self._content.spans[0].copy()

    @property
    def size(self) -> int:
        """The number of bytes of the text."""
        return sum(len(item.data) for item in self._content.items)

    @property
    def characters(self) -> int:
        """The number of code points of the text."""
        return len(self._character_starts())

    @property
    def stable(self) -> int:
        """The number of ids up to the last given one."""
        return self._content.stable

    @property
    def memory(self) -> int:
        """The number of bytes of the text and of the arrays."""
        return self.size + sum(array.nbytes for array in self._content.spans)


def _no_spans() -> tuple[Ids, Offsets, Offsets]:
    return np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)


def _joined(items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield `items` without empty texts, and with neighboring texts of one policy joined."""
    last: _Item | None = None
    for item in items:
        if item.id is None and not item.data:
            continue
        if last is not None and last.id is None and item.id is None and last.policy == item.policy:
            last = _Item(last.data + item.data, item.policy)
            continue
        if last is not None:
            yield last
        last = item
    if last is not None:
        yield last


def _common(a: Sequence[int] | Ids, b: Sequence[int] | Ids, size: int) -> int:
    """Return the number of equal first elements, at most `size`."""
    first = np.frombuffer(a, np.uint8) if isinstance(a, bytes) else np.asarray(a)
    second = np.frombuffer(b, np.uint8) if isinstance(b, bytes) else np.asarray(b)
    found = first_difference(first[:size], second[:size])
    return size if found is None else found
