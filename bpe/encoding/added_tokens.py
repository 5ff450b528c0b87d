"""Added tokens, which are found in a text before it is split.

cpp/core/encode/added.hpp is the twin.

Matching is leftmost, of those the longest, by comparison of bytes, and takes time linear in the
text however many tokens there are. The flags of AddedToken mean what they do in tokenizers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from bpe.encoding.matcher import TokenMatcher
from bpe.encoding.normalize import normalize
from bpe.errors import SpecialTokenError, shortened
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS, Atom

Ranges = tuple[tuple[int, int], ...]
Treatment: TypeAlias = Literal["raise", "text", "allow"]
"""What special tokens become."""

Segments: TypeAlias = tuple[list[tuple[int, int, "int | None"]], "tuple[str, int] | None"]
"""(start, end, id or None) of each segment, and (content, position) of a refused token, or None."""


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
    """Finds added tokens in UTF-8. Copies share what is large."""

    def __init__(self, tokens: Iterable[AddedToken], words: Ranges = (), nfc: bool = False) -> None:
        """Find `tokens`; allow special ones.

        `words` matter only to tokens that are a single word. With `nfc` the text is normalized, and
        so are the contents of normalized tokens before they are searched for. Two tokens may then
        be found as the same bytes: special ones count first, then the first of `tokens`.
        """
        self._treatment: Treatment = "allow"
        self._word_starts = [first for first, _ in words]
        self._word_ranges = words
        tokens = sorted(tokens, key=lambda token: not token.special)
        exact = [token for token in tokens if not token.normalized]
        normalized = [token for token in tokens if token.normalized]
        self._phases = [
            _Finder(found, nfc and found is normalized) for found in (exact, normalized) if found
        ]

    def treating(self, treatment: Treatment) -> AddedTokens:
        """Return these with another treatment of special tokens."""
        phases = self._phases
        if treatment == "text" and all(phase.all_special for phase in phases):
            phases = []  # Special tokens that are text matter only to tokens that they may hide.
        return self._copy(treatment, phases)

    def exact(self) -> AddedTokens:
        """Return only the tokens that are found in text as it is."""
        phases = [phase for phase in self._phases if not phase.normalized]
        return self._copy(self._treatment, phases)

    def normalized(self) -> AddedTokens:
        """Return only the tokens that are found once text is normalized."""
        return self._copy(self._treatment, [phase for phase in self._phases if phase.normalized])

    def _copy(self, treatment: Treatment, phases: list[_Finder]) -> AddedTokens:
        made = copy(self)
        made._treatment = treatment
        made._phases = phases
        return made

    def split(self, data: bytes) -> Iterator[Segment]:
        """Yield the segments of `data`, all of it in order; text between tokens is never empty.

        Raises SpecialTokenError at a special token if those are to "raise".
        """
        return self._search(self._phases, data, 0, len(data))

    def segments(self, data: bytes) -> Segments:
        """Return (start, end, id or None) of each segment, and the token that is refused after."""
        found = []
        try:
            for start, end, token in self.split(data):
                found.append((start, end, None if token is None else token.id))
        except SpecialTokenError as error:
            return found, (error.token, error.position)
        return found, None

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
        spaces = 0, 0  # the last white space that a token took along at its end
        for pattern, first, last in finder.matcher.matches(data, start, end):
            token = finder.tokens[pattern]
            if token.special and self._treatment == "text":
                continue  # As in tokenizers, nothing is looked for in it.
            if token.single_word and (
                self._is_word(_before(data, start, first))
                or self._is_word(_behind(data, last, end))
            ):
                continue
            if token.special and self._treatment == "raise":
                if done < first:  # where a later phase may find one that comes first
                    yield Segment(done, first, None)
                raise SpecialTokenError(token.content, first)
            if token.lstrip:
                # What the token before has taken stays with it.
                first = _skip_back(data, start, done, first)
            if token.rstrip:
                # White space that is known is not looked at again for each token within it.
                if not spaces[0] <= last < spaces[1]:
                    spaces = last, _skip(data, last, end)
                last = spaces[1]
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
    """The tokens of one phase, in the order of the patterns of `matcher`.

    Of several that are found as the same bytes the first counts.
    """

    def __init__(self, tokens: Iterable[AddedToken], nfc: bool) -> None:
        by_bytes: dict[bytes, AddedToken] = {}
        for token in tokens:
            content = normalize(token.content) if nfc else token.content
            by_bytes.setdefault(content.encode(), token)
        patterns = sorted(by_bytes)
        self.tokens = [by_bytes[pattern] for pattern in patterns]
        self.matcher = TokenMatcher(patterns)
        self.normalized = self.tokens[0].normalized
        self.all_special = all(token.special for token in self.tokens)


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


def _skip_back(data: bytes, start: int, done: int, at: int) -> int:
    """Return where the white space before `at` begins, or `done` if that is later."""
    while at > done and (char := _before(data, start, at)) in _WHITE_SPACE:
        at -= len(char.encode())
    return max(at, done)


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
