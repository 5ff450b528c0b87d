"""Define IdCuts, which finds a place between two ids at which their text may be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index

from bpe.budgets.cuts import Cuts
from bpe.budgets.proofs import CUT, NONE
from bpe.canonical.contents import Contents
from bpe.encoding.utf8 import MAX_CHAR
from bpe.normalizers.unicode_forms import begins_anew


class IdCuts:
    """Finds places between ids at which `Cuts` proves a cut, whatever follows the ids.

    If the ids before a place are those of their text, then the ids of any longer text begin with
    them, and the other ids are those of the rest of the text, encoded as a continuation.
    """

    def __init__(
        self,
        cuts: Cuts,
        contents: Contents,
        bytes_of: Callable[[int], bytes],
    ) -> None:
        """Store the parts; `bytes_of` returns the bytes of an id, which joined are the text."""
        self._cuts, self._contents = cuts, contents
        self._bytes_of = bytes_of

    def before(self, ids: Sequence[int], start: int) -> int:
        """Return the last place up to `start` at which the text of `ids` may be cut, or 0."""
        return next((place for place in range(start, 0, -1) if self.is_cut(ids, place)), 0)

    def is_cut(self, ids: Sequence[int], place: int) -> bool:
        """Return whether the text may be cut before ids[place], for any text after the ids."""
        return self.proof(ids, place) == CUT

    def proof(self, ids: Sequence[int], place: int) -> int:
        """Return what is proven for the text before and after ids[place]: CUT, JOINT or NONE."""
        cuts = self._cuts
        if not 0 < place < len(ids):
            return NONE
        before = _last_char(self._text_before(ids, place, MAX_CHAR))
        after = self._text_after(ids, place, 2 * MAX_CHAR)
        first = _first_char(after)
        proof = cuts.between(before, first) if before and first else NONE
        if proof == NONE:
            return NONE
        if cuts.normalizes and not (after.isascii() and before.isascii()):
            rest = after[len(first.encode()) :]
            if not begins_anew(first) or (rest and not begins_anew(_first_char(rest) or "\u0301")):
                return NONE
        reach = self._contents.longest - 1
        may_cover = self._contents.may_cover(
            self._text_before(ids, place, reach), self._text_after(ids, place, reach)
        )
        return NONE if may_cover else proof

    def _text_before(self, ids: Sequence[int], place: int, size: int) -> bytes:
        """Return at least `size` bytes before a place, if there are so many."""
        text = b""
        while place > 0 and len(text) < size:
            place -= 1
            text = self._bytes_of(index(ids[place])) + text
        return text

    def _text_after(self, ids: Sequence[int], place: int, size: int) -> bytes:
        """Return at least `size` bytes after a place, if there are so many."""
        text = b""
        while place < len(ids) and len(text) < size:
            text += self._bytes_of(index(ids[place]))
            place += 1
        return text


def _last_char(text: bytes) -> str:
    """Return the last character of UTF-8; "" if it is invalid."""
    for size in range(1, min(MAX_CHAR, len(text)) + 1):
        if text[-size] & 0xC0 != 0x80:
            char = text[-size:].decode("utf-8", "ignore")
            return char if len(char.encode()) == size else ""
    return ""


def _first_char(text: bytes) -> str:
    """Return the first character of UTF-8; "" if it is invalid or incomplete."""
    for size in range(1, min(MAX_CHAR, len(text)) + 1):
        try:
            return text[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return ""
