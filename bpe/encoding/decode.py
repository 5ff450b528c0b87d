"""Ids to bytes and text: Decoder all at once, DecodeStream one by one."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import index
from typing import SupportsIndex, TypeAlias

import numpy as np

from bpe.encoding.python_backend import Backend, unknown_id

Decode: TypeAlias = Callable[[Iterable[int], str, bool], str]
DecodeBytes: TypeAlias = Callable[[Iterable[int], bool], bytes]


class Decoder:
    """What Tokenizer does with ids before and after its backend; the terms are Tokenizer's."""

    def __init__(
        self, encoder: Backend, tokens: Callable[[], Mapping[int, bytes]], special: Collection[int]
    ) -> None:
        self._encoder = encoder
        self._tokens = tokens
        self._special = frozenset(special)

    def calls(self) -> tuple[Decode, DecodeBytes]:
        """Return `decode` and `decode_bytes`, or what is faster and comes back to them."""
        own = self.decode, self.decode_bytes
        direct = getattr(self._encoder, "decode_calls", None)
        if direct is None:
            return own
        found: tuple[Decode, DecodeBytes] = direct(list(self._special), own)
        return found

    def decode(self, ids: Iterable[int], errors: str, skip: bool) -> str:
        """Return the text of `ids`."""
        return self.decode_bytes(ids, skip).decode("utf-8", errors)

    def decode_bytes(self, ids: Iterable[int], skip: bool) -> bytes:
        """Return the bytes of `ids`, without special ones if they are to `skip`."""
        if isinstance(ids, np.ndarray):
            given = ids if ids.ndim == 1 and ids.dtype.kind in "iub" else ids.tolist()
        else:
            given = ids if isinstance(ids, (list, tuple)) else list(ids)
        kept = given
        if skip and self._special:
            try:
                kept = [id for id in given if id not in self._special]
            except TypeError:
                raise unknown_id(given, self._tokens()) from None
        data = self._encoder.decode(kept)
        if data is None:
            raise unknown_id(given, self._tokens())
        return data


class DecodeStream:
    r"""Turns ids into text as they come, holding back only an incomplete UTF-8 sequence.

    All that `feed` and `finish` return, joined, is what decoding all the ids at once gives. Not to
    be shared between threads. Get one with `Tokenizer.decode_stream`.

    >>> stream = DecodeStream(lambda ids: bytes(ids), "replace")
    >>> stream.feed([0x68, 0xC3]), stream.feed(0xA9), stream.feed(0xE4), stream.finish()
    ('h', 'é', '', '\ufffd')
    """

    def __init__(self, decode_bytes: Callable[[Iterable[int]], bytes], errors: str) -> None:
        self._decode_bytes = decode_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._finished = False

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Return the text that `ids`, one id or some, complete.

        Raises UnknownTokenError, after which the stream is as before; ValueError after `finish`.
        """
        self._check()
        data = self._decode_bytes(ids if isinstance(ids, Iterable) else (index(ids),))
        return self._decoder.decode(data)

    def finish(self) -> str:
        """Return what an incomplete sequence at the end becomes, and close the stream."""
        self._check()
        self._finished = True
        return self._decoder.decode(b"", final=True)

    def _check(self) -> None:
        if self._finished:
            raise ValueError("the stream is finished; get another with decode_stream()")
