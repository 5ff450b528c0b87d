"""Define Row, the ids of one sequence, and align its tokens with the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from bpe.types import Ids
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

Span: TypeAlias = tuple[int, int]

_SPACES = frozenset("Ġ") | frozenset(map(chr, WHITE_SPACE_CODE_POINTS))


class Alignment:
    """The token, the span in the text and the number of the word of each id."""

    def __init__(self, tokens: list[str], spans: list[Span], words: Callable[[], Any]) -> None:
        """Take the words as a function, because few callers need them."""
        self.tokens = tokens
        self.spans = spans
        self._words = words

    @cached_property
    def words(self) -> list[int]:
        """The number of the word of each id."""
        words: list[int] = self._words()
        return words


class Row:
    """The ids of one sequence; its alignment is computed on first access."""

    def __init__(self, ids: list[int] | Ids, align: Callable[[], Alignment]) -> None:
        self._given_ids = ids
        self._align = align

    @cached_property
    def ids(self) -> list[int]:
        """The ids as a list."""
        ids = self._given_ids
        return ids if isinstance(ids, list) else ids.tolist()

    @cached_property
    def alignment(self) -> Alignment:
        """The tokens, spans and words."""
        return self._align()


class _Spaces(dict[str, "Span | None"]):
    """The number of leading and trailing spaces of tokens; None for tokens without any.

    Bounded, because the token of an added token is the text that it matched.
    """

    _MAX_SIZE = 1 << 18

    def __missing__(self, token: str) -> Span | None:
        counts = _count_spaces(token)
        if len(self) >= self._MAX_SIZE:
            self.clear()
        self[token] = counts
        return counts


_spaces = _Spaces()


def trim(tokens: Sequence[str], spans: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the white space at both ends of each token.

    With `adds_space` a single space at the start of the first token, or of a token at the start of
    the text, stays: the pre-tokenizer may have put it there.
    """
    counts = _spaces
    trimmed = [
        span if (count := counts[token]) is None else _trimmed(span, count, False)
        for token, span in zip(tokens, spans, strict=True)
    ]
    if adds_space:
        for index, span in enumerate(spans):
            if (index == 0 or span[0] == 0) and (count := counts[tokens[index]]) is not None:
                trimmed[index] = _trimmed(span, count, True)
    return trimmed


def _count_spaces(token: str) -> Span | None:
    leading = trailing = 0
    while leading < len(token) and token[leading] in _SPACES:
        leading += 1
    while trailing < len(token) and token[-1 - trailing] in _SPACES:
        trailing += 1
    return (leading, trailing) if leading or trailing else None


def _trimmed(span: Span, counts: Span, keeps_space: bool) -> Span:
    start, end = span
    leading, trailing = counts
    if leading and not (keeps_space and leading == 1):
        start = min(start + leading, end)
    if trailing and end >= trailing:
        end = max(end - trailing, start)
    return start, end
