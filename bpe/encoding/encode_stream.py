"""Define EncodeStream, which encodes a text that comes in chunks."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import get_args

from bpe.encoding.arguments import check_iterable, validate_text
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import SpecialTokenError
from bpe.types import Errors, Special, Template, Text

MIN_NEW_BYTES = 512
"""The minimum number of new bytes between two searches for a cut."""
MAX_INLINE_BYTES = 1 << 16
"""`iterate_async` encodes more bytes than these in a thread."""


class EncodeStream:
    """Encodes a text that comes in chunks, and holds back only text whose ids may still change.

    The lists that `feed` and `finish` return, joined, are the ids of the whole text. A chunk is a
    str or UTF-8; it may end anywhere, within a character, a surrogate pair or a special token. A
    stream holds back a few pre-tokens, and returns ids after at least 512 new bytes. It holds back
    all text with a normalizer other than NFC and that of Llama 2. All calls together take linear
    time. A stream is not safe to share between threads. Get one with
    `Tokenizer.encode_stream`.

    >>> import bpe
    >>> stream = bpe.train(["ab"], vocab_size=257).encode_stream()
    >>> stream.feed("a") + stream.feed(b"b \\xc3") + stream.feed(b"\\xa9") + stream.finish()
    [256, 32, 195, 169]
    """

    # cpp/capi/encode_stream.cpp has the same steps.
    def __init__(
        self,
        pipeline: Pipeline,
        find_cut: Callable[[bytes], int],
        special: Special,
        errors: Errors,
        template: Template,
        continuation: bool,
    ) -> None:
        """Check the arguments; `Tokenizer.encode_stream` explains them.

        `find_cut` returns a safe cut, as in `Pipeline.safe_cut`.
        """
        validate_text("", errors)
        pipeline.policy(special)  # checks it
        self._pipeline = pipeline
        self._find_cut = find_cut
        self._special = special
        self._errors = errors
        self._template = template
        self._continuation = continuation
        self.reset()

    def reset(self) -> None:
        """Remove all text, also from a finished stream, to begin another text."""
        self._held = bytearray()  # the text that is not encoded yet; begins at a safe cut
        self._surrogate = ""  # a high surrogate at the end of the last chunk
        self._position = 0  # of `_held` in the whole text
        self._next_search = MIN_NEW_BYTES  # the size of `_held` that starts a search
        self._has_begun = False
        self._is_finished = False

    @property
    def held(self) -> int:
        """The number of bytes of text that the stream holds back."""
        return len(self._held)

    def __repr__(self) -> str:
        state = "finished" if self._is_finished else f"{self.held} bytes held"
        return f"EncodeStream({state})"

    def feed(self, chunk: Text) -> list[int]:
        """Add a chunk of the text, and return the ids that it completes.

        Raises the errors of `encode`, and then leaves the stream unchanged. The position of a
        SpecialTokenError counts bytes of UTF-8 from the start of the whole text. A later call may
        report the error of a chunk, but no error gets lost. Raises ValueError after `finish`.
        """
        self._check_open()
        data, surrogate = self._utf8(chunk)
        size = len(self._held)
        self._held += data
        try:
            ids = self._encode_decided()
        except BaseException:
            del self._held[size:]
            raise
        self._surrogate = surrogate
        return ids

    def finish(self) -> list[int]:
        """Return the ids of the text that is held back, and end the text.

        Raises the errors of `feed`, and then leaves the stream unchanged.
        """
        self._check_open()
        ids = self._encode(bytes(self._held) + encode_utf8(self._surrogate))
        self._is_finished = True
        self._held.clear()
        return [*ids, *self._template.after]

    def iterate(self, chunks: Iterable[Text]) -> Iterator[list[int]]:
        """Feed each of `chunks`, finish, and yield the lists of ids that are not empty.

        >>> import bpe
        >>> tok = bpe.train(["ab"], vocab_size=257)
        >>> list(tok.encode_stream().iterate(["a", "b!"]))
        [[256, 33]]
        """
        for chunk in check_iterable(chunks):
            if ids := self.feed(chunk):
                yield ids
        if ids := self.finish():
            yield ids

    async def iterate_async(self, chunks: AsyncIterable[Text]) -> AsyncIterator[list[int]]:
        """Do the same as `iterate` for chunks that come asynchronously.

        Much text at once is encoded in a thread, so the event loop goes on.
        """
        async for chunk in chunks:
            if ids := await self._run(self.feed, chunk):
                yield ids
        if ids := await self._run(self.finish):
            yield ids

    async def _run(self, call: Callable[..., list[int]], *chunk: Text) -> list[int]:
        """Return the result of `call`, which runs in a thread if it encodes much text."""
        size = len(self._held) + sum(
            len(text) for text in chunk if isinstance(text, get_args(Text))
        )
        if size <= MAX_INLINE_BYTES:
            return call(*chunk)
        import asyncio  # which takes long

        return await asyncio.to_thread(call, *chunk)

    def __reduce__(self) -> str:
        raise TypeError("cannot copy or pickle an EncodeStream; feed its text to another stream")

    def _utf8(self, chunk: Text) -> tuple[bytes, str]:
        """Return the UTF-8 of `chunk` after the last surrogate, and a new last surrogate."""
        if not isinstance(chunk, str):
            data = encode_utf8(validate_text(chunk, self._errors))
            if not data:
                return b"", self._surrogate
            return encode_utf8(self._surrogate) + data, ""
        if self._errors != "replace":  # no surrogate pair is joined
            return encode_utf8(validate_text(chunk, self._errors)), ""
        text = self._surrogate + chunk
        is_open = "\ud800" <= text[-1:] < "\udc00"
        text, surrogate = (text[:-1], text[-1]) if is_open else (text, "")
        return encode_utf8(text), surrogate

    def _encode_decided(self) -> list[int]:
        """Encode the held text up to the last safe cut, if enough text is new."""
        if len(self._held) < self._next_search:
            return self._encode(b"")
        held = bytes(self._held)
        with self._located():
            cut = self._find_cut(held)
        ids = self._encode(held[:cut])
        del self._held[:cut]
        self._position += cut
        # A search reads little more than the text after the cut that it finds. The next search
        # waits until the held text has doubled, so that all searches together take linear time.
        self._next_search = len(self._held) + max(len(self._held), MIN_NEW_BYTES)
        return ids

    def _encode(self, data: bytes) -> list[int]:
        """Return the ids of a part, after those of the template at the start of the text."""
        ids: list[int] = []
        if data:
            with self._located():
                ids = self._pipeline.encode_part(
                    data, self._special, self._position == 0, self._continuation
                ).tolist()
        if not self._has_begun:
            ids = [*self._template.before, *ids]
            self._has_begun = True
        return ids

    @contextmanager
    def _located(self) -> Iterator[None]:
        """Count the position of a SpecialTokenError from the start of the whole text."""
        try:
            yield
        except SpecialTokenError as error:
            raise SpecialTokenError(error.token, self._position + error.position) from None

    def _check_open(self) -> None:
        if self._is_finished:
            raise ValueError("the stream is finished; get another with encode_stream() or reset it")
