"""DecodeStream: ids that come one by one, to text as soon as it is whole."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from operator import index
from typing import SupportsIndex


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
