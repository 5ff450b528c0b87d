"""Splitting a text that comes in chunks."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pretok.pretokenizer import Backend

Data: TypeAlias = str | bytes | bytearray | memoryview
"""A text, or bytes that hold UTF-8."""


class Stream:
    """Splits a text that comes in chunks, for any chunking exactly as the whole text would be.

    `feed` returns the pre-tokens that no later text could change and holds back the rest, of which
    there is at most the last pre-token and what may follow it; `finish` returns what was held
    back. (A gap, which no rule matched, comes out together with the match behind it.) Chunks are
    all str or all bytes. Bytes are UTF-8, and may be cut inside a sequence; a byte that is not
    UTF-8 comes out as the lone surrogate U+DC00 + byte, as Python's error handler
    "surrogateescape" has it, so nothing is lost. Linear time, whatever the size of the chunks. Not
    to be shared between threads.

    >>> import pretok
    >>> stream = pretok.get("llama3").stream()
    >>> stream.feed("Hello wor"), stream.feed("ld!"), stream.finish()
    (['Hello'], [' world'], ['!'])
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._decoder: codecs.IncrementalDecoder | None = None
        self._kind: type[str] | type[bytes] | None = None
        self._gap: list[str] = []  # text that no rule matched, so far
        self._held: list[str] = []  # text of which nothing is decided
        self._open = 0  # while what follows is of these classes, and
        self._room = 0  # fewer than so many code points, nothing will be
        self._finished = False

    def feed(self, chunk: Data) -> list[str]:
        """Return the pre-tokens that `chunk` completes.

        Raises TypeError if `chunk` is not of the type of the chunks before, and ValueError after
        `finish`.
        """
        return [text for text, _ in self.feed_steps(chunk)]

    def finish(self) -> list[str]:
        """Return the pre-tokens that were held back, and close the stream."""
        return [text for text, _ in self.finish_steps()]

    def feed_steps(self, chunk: Data) -> list[tuple[str, int]]:
        """As `feed`, each pre-token with the index of its rule, -1 where none matched."""
        chars = self._chars(chunk)
        if self._open:
            inside = self._backend.run_length(chars, self._open)
            if inside == len(chars) < self._room:
                self._held.append(chars)
                self._room -= inside
                return []
        return self._advance(chars, partial=True)

    def finish_steps(self) -> list[tuple[str, int]]:
        """As `finish`, each pre-token with the index of its rule, -1 where none matched."""
        self._check_open()
        rest = self._decoder.decode(b"", True) if self._decoder else ""
        self._finished = True
        return self._advance(rest, partial=False)

    def _check_open(self) -> None:
        if self._finished:
            raise ValueError("the stream is finished; make a new one with stream()")

    def _chars(self, chunk: Data) -> str:
        self._check_open()
        if isinstance(chunk, (bytearray, memoryview)):
            chunk = bytes(chunk)
        if not isinstance(chunk, (str, bytes)):
            raise TypeError(f"expected a chunk of str or bytes, got {type(chunk).__name__}")
        kind = str if isinstance(chunk, str) else bytes
        if self._kind is None:
            self._kind = kind
        elif kind is not self._kind:
            raise TypeError(
                f"expected a chunk of {self._kind.__name__} like those before, got {kind.__name__}"
            )
        if isinstance(chunk, str):
            return chunk
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        return self._decoder.decode(chunk)

    def _advance(self, chars: str, partial: bool) -> list[tuple[str, int]]:
        text = "".join([*self._held, chars])
        ends, rules, resume, in_gap, self._room, self._open = self._backend.advance(
            text, partial, bool(self._gap)
        )
        steps: list[tuple[str, int]] = []
        start = 0
        for end, rule in zip(ends, rules, strict=True):
            pre_token = text[start:end]
            if self._gap:
                pre_token = "".join([*self._gap, pre_token])
                self._gap = []
            steps.append((pre_token, rule))
            start = end
        if in_gap and start < resume:
            self._gap.append(text[start:resume])
        self._held = [text[resume:]] if resume < len(text) else []
        return steps
