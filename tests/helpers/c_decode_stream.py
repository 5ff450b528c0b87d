"""Call the decode streams of the C library through ctypes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence

from c_library import CTokenizer, bytes_at


class _DecodeOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("skip_special", c.c_bool),
        ("continuation", c.c_bool),
        ("clean_up", c.c_bool),
        ("stop", c.POINTER(c.c_char_p)),
        ("stop_sizes", c.POINTER(c.c_size_t)),
        ("stop_count", c.c_size_t),
    ]


class CDecodeStream:
    """A pretok_decode_stream with options. Text is str, but `rewind` counts bytes."""

    def __init__(
        self,
        tokenizer: CTokenizer,
        skip_special: bool = False,
        continuation: bool = False,
        clean_up: bool = False,
        stop: Sequence[str] = (),
        handle: c.c_void_p | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._library = tokenizer.library
        self._stop = stop
        texts = [text.encode() for text in stop]
        options = _DecodeOptions(
            c.sizeof(_DecodeOptions),
            skip_special,
            continuation,
            clean_up,
            (c.c_char_p * len(texts))(*texts),
            (c.c_size_t * len(texts))(*map(len, texts)),
            len(texts),
        )
        made = handle or self._library.made(
            "decode_stream_with", tokenizer.handle, c.byref(options)
        )
        self._handle = made

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self._library.free("decode_stream", self._handle)

    def feed(self, ids: int | Sequence[int]) -> str:
        """Return the text that ids complete."""
        listed = [ids] if isinstance(ids, int) else ids
        array = (c.c_uint32 * len(listed))(*listed)
        return self._text("feed", array, c.c_size_t(len(listed)))

    def finish(self) -> str:
        """Return the text that is held back."""
        return self._text("finish")

    def _text(self, name: str, *arguments: object) -> str:
        text, size = c.c_void_p(), c.c_size_t()
        given = (self._handle, *arguments, c.byref(text), c.byref(size))
        self._library.call(f"decode_stream_{name}", *given)
        return bytes_at(text, size).decode()

    def reset(self) -> None:
        """Remove all ids."""
        self._library.call("decode_stream_reset", self._handle)

    def rewind(self, count: int) -> int:
        """Remove the last ids; return the number of bytes that are no longer text."""
        removed = c.c_size_t()
        self._library.call(
            "decode_stream_rewind", self._handle, c.c_size_t(count), c.byref(removed)
        )
        return removed.value

    def clone(self) -> CDecodeStream:
        """Return an independent copy."""
        made = self._library.made("decode_stream_clone", self._handle)
        return CDecodeStream(self._tokenizer, stop=self._stop, handle=made)

    @property
    def stopped(self) -> str | None:
        """The stop string that has ended the text."""
        index = self._library.stopped(self._handle)
        return None if index == 2 ** (8 * c.sizeof(c.c_size_t)) - 1 else self._stop[index]

    @property
    def size(self) -> int:
        """The number of ids."""
        size: int = self._library.stream_size(self._handle)
        return size
