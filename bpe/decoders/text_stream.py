"""Define DecodeStream, which decodes ids that come in parts, and keeps a history of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

from bpe.decoders.clean_up import CleanUp
from bpe.decoders.decode import IdStream, keep_known, list_ids, one_or_several
from bpe.decoders.stop_strings import StopStrings

if TYPE_CHECKING:
    from pretok import _core


class PythonTextStream:
    """A decode stream in pure Python. `new_stream` makes the stream that decodes the ids.

    After any calls, the text of the stream is that of a new stream which gets its ids. The calls
    are not checked. After `finish`, only `reset` and `clone` may be called.
    """

    # cpp/core/decode/text_stream.hpp has the same results.
    def __init__(
        self, new_stream: Callable[[], IdStream], clean_up: bool, stop: tuple[str, ...]
    ) -> None:
        self._new_stream = new_stream
        self._clean_up = clean_up
        self._stop = stop
        self.reset()

    def reset(self) -> None:
        """Remove all ids."""
        self._stream = self._new_stream()
        self._clean = CleanUp() if self._clean_up else None
        self._search = StopStrings(self._stop) if self._stop else None
        self.ids: list[int] = []
        self._size = 0  # of all text so far
        self._is_finished = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def stopped(self) -> int | None:
        """The index of the stop string that has ended the text, or None."""
        return None if self._search is None else self._search.stopped

    def feed(self, ids: list[int]) -> str:
        """Add `ids` up to the end of the text, and return the text that they complete.

        Raises an error for an item that is not the id of a token, and then leaves the stream
        unchanged. C++ returns None instead.
        """
        if self._search is None:
            text = self._stream.feed(ids)
            self.ids += ids
            text = text if self._clean is None else self._clean.feed(text)
        else:
            # `self.ids` must end with the id that completes the stop string.
            self._new_stream().feed(ids)  # raises the errors for wrong ids
            text = "".join(self._until_stop(ids, self._search))
        self._size += len(text)
        return text

    def _until_stop(self, ids: list[int], search: StopStrings) -> Iterable[str]:
        for id in ids:
            text = self._stream.feed(id)
            self.ids.append(id)
            yield search.feed(text if self._clean is None else self._clean.feed(text))
            if search.stopped is not None:
                break

    def finish(self) -> str:
        """Return the text that is held back."""
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
        """Remove the last `count` ids; return how many characters of the text end with them.

        Takes time for all ids that remain.
        """
        size, kept = self._size, self.ids[: len(self.ids) - count]
        self.reset()
        self.feed(kept)
        return size - self._size

    def clone(self) -> PythonTextStream:
        """Return an independent copy; takes time for all ids."""
        copy = PythonTextStream(self._new_stream, self._clean_up, self._stop)
        copy.feed(list(self.ids))
        if self._is_finished:
            copy.finish()
        return copy


TextStream: TypeAlias = "PythonTextStream | _core.TextStream"
"""A stream in Python or in C++, with the same results."""


class DecodeStream:
    r"""Decodes ids as they come, and holds back only text that later ids may change.

    The results of `feed` and `finish`, joined, equal the text of all ids decoded at once. A stream
    is not safe to share between threads. Get one with `Tokenizer.decode_stream`.

    >>> import bpe
    >>> stream = bpe.train(["a"], vocab_size=256).decode_stream()
    >>> stream.feed([0x68, 0xC3]), stream.feed(0xA9), stream.feed(0xE4), stream.finish()
    ('h', 'é', '', '\ufffd')
    """

    def __init__(
        self,
        stream: TextStream,
        new_stream: Callable[[], IdStream],
        stop: tuple[str, ...] = (),
        known: Collection[int] | None = None,
    ) -> None:
        self._stream = stream
        self._new_stream = new_stream  # its `feed` raises the errors for wrong ids
        self._stop_strings = stop
        self._known = known  # if it is not None, other ids are omitted
        self._is_finished = False

    def reset(self) -> None:
        """Remove all ids, also from a finished stream."""
        self._stream.reset()
        self._is_finished = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the stream, without rewound ids and ids after a stop string."""
        return tuple(self._stream.ids)

    @property
    def stopped(self) -> str | None:
        """The stop string that has ended the text, or None."""
        index = self._stream.stopped
        return None if index is None else self._stop_strings[index]

    def feed(self, ids: SupportsIndex | Iterable[int]) -> str:
        """Add `ids`, one id or several, and return the text that they complete.

        A stop string ends the text, and the later ids of the call are ignored. Raises
        UnknownTokenError for an id that no token has, and then leaves the stream unchanged. Raises
        ValueError after `finish` and after a stop string.
        """
        self._check_open()
        if self._stop_strings and self._stream.stopped is not None:
            raise ValueError("a stop string has ended the text; rewind or reset the stream")
        if self._known is not None:
            listed = keep_known(one_or_several(ids), self._known, "skip")
        elif type(ids) is int:  # the most frequent call, so make it fast
            listed = [ids]
        else:
            listed = list_ids(one_or_several(ids))
        text = self._stream.feed(listed)
        return self._new_stream().feed(listed) if text is None else text

    def finish(self) -> str:
        """Return the text that is held back, and close the stream."""
        self._check_open()
        self._is_finished = True
        return self._stream.finish()

    def rewind(self, count: int) -> int:
        """Remove the last `count` ids; return how many characters of the text so far end with them.

        The stream is then as if it had got only the ids that remain. Takes time for few ids with
        the native backend, and for all that remain in pure Python.
        """
        self._check_open()
        size = len(self._stream)
        if not 0 <= count <= size:
            raise ValueError(f"count={count}: expected a number from 0 to {size}")
        return self._stream.rewind(count)

    def clone(self) -> DecodeStream:
        """Return an independent copy, such as for beams. Copies all ids."""
        copy = DecodeStream(self._stream.clone(), self._new_stream, self._stop_strings, self._known)
        copy._is_finished = self._is_finished
        return copy

    def __copy__(self) -> DecodeStream:
        return self.clone()

    def __deepcopy__(self, memo: object) -> DecodeStream:
        return self.clone()

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle a DecodeStream; pickle its ids, and feed another stream")

    def __repr__(self) -> str:
        state = "finished" if self._is_finished else "open"
        return f"DecodeStream({len(self._stream)} ids, {state})"

    def _check_open(self) -> None:
        if self._is_finished:
            raise ValueError("the stream is finished; get another with decode_stream() or reset it")
