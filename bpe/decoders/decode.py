"""Define Decoder, which decodes all ids at once, and IdStream, for ids that come in parts."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import index
from typing import Literal, SupportsIndex, TypeAlias

import numpy as np

from bpe.encoding.python_backend import Backend, not_an_int, unknown_id
from bpe.errors import UnknownTokenError

Decode: TypeAlias = Callable[[Iterable[int], str, bool], str]
"""A function (ids, errors, skip_special) that returns the text."""
DecodeBytes: TypeAlias = Callable[[Iterable[int], bool], bytes]
"""A function (ids, skip_special) that returns the bytes."""

Unknown = Literal["raise", "skip"]
"""The treatment of an id that no token has: an error, or no text."""


class Decoder:
    """Decodes ids for Tokenizer, with the backend of the Tokenizer.

    `tokens` returns all tokens by id; only the errors for unknown ids need them.
    """

    def __init__(
        self, backend: Backend, tokens: Callable[[], Mapping[int, bytes]], special: Collection[int]
    ) -> None:
        self._backend = backend
        self._tokens = tokens
        self._special = frozenset(special)

    def calls(self) -> tuple[Decode, DecodeBytes]:
        """Return `decode` and `decode_bytes`, or faster replacements from the backend."""
        slow_calls: tuple[Decode, DecodeBytes] = self.decode, self.decode_bytes
        return self._backend.decode_calls(slow_calls)

    def stream(
        self, decode_bytes: DecodeBytes, errors: str, skip_special: bool, continuation: bool
    ) -> IdStream:
        """Return a new stream, which decodes with `decode_bytes`; ignores `continuation`."""
        return IdStream(lambda ids: decode_bytes(ids, skip_special), errors)

    def decode(self, ids: Iterable[int], errors: str, skip_special: bool) -> str:
        """Return the text of `ids`."""
        return self.decode_bytes(ids, skip_special).decode("utf-8", errors)

    def decode_bytes(self, ids: Iterable[int], skip_special: bool) -> bytes:
        """Return the bytes of `ids`."""
        sequence, special = list_ids(ids), self._special
        try:
            kept = [int(index(id)) for id in sequence]
        except TypeError:
            raise unknown_id(sequence, self._tokens()) from None
        if skip_special:
            kept = [id for id in kept if id not in special]
        data = self._backend.decode(kept)
        if data is None:
            raise unknown_id(sequence, self._tokens())
        return data

    def rendered(self) -> Mapping[int, bytes]:
        """Return the bytes that each token adds in the middle of a decoded text."""
        return self._tokens()


def list_ids(ids: Iterable[int]) -> list[int]:
    """Return `ids` as a list; raise TypeError if it is not iterable."""
    try:
        items = iter(ids)
    except TypeError:
        advice = "; pass [id]" if isinstance(ids, int) else ""
        raise TypeError(f"expected an iterable of ids, got {type(ids).__name__}{advice}") from None
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        listed: list[int] = ids.tolist()
        return listed
    return list(items)


def one_or_several(ids: SupportsIndex | Iterable[int]) -> Iterable[int]:
    """Return `ids`, or a tuple of the one id that it is. An array without dimensions is one id."""
    if isinstance(ids, Iterable) and getattr(ids, "ndim", 1) != 0:
        return ids
    try:
        return (index(ids),)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"expected an id or an iterable of ids, got {type(ids).__name__}") from None


def keep_known(ids: Iterable[int], known: Collection[int], unknown: str) -> list[int]:
    """Return those of `ids` that are in `known`.

    Raises ValueError unless `unknown` is "skip", and TypeError for an item that is not an int.
    """
    if unknown != "skip":
        raise ValueError(f'unknown={unknown!r}: expected "raise" or "skip"')
    kept = []
    for at, id in enumerate(list_ids(ids)):
        try:
            is_known = index(id) in known
        except TypeError:
            raise not_an_int(at, id) from None
        if is_known:
            kept.append(id)
    return kept


def decode_batch(
    decode: Decode, ids_batch: Iterable[Iterable[int]], errors: str, skip_special: bool
) -> list[str]:
    """Return the text of each item of `ids_batch`. An exception names the index of its item."""
    try:
        rows = enumerate(ids_batch)
    except TypeError:
        kind = type(ids_batch).__name__
        raise TypeError(f"expected an iterable of iterables of ids, got {kind}") from None
    texts = []
    for position, ids in rows:
        try:
            texts.append(decode(ids, errors, skip_special))
        except (TypeError, UnknownTokenError) as error:
            raise type(error)(f"ids_batch[{position}]: {error}") from None
    return texts


class IdStream:
    r"""Decodes ids as they come, and holds back only an incomplete UTF-8 sequence.

    The results of `feed` and `finish`, joined, equal the text of all ids decoded at once. A stream
    is not safe to share between threads.

    >>> stream = IdStream(lambda ids: bytes(ids), "replace")
    >>> stream.feed([0x68, 0xC3]), stream.feed(0xA9), stream.feed(0xE4), stream.finish()
    ('h', 'é', '', '\ufffd')
    """

    def __init__(self, decode_bytes: Callable[[Iterable[int]], bytes], errors: str) -> None:
        self._decode_bytes = decode_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Add `ids`, one id or several, and return the text whose UTF-8 is now complete.

        Raises UnknownTokenError for an id that no token has, and then leaves the stream unchanged.
        """
        data = self._decode_bytes(one_or_several(ids))
        return self._decoder.decode(data)

    def finish(self) -> str:
        """Return the text of an incomplete sequence at the end."""
        return self._decoder.decode(b"", final=True)


def no_bytes(ids: Iterable[int]) -> bytes:
    """The `decode_bytes` of a subclass of IdStream whose `feed` never calls it."""
    raise AssertionError("expected `feed` of a subclass to decode the ids")
