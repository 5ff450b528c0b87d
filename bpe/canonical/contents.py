"""Define Contents, the texts of added tokens, and the places that they may cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpe.canonical.beginnings import beginning_with
from bpe.encoding.added_tokens import AddedToken
from bpe.normalizers.unicode_forms import UnicodeForm, begins_anew


class Contents:
    """The texts of all added tokens in UTF-8."""

    def __init__(self, added: Iterable[AddedToken]) -> None:
        """Store the texts of `added`."""
        self._set = frozenset(token.content.encode() for token in added)
        self._sorted = sorted(self._set)
        self._bytes = bytes(set().union(*self._set))
        self.longest = max(map(len, self._set), default=1)
        self._firsts = frozenset(content[0] for content in self._set)
        self._sizes = sorted({len(content) for content in self._set})

    def is_in(self, text: bytes) -> bool:
        """Return whether `text` contains an added token."""
        if self._firsts.isdisjoint(text):
            return False
        return any(
            text[start : start + size] in self._set
            for size in self._sizes
            for start in range(len(text) - size + 1)
        )

    def starting(self, start: bytes) -> Iterator[bytes]:
        """Return the contents that begin with `start`."""
        return (self._sorted[at] for at in beginning_with(self._sorted, start))

    def rests(self, start: bytes) -> Iterator[bytes]:
        """Return the bytes after `start` of each longer content that begins with `start`."""
        return (content[len(start) :] for content in self.starting(start) if content != start)

    def has_byte_outside(self, text: bytes) -> bool:
        """Return whether `text` has a byte that no added token has."""
        return bool(text.translate(None, self._bytes))

    def open_ends(self, text: bytes) -> Iterator[bytes]:
        """Yield each end of `text` that begins a longer content, the longest one first."""
        for start in range(max(len(text) - self.longest + 1, 0), len(text)):
            if text[start] in self._firsts and any(self.rests(text[start:])):
                yield text[start:]

    def open_size(self, text: bytes) -> int:
        """Return the size of the longest end of `text` that begins a longer content."""
        return len(next(self.open_ends(text), b""))

    def may_cover(self, before: bytes, after: bytes) -> bool:
        """Return whether an added token may have bytes on both sides of a place.

        `before` and `after` are the texts on both sides; more text may follow `after`.
        """
        return any(
            rest.startswith(after[: len(rest)])
            for end in self.open_ends(before)
            for rest in self.rests(end)
        )


def may_overlap(a: str, b: str) -> bool:
    """Return whether two different texts may overlap in a longer text.

    >>> may_overlap("<a>", "a>b"), may_overlap("<a>", "<b>")
    (True, False)
    """
    if a in b or b in a:
        return True
    sizes = range(1, min(len(a), len(b)))
    return any(a.endswith(b[:size]) or b.endswith(a[:size]) for size in sizes)


def is_firm(content: str) -> bool:
    """Return whether NFC keeps a text, unless a mark after it composes with its last character.

    >>> is_firm("<a>"), is_firm("e\u0301"), is_firm("\u0301")
    (True, False, False)
    """
    is_normal = UnicodeForm("NFC").normalize(content) == content
    return is_normal and begins_anew(content[0]) and begins_anew(content[-1])
