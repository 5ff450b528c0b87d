"""Call the sessions of the C interface through ctypes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any

import numpy as np

from bpe import SpecialTokenError
from bpe.sessions.kept_text import Change
from c_library import CError, CTokenizer


class _Patch(c.Structure):
    _fields_ = [
        ("keep", c.c_size_t),
        ("tail", c.c_size_t),
        ("ids", c.POINTER(c.c_uint32)),
        ("count", c.c_size_t),
    ]


class _Span(c.Structure):
    _fields_ = [("start", c.c_size_t), ("end", c.c_size_t)]


class CSession:
    """A pretok_session, with the calls of a KeptText; a policy is a name."""

    def __init__(self, tokenizer: CTokenizer, handle: c.c_void_p | None = None) -> None:
        self.tokenizer = tokenizer
        self.library = tokenizer.library
        self.handle = handle or self.library.made("session_new", tokenizer.handle, None)

    def __del__(self) -> None:
        self.library.free("session", self.handle)

    def _changed(self, name: str, *arguments: Any) -> Change:
        patch = _Patch()
        try:
            self.library.call(f"session_{name}", self.handle, *arguments, c.byref(patch))
        except CError as error:
            if error.status != "special token":
                raise
            raise SpecialTokenError("", error.position) from None
        return patch.keep, np.array(patch.ids[: patch.count], np.uint32), patch.tail

    def _text(self, text: bytes, policy: str) -> tuple[Any, ...]:
        return text, c.c_size_t(len(text)), self.tokenizer._options(policy, False)

    def append(self, text: bytes, policy: str) -> Change:
        return self._changed("append", *self._text(text, policy))

    def peek(self, text: bytes, policy: str) -> Change:
        return self._changed("peek", *self._text(text, policy))

    def update(self, text: bytes, policy: str) -> Change:
        return self._changed("update", *self._text(text, policy))

    def replace(self, start: int, end: int, text: bytes, policy: str) -> Change:
        places = c.c_size_t(start), c.c_size_t(end)
        return self._changed("replace", *places, *self._text(text, policy))

    def extend(self, ids: Sequence[int]) -> Change:
        given = (c.c_uint32 * len(ids))(*ids)
        return self._changed("extend", given, c.c_size_t(len(ids)))

    def fork(self) -> CSession:
        return CSession(self.tokenizer, self.library.made("session_fork", self.handle))

    def drop_text(self) -> None:
        self.library._dll.pretok_session_drop_text(self.handle)

    def spans(self, first: int, last: int) -> list[tuple[int, int]]:
        room = (_Span * (last - first))()
        self.library.call("session_spans", self.handle, c.c_size_t(first), c.c_size_t(last), room)
        return [(span.start, span.end) for span in room]

    @property
    def ids(self) -> list[int]:
        count = c.c_size_t()
        function = self.library._dll.pretok_session_ids
        function.restype = c.POINTER(c.c_uint32)
        ids = function(self.handle, c.byref(count))
        found: list[int] = ids[: count.value]
        return found

    @property
    def text(self) -> bytes:
        size = c.c_size_t()
        function = self.library._dll.pretok_session_text
        function.restype = c.c_void_p
        return c.string_at(function(self.handle, c.byref(size)), size.value)
