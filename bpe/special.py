"""Added tokens, which are found in a text before it is split. cpp/core/added.hpp is the twin.

Matching is leftmost, of those the longest, by comparison of bytes, and takes time linear in the
text however many tokens there are. The flags of AddedToken mean what they do in tokenizers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from bpe.errors import SpecialTokenError, shortened
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS, Atom

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class AddedToken:
    """A token that is found as it is written, before the text is split.

    What a `special` one becomes is for each call to say; another is always a token. `normalized`
    ones are searched for behind the others, in normalized text. `lstrip` and `rstrip` take the
    white space before and behind along, and a `single_word` one counts only where no word
    character stands beside it.
    """

    content: str
    id: int
    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.content, str):
            raise TypeError(f"added token {self.id!r} is {shortened(self.content)}; expected str")


class Segment(NamedTuple):
    """A part of a text, from byte `start` to `end`: an added token, or text (None)."""

    start: int
    end: int
    token: AddedToken | None


class AddedTokens:
    """Finds added tokens in UTF-8; those in `refused` raise SpecialTokenError when found.

    Those in `as_text` remain text, as a whole: nothing is looked for in them.
    """

    def __init__(
        self,
        tokens: Iterable[AddedToken],
        refused: Collection[str] = (),
        as_text: Collection[str] = (),
        words: Ranges = (),
    ) -> None:
        self._refused = frozenset(refused)
        self._as_text = frozenset(as_text)
        self._word_starts = [first for first, _ in words]
        self._word_ranges = words
        exact: list[AddedToken] = []
        normalized: list[AddedToken] = []
        for token in tokens:
            (normalized if token.normalized else exact).append(token)
        self._phases = [_Finder(found) for found in (exact, normalized) if found]

    def split(self, data: bytes) -> Iterator[Segment]:
        """Yield the segments of `data`, all of it in order; text between tokens is never empty."""
        return self._search(self._phases, data, 0, len(data))

    def _search(
        self, phases: Sequence[_Finder], data: bytes, start: int, end: int
    ) -> Iterator[Segment]:
        if not phases:
            if start < end:
                yield Segment(start, end, None)
            return
        for segment in self._split_text(phases[0], data, start, end):
            if segment.token is not None:
                yield segment
            else:
                yield from self._search(phases[1:], data, segment.start, segment.end)

    def _split_text(self, finder: _Finder, data: bytes, start: int, end: int) -> Iterator[Segment]:
        done = start
        for first, last, token in finder.matches(data, start, end):
            if token.content in self._as_text:
                continue
            if token.single_word and (
                self._is_word(_before(data, start, first))
                or self._is_word(_behind(data, last, end))
            ):
                continue
            if token.content in self._refused:
                if done < first:  # where a later phase may find one that comes first
                    yield Segment(done, first, None)
                raise SpecialTokenError(token.content, first)
            if token.lstrip:
                # What the token before has taken stays with it.
                first = max(_skip_back(data, start, first), done)
            if token.rstrip:
                last = _skip(data, last, end)
            if first >= last:
                continue
            if done < first:
                yield Segment(done, first, None)
            yield Segment(first, last, token)
            done = last
        if done < end:
            yield Segment(done, end, None)

    def _is_word(self, char: str) -> bool:
        at = bisect_right(self._word_starts, ord(char)) - 1 if char else -1
        return at >= 0 and ord(char) <= self._word_ranges[at][1]


class _Finder:
    """Finds the leftmost of some tokens, and of those that start there the longest."""

    def __init__(self, tokens: Sequence[AddedToken]) -> None:
        self._tokens = {token.content.encode(): token for token in tokens}
        self._lengths: dict[int, list[int]] = {}
        for content in sorted(self._tokens, key=len, reverse=True):
            lengths = self._lengths.setdefault(content[0], [])
            if len(content) not in lengths:
                lengths.append(len(content))

    def matches(self, data: bytes, start: int, end: int) -> Iterator[tuple[int, int, AddedToken]]:
        """Yield (start, end, token) of each match; they do not overlap."""
        # Where each first byte is found next.
        ahead = {first: data.find(first, start, end) for first in self._lengths}
        at = start
        while True:
            for first in [first for first, place in ahead.items() if place < at]:
                place = data.find(first, at, end) if ahead[first] >= 0 else -1
                if place < 0:
                    del ahead[first]
                else:
                    ahead[first] = place
            if not ahead:
                return
            at = min(ahead.values())
            for length in self._lengths[data[at]]:
                token = self._tokens.get(data[at : at + length])
                if token is not None and at + length <= end:
                    yield at, at + length, token
                    at += length
                    break
            else:
                at += 1


_WHITE_SPACE = frozenset(map(chr, WHITE_SPACE_CODE_POINTS))


def _before(data: bytes, start: int, at: int) -> str:
    """Return the code point that ends at `at`; "" at `start`, or where there is no UTF-8."""
    for size in range(1, min(4, at - start) + 1):
        if data[at - size] & 0xC0 != 0x80:
            char = data[at - size : at].decode("utf-8", "ignore")
            return char if len(char.encode()) == size else ""
    return ""


def _behind(data: bytes, at: int, end: int) -> str:
    """Return the code point at `at`; "" at `end`, or where there is no UTF-8."""
    if at < end and data[at] < 0x80:
        return chr(data[at])
    for size in range(2, min(4, end - at) + 1):
        char = data[at : at + size].decode("utf-8", "ignore")
        if char:
            return char[0] if len(char.encode()) == size else ""
    return ""


def _skip_back(data: bytes, start: int, at: int) -> int:
    while (char := _before(data, start, at)) in _WHITE_SPACE:
        at -= len(char.encode())
    return at


def _skip(data: bytes, at: int, end: int) -> int:
    while (char := _behind(data, at, end)) in _WHITE_SPACE:
        at += len(char.encode())
    return at


# Alphabetic besides letters, marks and Nl (Other_Alphabetic), and the two joiners: the rest of \w.
_WORD_BESIDES = ((0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169),
                 (0x1F170, 0x1F189))  # fmt: skip


@cache
def word_ranges() -> Ranges:
    r"""Return the code points of `\w` (UTS #18, Annex C) as ranges, first and last, ascending.

    For tokens that are a single word; takes a second the first time.
    """
    from unicodedata2 import category

    from pretok.unicode import CODE_POINTS, DEFAULT_VERSION, table

    # unicodedata2 may be of a later version than the engines; what is assigned since is no word.
    firsts, atoms = table(DEFAULT_VERSION)
    widths = [b - a for a, b in pairwise([*firsts.tolist(), CODE_POINTS])]
    known = [atom for atom, width in zip(atoms, widths, strict=True) for _ in range(width)]
    besides = {code for first, last in _WORD_BESIDES for code in range(first, last + 1)}
    ranges: list[tuple[int, int]] = []
    for code in range(CODE_POINTS):
        kind = category(chr(code))
        is_word = kind[0] in "LM" or kind in ("Nd", "Nl", "Pc")
        if code not in besides and (not is_word or known[code] == Atom.CONTROL):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return tuple(ranges)
