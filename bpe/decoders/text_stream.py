"""Define DecodeStream, which decodes ids that come in parts, and keeps a history of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import SupportsIndex

from bpe.decoders.clean_up import CleanUp
from bpe.decoders.decode import IdStream, keep_known, list_ids, one_or_several
from bpe.decoders.stop_strings import StopStrings


class DecodeStream:
    r"""Decodes ids as they come, and holds back only text that later ids may change.

    The results of `feed` and `finish`, joined, equal the text of all ids decoded at once. A stream
    is not safe to share between threads. Get one with `Tokenizer.decode_stream`.

    >>> import bpe
    >>> stream = bpe.train(["a"], vocab_size=256).decode_stream()
    >>> stream.feed([0x68, 0xC3]), stream.feed(0xA9), stream.feed(0xE4), stream.finish()
    ('h', 'é', '', '\ufffd')
    """

    # cpp/core/decode/text_stream.hpp has the same results.
    def __init__(
        self,
        new_stream: Callable[[], IdStream],
        clean_up: bool = False,
        stop: tuple[str, ...] = (),
        known: Collection[int] | None = None,
    ) -> None:
        self._new_stream = new_stream
        self._stop_strings = stop
        self._clean_up = clean_up
        self._known = known  # if it is not None, other ids are omitted
        self.reset()

    def reset(self) -> None:
        """Remove all ids, also from a finished stream."""
        self._stream = self._new_stream()
        self._clean = CleanUp() if self._clean_up else None
        self._search = StopStrings(self._stop_strings) if self._stop_strings else None
        self._ids: list[int] = []
        self._size = 0  # of all text so far
        self._is_finished = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the stream, without rewound ids and ids after a stop string."""
        return tuple(self._ids)

    @property
    def stopped(self) -> str | None:
        """The stop string that has ended the text, or None."""
        search = self._search
        if search is None or search.stopped is None:
            return None
        return self._stop_strings[search.stopped]

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Add `ids`, one id or several, and return the text that they complete.

        A stop string ends the text, and the later ids of the call are ignored. Raises
        UnknownTokenError for an id that no token has, and then leaves the stream unchanged. Raises
        ValueError after `finish` and after a stop string.
        """
        self._check_open()
        if self._search is not None and self._search.stopped is not None:
            raise ValueError("a stop string has ended the text; rewind or reset the stream")
        several = one_or_several(ids)
        if self._known is None:
            text = self._feed(list_ids(several))
        else:
            text = self._feed(keep_known(several, self._known, "skip"))
        self._size += len(text)
        return text

    def _feed(self, ids: list[int]) -> str:
        if self._search is None:
            text = self._stream.feed(ids)
            self._ids += ids
            return text if self._clean is None else self._clean.feed(text)
        # `ids` must end with the id that completes the stop string, so feed the ids one by one.
        self._new_stream().feed(ids)  # raises the errors for wrong ids
        parts: list[str] = []
        for id in ids:
            text = self._stream.feed(id)
            self._ids.append(id)
            parts.append(self._search.feed(text if self._clean is None else self._clean.feed(text)))
            if self._search.stopped is not None:
                break
        return "".join(parts)

    def finish(self) -> str:
        """Return the text that is held back, and close the stream."""
        self._check_open()
        self._is_finished = True
        if self.stopped is not None:
            return ""
        text = self._stream.finish()
        if self._clean is not None:
            text = self._clean.feed(text) + self._clean.finish()
        if self._search is not None:
            text = self._search.feed(text) + self._search.finish()
        return text

    def rewind(self, count: int) -> int:
        """Remove the last `count` ids; return how many characters of the text so far end with them.

        The stream is then as if it had got only the ids that remain. Takes time for all of them.
        """
        self._check_open()
        if not 0 <= count <= len(self._ids):
            raise ValueError(f"count={count}: expected a number from 0 to {len(self._ids)}")
        size, kept = self._size, self._ids[: len(self._ids) - count]
        self.reset()
        self._size = len(self._feed(kept))
        return size - self._size

    def clone(self) -> DecodeStream:
        """Return an independent copy, such as for beams. Takes time for all ids."""
        copy = DecodeStream(self._new_stream, self._clean_up, self._stop_strings, self._known)
        copy._size = len(copy._feed(list(self._ids)))
        if self._is_finished:
            copy.finish()
        return copy

    def _check_open(self) -> None:
        if self._is_finished:
            raise ValueError("the stream is finished; get another with decode_stream() or reset it")
