"""Define TextDecoder, the base of decoders that join the texts of tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from functools import partial

from bpe.decoders.decode import Decode, DecodeBytes, IdStream, list_ids
from bpe.encoding.python_backend import Backend
from bpe.encoding.utf8 import ESCAPE


class TextDecoder(ABC):
    """Decodes ids for a Tokenizer. With a backend in C++, it decodes what C++ leaves to Python."""

    def __init__(self, backend: Backend, special: Collection[int]) -> None:
        self._backend = backend
        self._special = frozenset(special)

    def calls(self) -> tuple[Decode, DecodeBytes]:
        """Return `decode` and `decode_bytes`, or faster replacements from the backend."""
        slow_calls: tuple[Decode, DecodeBytes] = self.decode, partial(_bytes_of, self.decode)
        return self._backend.decode_calls(slow_calls)

    def stream(
        self, decode_bytes: DecodeBytes, errors: str, skip_special: bool, continuation: bool
    ) -> IdStream:
        """Return a new stream. With the error handler ESCAPE, it keeps invalid bytes."""
        return self._stream(errors, skip_special, continuation)

    @abstractmethod
    def _stream(self, errors: str, skip_special: bool, continuation: bool) -> IdStream:
        """Return a new stream."""

    @abstractmethod
    def rendered(self) -> dict[int, bytes]:
        """Return the bytes that each token adds in the middle of a decoded text.

        Decoder::rendered_texts in cpp/core/decode/decoder.cpp does the same.
        """

    def decode(self, ids: Iterable[int], errors: str, skip_special: bool) -> str:
        """Return the text of `ids`."""
        stream = self._stream(errors, skip_special, False)
        return stream.feed(list_ids(ids)) + stream.finish()


def _bytes_of(decode: Decode, ids: Iterable[int], skip_special: bool) -> bytes:
    """Return the bytes of `ids`; invalid UTF-8 of fallback tokens is kept."""
    return decode(ids, ESCAPE, skip_special).encode("utf-8", ESCAPE)
