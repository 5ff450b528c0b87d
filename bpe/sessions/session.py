"""Define Session, a text that changes and its ids, and Patch, what a change does to the ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import Any, NamedTuple

import numpy as np

from bpe.canonical.drift import first_difference
from bpe.decoders.decode import list_ids
from bpe.encoding.arguments import validate_text
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.utf8 import MAX_CHAR, StrOrBytes, decode_utf8, encode_utf8
from bpe.errors import SpecialTokenError, shortened
from bpe.sessions.kept_text import Change, KeptText, PythonText
from bpe.types import Errors, Ids, Offsets, Special, Template, Text, Unit


class Patch(NamedTuple):
    """Says how a change has changed ids: the first `keep` and the last `tail` ids stay.

    `ids` is a uint32 array, the new ids between them. `keep` is as large as possible, and then
    `tail` is.
    """

    keep: int
    ids: Ids
    tail: int = 0

    def apply(self, ids: list[int]) -> None:
        """Change a list of the old ids to the new ones, in place.

        >>> ids = [1, 2, 3, 4]
        >>> Patch(1, np.array([7, 8, 9], np.uint32), tail=1).apply(ids)
        >>> ids
        [1, 7, 8, 9, 4]
        """
        ids[self.keep : len(ids) - self.tail] = self.ids.tolist()


class Session:
    """A text that changes and its ids: a change encodes only the text near it.

    After each call, `ids` are those of `Tokenizer.encode` for the whole text with the same options.
    A call that raises an error changes nothing. Positions count `unit`: code points of the text
    ("char") or bytes of its UTF-8 ("byte"). Get a session with `Tokenizer.session`.

    A call may give its text another `special`. Neighboring texts with the same `special` are one
    text; a match of an added token never crosses to text with another one, as in
    `Tokenizer.encode_segments`. A str is converted to UTF-8 by itself, so no surrogate pair is
    joined across calls.

    The time of a change depends on the text between two proven cuts around it (about a line), and
    not on the size of the session; only `replace` and `update` also move the ids after the change.
    With the Python backend, and with normalizers other than NFC, a change encodes all text.
    A session takes about 9 bytes per id. Threads that share it wait for each other. A forked child
    that uses a session which another thread changed during the fork gets RuntimeError in C++.

    >>> import bpe
    >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
    >>> session = tok.session("ab ab")
    >>> session.append("cd!")
    Patch(keep=2, ids=array([258,  33], dtype=uint32), tail=0)
    >>> session.text, session.ids.tolist() == tok.encode("ab abcd!")
    ('ab abcd!', True)
    """

    def __init__(
        self,
        kept: KeptText,
        pipeline: Pipeline,
        rendered: Callable[[int], bytes],
        special: Special,
        errors: Errors,
        template: Template,
        continuation: bool,
        unit: Unit,
        keep_text: bool = True,
    ) -> None:
        """Begin with `kept`, an empty text; `Tokenizer.session` explains the arguments."""
        self._kept = kept
        self._pipeline = pipeline
        self._rendered = rendered
        self._errors = errors
        self._before, self._after = (np.array(ids, np.uint32) for ids in template)
        self._continuation = continuation
        self._unit = unit
        self._keep_text = keep_text
        if not keep_text:
            kept.drop_text()
        self._is_python = isinstance(kept, PythonText)
        # Each policy is one object, as texts with the same object are one text.
        self._policies: dict[Any, Special] = {}
        self._default = self._policy(special)

    def append(self, text: Text, special: Special | None = None) -> Patch:
        """Add `text` at the end.

        `special` is the policy for its special tokens, by default that of the session. Raises the
        errors of `encode`; the position of a SpecialTokenError counts from the start of the
        session.
        """
        return self._change(self._kept.append, text, special, lambda: self._kept.size)

    def peek(self, text: Text, special: Special | None = None) -> Patch:
        """Return what `append` would return, without a change."""
        return self._change(self._kept.peek, text, special, lambda: self._kept.size)

    def update(self, text: Text, special: Special | None = None) -> Patch:
        """Change the whole text to `text`.

        Only what differs is encoded: all but the longest common start and the longest common end.
        Given ids whose text does not change stay. Comparing takes O(n) time, about 20 µs for a
        megabyte.
        """
        self._check_kept()
        return self._change(self._kept.update, text, special, None)

    def replace(self, start: int, end: int, text: Text, special: Special | None = None) -> Patch:
        """Replace the text from `start` to `end`, excluded.

        Given ids with a replaced character become text. Raises IndexError if the range is not in
        the text.
        """
        self._check_kept()
        first, last = self._bytes_of(start, end)
        return self._change(
            lambda data, policy: self._kept.replace(first, last, data, policy),
            text, special, lambda: first, last,
        )  # fmt: skip

    def truncate(self, size: int) -> Patch:
        """Remove the text from `size` on; raises IndexError if `size` is not in the text."""
        if not 0 <= index(size) <= self.size:
            raise IndexError(f"size={size}; expected an int from 0 to {self.size}, the size")
        return self.replace(size, self.size, "")

    def extend(self, ids: Iterable[int]) -> Patch:
        """Add the ids that a model has made, which are never encoded.

        Nothing merges with them. The text that follows is encoded as text that continues. The text
        of an id is `Tokenizer.rendered_bytes(id)`; an id without a token has no text. Raises
        ValueError for a negative or too large id.
        """
        given = _checked(ids)
        texts = [self._rendered(id) for id in given.tolist()]
        sizes = np.array([len(text) for text in texts], np.uint32)
        return self._patch(self._kept.extend(given, sizes, b"".join(texts), self._default))

    def fork(self) -> Session:
        """Return an independent copy; O(n) time, to copy text and ids."""
        copy = Session.__new__(Session)
        copy.__dict__.update(self.__dict__)
        copy._kept = self._kept.clone()
        copy._policies = dict(self._policies)
        return copy

    def drift(self) -> int | None:
        """Return the index of the first id that encoding the text afresh would not give, or None.

        The text of given ids is encoded with special="allow". Only given ids make a difference.
        O(n) time.
        """
        self._check_kept()
        data = self._kept.text(0, self._kept.size)
        ranges: list[tuple[int, Special, tuple[()]]] = []
        end = 0
        for size, policy, is_given in self._kept.parts():
            end += size
            special = "allow" if is_given else self._policies[policy]
            if ranges and ranges[-1][1] == special:
                ranges.pop()
            ranges.append((end, special, ()))
        fresh = self._pipeline.spans_in_ranges(data, ranges, self._continuation)[0]
        found = first_difference(self._kept.ids, fresh)
        return None if found is None else len(self._before) + found

    @property
    def ids(self) -> Ids:
        """The ids of the text: uint32, shape (n,), a copy."""
        if not len(self._before) and not len(self._after):
            return self._kept.ids
        return np.concatenate([self._before, self._kept.ids, self._after])

    @property
    def text(self) -> str | bytes:
        """The text: a str if the unit is "char", else bytes."""
        self._check_kept()
        return self._own(self._kept.text(0, self._kept.size))

    @property
    def size(self) -> int:
        """The length of the text in the unit of the session."""
        return self._kept.characters if self._unit == "char" else self._kept.size

    @property
    def stable(self) -> int:
        """A number of first ids that stay, whatever text is appended; those of the template count.

        It is as large as the proven cuts of the backend make it.
        """
        return len(self._before) + self._kept.stable

    @property
    def memory(self) -> int:
        """The number of bytes of memory of text and ids."""
        return self._kept.memory

    def spans(self, first: int = 0, last: int | None = None) -> tuple[Offsets, Offsets]:
        """Return the starts and the ends of the ids from `first` to `last`, excluded.

        Both are int64 arrays. An id of the template has an empty span. Takes time for the text of
        these ids. Raises IndexError if the range is not in the ids.
        """
        self._check_kept()
        size = len(self)
        last = size if last is None else index(last)
        if not 0 <= index(first) <= last <= size:
            raise IndexError(f"ids {first} to {last} of {size}; expected 0 <= first <= last")
        before = len(self._before)
        count = len(self._kept)
        begin, end = (min(max(at - before, 0), count) for at in (first, last))
        starts, stops = self._in_unit(*self._kept.spans(begin, end))
        ahead = np.zeros(min(last, before) - min(first, before), np.int64)
        rest = np.full(last - first - len(ahead) - len(starts), self.size, np.int64)
        return np.concatenate([ahead, starts, rest]), np.concatenate([ahead, stops, rest])

    def __len__(self) -> int:
        return len(self._before) + len(self._kept) + len(self._after)

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle a Session; pickle its text, and make another session")

    def __repr__(self) -> str:
        return f"Session({len(self)} ids, {self.size} {self._unit}s)"

    def _check_kept(self) -> None:
        if not self._keep_text:
            raise ValueError(
                "the session was made with keep_text=False; it can append, peek, extend and fork, "
                "and has ids; make it with keep_text=True"
            )

    def _policy(self, special: Special) -> Any:
        """Return what the kept text takes as the policy `special`."""
        found = self._pipeline.policy(special)  # checks it
        key = special if isinstance(special, str) else frozenset(special)
        policy = key if self._is_python else found
        for known, name in self._policies.items():
            if name == key:
                return known
        self._policies[policy] = key
        return policy

    def _change(
        self,
        call: Callable[[StrOrBytes, Any], Change],
        text: Text,
        special: Special | None,
        start: Callable[[], int] | None,
        end: int | None = None,
    ) -> Patch:
        """Return the patch of `call` for `text`, which comes at byte `start` up to byte `end`."""
        data = self._checked_text(text)
        policy = self._default if special is None else self._policy(special)
        try:
            change = call(data, policy)
        except SpecialTokenError as error:
            raise self._located(error, data, start, end) from None
        return self._patch(change)

    def _patch(self, change: Change) -> Patch:
        keep, ids, tail = change
        return Patch(keep + len(self._before), ids, tail + len(self._after))

    def _checked_text(self, text: Text) -> StrOrBytes:
        """Return `text` as the kept text takes it."""
        data = self._pipeline.check_bytes(validate_text(text, self._errors))
        if self._unit == "char" and isinstance(data, bytes) and not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError:
                raise ValueError(
                    f"{shortened(data)} is not valid UTF-8, and the session counts characters; "
                    'use unit="byte" for such text'
                ) from None
        return data

    def _located(
        self,
        error: SpecialTokenError,
        data: StrOrBytes,
        start: Callable[[], int] | None,
        end: int | None,
    ) -> SpecialTokenError:
        """Return the error of a token with its position in the unit of the session."""
        token = self._pipeline.content_of(error.token)
        if self._unit == "byte":
            return SpecialTokenError(token, error.position)
        new = encode_utf8(data)
        if start is not None and end is None:  # an append
            size = start()
            if error.position >= size:
                added = len(decode_utf8(new[: error.position - size]))
                return SpecialTokenError(token, self.size + added)
            rest = self._kept.text(error.position, size)
            return SpecialTokenError(token, self.size - len(decode_utf8(rest)))
        if start is not None:
            old, first = self._kept.text(0, self._kept.size), start()
            new = old[:first] + new + old[end:]
        return SpecialTokenError(token, len(decode_utf8(new[: error.position])))

    def _bytes_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the bytes of two positions."""
        start, end, size = index(start), index(end), self.size
        if not 0 <= start <= end <= size:
            raise IndexError(f"range {start} to {end}; expected 0 <= start <= end <= {size} (size)")
        if self._unit == "byte":
            return start, end
        return self._kept.byte_of(start), self._kept.byte_of(end)

    def _in_unit(self, starts: Offsets, ends: Offsets) -> tuple[Offsets, Offsets]:
        """Convert spans in bytes to the unit of the session."""
        if self._unit == "byte" or not len(starts):
            return starts, ends
        # A character that begins before the first span, or ends after the last, belongs to it.
        low = int(starts.min())
        first = max(0, low - (MAX_CHAR - 1))
        text = self._kept.text(first, min(self._kept.size, int(ends.max()) + MAX_CHAR - 1))
        while first < low and text[0] & 0xC0 == 0x80:
            text, first = text[1:], first + 1
        offsets = UnitOffsets(text, self._errors, "char")
        base = self._kept.character_of(first)
        new_starts, new_ends = offsets.spans(starts - first, ends - first)
        return new_starts + base, new_ends + base

    def _own(self, data: bytes) -> str | bytes:
        return decode_utf8(data) if self._unit == "char" else data


def _checked(ids: Iterable[int]) -> Ids:
    """Return ids as an array; raise TypeError or ValueError for one that cannot be an id."""
    values: list[int] = []
    for at, id in enumerate(list_ids(ids)):
        try:
            values.append(index(id))
        except TypeError:
            raise TypeError(f"ids[{at}] is {shortened(id)}; expected an int") from None
        if not 0 <= values[-1] < 1 << 32:
            raise ValueError(f"ids[{at}] is {id}; expected an int from 0 to {(1 << 32) - 1}")
    return np.array(values, np.uint32)
