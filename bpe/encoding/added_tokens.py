"""Define AddedTokens, which searches a text for added tokens before the text is split.

cpp/core/encode/added.hpp is the C++ version, with the same results.

Matching is leftmost-longest and compares bytes. Its time is linear in the text for any number of
tokens. The flags of AddedToken have the same meaning as in Hugging Face's tokenizers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from bpe.encoding.matcher import TokenMatcher
from bpe.errors import SpecialTokenError, shortened
from bpe.types import Treatment
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

Ranges = tuple[tuple[int, int], ...]
Record: TypeAlias = tuple[str, int, bool, bool, bool, bool, bool]
"""The fields of an AddedToken."""
Segments: TypeAlias = tuple[list[tuple[int, int, "int | None"]], "tuple[str, int] | None"]
"""The segments and the refused token of a text.

A segment is (start, end, id), half-open and in bytes; the id of plain text is None. If the policy
is "raise", the refused token is (content, position) of the first special token. It is None if the
text has no special token, and for the other policies.
"""


GIVEN_TOKEN = -1
"""The end of the span of a token that has no bytes in the text (TextRange.ids)."""


@dataclass(frozen=True)
class AddedToken:
    """A token that is searched for literally, before the pre-tokenizer splits the text.

    If `special` is true, the argument `special` of an encoding call decides what the token becomes.
    Any other added token always becomes its id. A `normalized` token is searched for in the
    normalized text, after all other tokens. A match of an `lstrip` token includes the white space
    before it, a match of an `rstrip` token the white space after it. A `single_word` token is
    matched only if no word character is next to it.
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
            raise TypeError(
                f"the content of added token {self.id!r} is {shortened(self.content)}; expected a "
                "str"
            )

    @property
    def _record(self) -> Record:
        """The fields, as C++ takes them."""
        return (
            self.content,
            self.id,
            self.special,
            self.normalized,
            self.lstrip,
            self.rstrip,
            self.single_word,
        )


class Segment(NamedTuple):
    """The bytes `start` to `end` of a text (half-open). `token` is None for plain text."""

    start: int
    end: int
    token: AddedToken | None


class AddedTokens:
    """Searches UTF-8 for added tokens. Copies with another policy share the search structure."""

    def __init__(self, tokens: Iterable[AddedToken], words: Ranges = ()) -> None:
        """Build the search for `tokens`, with the policy "allow".

        `words` are the ranges of word characters for `single_word` tokens. If two tokens of a phase
        have equal contents, a special token wins over an ordinary token; among tokens of one kind,
        the first one wins.
        """
        self.treatment: Treatment = "allow"
        self._word_starts = [first for first, _ in words]
        self._word_ranges = words
        tokens = sorted(tokens, key=lambda token: not token.special)
        exact = [token for token in tokens if not token.normalized]
        normalized = [token for token in tokens if token.normalized]
        self._phases = [_Phase(members) for members in (exact, normalized) if members]

    def treating(self, treatment: Treatment) -> AddedTokens:
        """Return a search with the policy `treatment` for special tokens."""
        phases = self._phases
        if treatment == "text" and all(phase.all_special for phase in phases):
            # A special token that is encoded as text has one effect: no other token matches within
            # it. So a search for only special tokens would find nothing.
            phases = []
        return self._copy(treatment, phases)

    def exact(self) -> AddedTokens:
        """Return a search for only the tokens that are matched before normalization."""
        phases = [phase for phase in self._phases if not phase.normalized]
        return self._copy(self.treatment, phases)

    def normalized(self) -> AddedTokens:
        """Return a search for only the tokens that are matched after normalization."""
        return self._copy(self.treatment, [phase for phase in self._phases if phase.normalized])

    def _copy(self, treatment: Treatment, phases: list[_Phase]) -> AddedTokens:
        result = copy(self)
        result.treatment = treatment
        result._phases = phases
        return result

    def split(self, data: bytes) -> Iterator[Segment]:
        """Yield the segments of `data` in order; they cover all of `data`, and none is empty.

        As in Hugging Face's tokenizers, a token that begins with white space may overlap the token
        before it, if the earlier token has `rstrip` and includes this white space. If the policy is
        "raise", raises SpecialTokenError at the first special token.
        """
        phases = [phase.normalized for phase in self._phases]
        return split_by_phases(phases, self.matches, data, 0, len(data))

    def segments(self, text: bytes) -> Segments:
        """Return the segments of UTF-8 up to the first refused token, and the refused token."""
        return listed(self.split(text))

    def matches(self, normalized: bool, data: bytes, start: int, end: int) -> Iterator[Match]:
        """Yield the matches of one phase in bytes `start` to `end`, without a look at flags."""
        for phase in self._phases:
            if phase.normalized == normalized:
                for pattern, first, last in phase.matcher.matches(data, start, end):
                    yield Match(self, phase.tokens[pattern], first, last)

    def ends(self) -> Sequence[int]:
        """Return the ends of ranges in bytes: (), since the search has none."""
        return ()

    def of_part(self, start: int, end: int) -> AddedTokens:
        """Return the search itself, since it has no ranges."""
        return self

    def moved(self, ends: Sequence[int]) -> AddedTokens:
        """Return the search itself, since it has no ranges."""
        return self

    @property
    def has_tokens(self) -> bool:
        """True if there are tokens to search for."""
        return bool(self._phases)

    def is_word(self, char: str) -> bool:
        """Return whether `char` is a word character; an empty `char` is none."""
        at = bisect_right(self._word_starts, ord(char)) - 1 if char else -1
        return at >= 0 and ord(char) <= self._word_ranges[at][1]


class _Phase:
    """The tokens that one pass over the text searches for.

    `tokens` are in the order of the patterns of `matcher`. If several tokens have the same bytes,
    the first one counts.
    """

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        by_bytes: dict[bytes, AddedToken] = {}
        for token in tokens:
            by_bytes.setdefault(token.content.encode(), token)
        patterns = sorted(by_bytes)
        self.tokens = [by_bytes[pattern] for pattern in patterns]
        self.matcher = TokenMatcher(patterns)
        self.normalized = self.tokens[0].normalized
        self.all_special = all(token.special for token in self.tokens)


class Match(NamedTuple):
    """A token that is at bytes `first` to `last` of a text, and the search that has found it."""

    search: AddedTokens
    token: AddedToken
    first: int
    last: int


Matches: TypeAlias = Callable[[bool, bytes, int, int], Iterable[Match]]
"""AddedTokens.matches, or a method that combines several searches."""


def listed(segments: Iterable[Segment]) -> Segments:
    """Return the segments of a split up to the first refused token, and the refused token."""
    done = []
    try:
        for start, end, token in segments:
            done.append((start, end, None if token is None else token.id))
    except SpecialTokenError as error:
        return done, (error.token, error.position)
    return done, None


def split_by_phases(
    phases: Sequence[bool], matches: Matches, data: bytes, start: int, end: int
) -> Iterator[Segment]:
    """Yield the segments of bytes `start` to `end`; search the phases one after the other.

    A phase is the flag `normalized` of its tokens.
    """
    if not phases:
        if start < end:
            yield Segment(start, end, None)
        return
    found = matches(phases[0], data, start, end)
    for segment in _split_at(found, data, start, end):
        if segment.token is not None:
            yield segment
        else:
            yield from split_by_phases(phases[1:], matches, data, segment.start, segment.end)


def _split_at(found: Iterable[Match], data: bytes, start: int, end: int) -> Iterator[Segment]:
    """Yield the segments of bytes `start` to `end` at the matches `found` of one phase."""
    done = start  # the end of the last segment
    spaces = 0, 0  # span of the last white space that rstrip included
    for search, token, first, last in found:
        if token.special and search.treatment == "text":
            continue  # As in Hugging Face's tokenizers, no token matches in a skipped token.
        if token.single_word and (
            search.is_word(_char_before(data, start, first))
            or search.is_word(_char_at(data, last, end))
        ):
            continue
        if token.special and search.treatment == "raise":
            if done < first:  # A later phase may find a token in the text before this one.
                yield Segment(done, first, None)
            raise SpecialTokenError(token.content, first)
        if token.lstrip:
            # White space that the previous token included by rstrip stays in that token.
            first = _skip_spaces_back(data, start, done, first)
        if token.rstrip:
            # If the token ends within `spaces`, the white space after the token ends at
            # spaces[1]. Not scanning this white space again keeps the search linear.
            if not spaces[0] <= last < spaces[1]:
                spaces = last, _skip_spaces(data, last, end)
            last = spaces[1]
        if first >= last:  # rstrip of the previous token includes all of this `lstrip` token
            continue
        if done < first:
            yield Segment(done, first, None)
        yield Segment(first, last, token)
        done = last
    if done < end:
        yield Segment(done, end, None)


_WHITE_SPACE = frozenset(map(chr, WHITE_SPACE_CODE_POINTS))


def is_white(content: str) -> bool:
    """Return whether a text consists of white space alone; "▁" stands for a space."""
    return _WHITE_SPACE.issuperset(content.replace("\u2581", " "))


def _char_before(data: bytes, start: int, at: int) -> str:
    """Return the code point that ends at `at`; "" at `start` or if the bytes are invalid."""
    for size in range(1, min(4, at - start) + 1):
        if data[at - size] & 0xC0 != 0x80:
            char = data[at - size : at].decode("utf-8", "ignore")
            return char if len(char.encode()) == size else ""
    return ""


def _char_at(data: bytes, at: int, end: int) -> str:
    """Return the code point at `at`; "" at `end` or if the bytes are invalid."""
    if at < end and data[at] < 0x80:
        return chr(data[at])
    for size in range(2, min(4, end - at) + 1):
        char = data[at : at + size].decode("utf-8", "ignore")
        if char:
            return char[0] if len(char.encode()) == size else ""
    return ""


def _skip_spaces_back(data: bytes, start: int, done: int, at: int) -> int:
    """Return the start of the white space that ends at `at`; the search stops at `done`."""
    while at > done and (char := _char_before(data, start, at)) in _WHITE_SPACE:
        at -= len(char.encode())
    return max(at, done)


def _skip_spaces(data: bytes, at: int, end: int) -> int:
    """Return the end of the white space that begins at `at`; the search stops at `end`."""
    while (char := _char_at(data, at, end)) in _WHITE_SPACE:
        at += len(char.encode())
    return at


@cache
def word_ranges() -> Ranges:
    r"""Return the code points of `\w` (UTS #18, Annex C) as ascending ranges (first, last)."""
    # Only `single_word` tokens need the character sets.
    from pretok.charsets.sets import WORD
    from pretok.unicode import CODE_POINTS, DEFAULT_VERSION, table

    # Each code point has an atom, a number from 0 on. Most properties of Unicode are sets of atoms;
    # WORD stores such sets as bit masks, one for each segment of the code points. All code points
    # between two neighbors in `cuts` have the same atom and the same mask.
    firsts, atoms = table(DEFAULT_VERSION)
    cuts = sorted({*firsts.tolist(), *(start for start, _ in WORD.segments)})
    ranges: list[tuple[int, int]] = []
    for first, next_first in pairwise([*cuts, CODE_POINTS]):
        atom = int(atoms[bisect_right(firsts, first) - 1])
        if not WORD.mask_at(first) >> atom & 1:
            continue
        if ranges and ranges[-1][1] == first - 1:
            ranges[-1] = ranges[-1][0], next_first - 1
        else:
            ranges.append((first, next_first - 1))
    return tuple(ranges)
