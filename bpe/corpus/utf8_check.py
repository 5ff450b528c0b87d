"""Define Utf8Check, which checks whether text in blocks is UTF-8."""

from __future__ import annotations

import codecs

from pretok.machine.backend import native_core

CHECKED = 1 << 16
"""Without C++, this many bytes are decoded at a time, so that their str fits into the cache."""


class Utf8Check:
    """Checks text in blocks, which may end within code points."""

    def __init__(self) -> None:
        self._state = 0
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        core = native_core()
        self._native = core and core.check_utf8
        self._malformed: int | None = core and core.check_utf8(b"\xff", 0)

    def add(self, block: bytes) -> bool:
        """Add the next block; return False if a byte of the text so far is not UTF-8."""
        if self._native is not None:
            self._state = self._native(block, self._state)
            return self._state != self._malformed
        try:
            for at in range(0, len(block), CHECKED):
                self._decode(memoryview(block)[at : at + CHECKED])
        except UnicodeDecodeError:
            self._state = 1
        return not self._state

    @property
    def is_complete(self) -> bool:
        """True if the text so far is UTF-8 and ends after a whole code point."""
        if self._native is None and not self._state:
            try:
                self._decode(b"", True)
            except UnicodeDecodeError:
                return False
        return not self._state
