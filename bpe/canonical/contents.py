"""Define Contents, the texts of added tokens, and the places that they may cover."""

from __future__ import annotations

from collections.abc import Iterable

from bpe.encoding.added_tokens import AddedToken


class Contents:
    """The texts of all added tokens in UTF-8."""

    def __init__(self, added: Iterable[AddedToken]) -> None:
        """Store the texts of `added`."""
        self.all = [token.content.encode() for token in added]
        self.longest = max(map(len, self.all), default=1)
        self._firsts = frozenset(content[0] for content in self.all)
        self._set = frozenset(self.all)
        self._sizes = sorted({len(content) for content in self.all})

    def is_in(self, text: bytes) -> bool:
        """Return whether `text` contains an added token."""
        if self._firsts.isdisjoint(text):
            return False
        return any(
            text[start : start + size] in self._set
            for size in self._sizes
            for start in range(len(text) - size + 1)
        )

    def may_begin(self, byte: int) -> bool:
        """Return whether an added token begins with `byte`."""
        return byte in self._firsts

    def may_cover(self, before: bytes, after: bytes) -> bool:
        """Return whether an added token may have bytes on both sides of a place.

        `before` and `after` are the texts on both sides; more text may follow `after`.
        """
        reach = self.longest - 1
        before = before[-reach:] if reach else b""
        if self._firsts.isdisjoint(before):
            return False
        text, at = before + after[:reach], len(before)
        for content in self.all:
            for start in range(max(0, at - len(content) + 1), at):
                if content.startswith(text[start : start + len(content)]):
                    return True
        return False

    def open_size(self, text: bytes) -> int:
        """Return the size of the longest end of `text` that begins a longer content."""
        for size in range(min(self.longest - 1, len(text)), 0, -1):
            if text[-size] in self._firsts:
                tail = text[-size:]
                if any(len(each) > size and each.startswith(tail) for each in self.all):
                    return size
        return 0
