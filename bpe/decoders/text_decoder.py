"""Define TextDecoder, the base of decoders that join the texts of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from bpe.decoders.decode import Decode, DecodeBytes, DecodeStream, list_ids
from bpe.encoding.utf8 import ESCAPE


class JoinedTexts(NamedTuple):
    """The tokens that C++ joins: their bytes in the order of their ids, their lengths and ids.

    C++ strips at most `start` and `stop` spaces at the start and at the end of the joined text. If
    `spaced` is not None, it strips the start only if the first token with text is one of these ids.
    If `repeats`, and this token is only a space, the next token may lose its space too.
    """

    data: bytes
    lengths: list[int]
    ids: list[int]
    spaced: list[int] | None
    start: int
    stop: int
    repeats: bool

    @classmethod
    def of(
        cls,
        tokens: Mapping[int, bytes],
        start: int,
        stop: int,
        spaced: Iterable[int] | None = None,
        repeats: bool = False,
    ) -> JoinedTexts:
        """Return the JoinedTexts of `tokens`.

        `tokens` has, by id, the UTF-8 of each token, or the byte of a fallback token.
        """
        ids = sorted(tokens)
        data = [tokens[id] for id in ids]
        lengths = list(map(len, data))
        listed = None if spaced is None else list(spaced)
        return cls(b"".join(data), lengths, ids, listed, start, stop, repeats)


class TextDecoder:
    """Decodes ids for a Tokenizer, in C++ if that only joins texts and strips spaces."""

    def __init__(self, special: Collection[int], joins_natively: bool) -> None:
        self._special = frozenset(special)
        self._joins_natively = joins_natively

    def calls(self) -> tuple[Decode, DecodeBytes]:
        """Return `decode` and `decode_bytes`."""
        decode: Decode = self.decode
        if self._joins_natively:
            from pretok import _core

            # It calls self.decode for ids that C++ does not decode.
            decode = _core.text_decode_call(self._joined, list(self._special), self.decode)
        return decode, partial(_bytes_of, decode)

    def stream(self, decode_bytes: DecodeBytes, errors: str, skip_special: bool) -> DecodeStream:
        """Return a new stream. With the error handler ESCAPE, it keeps invalid bytes."""
        return self._stream(errors, skip_special)

    def decode(self, ids: Iterable[int], errors: str, skip_special: bool) -> str:
        """Return the text of `ids`."""
        stream = self._stream(errors, skip_special)
        return stream.feed(list_ids(ids)) + stream.finish()

    def _stream(self, errors: str, skip_special: bool) -> DecodeStream:
        raise NotImplementedError

    def _joined(self) -> JoinedTexts:
        raise NotImplementedError


def _bytes_of(decode: Decode, ids: Iterable[int], skip_special: bool) -> bytes:
    """Return the bytes of `ids`; invalid UTF-8 of fallback tokens is kept."""
    return decode(ids, ESCAPE, skip_special).encode("utf-8", ESCAPE)
