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


def trim(tokens: Sequence[str], spans: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the white space at both ends of each token.

    With `adds_space` a single space at the start of the first token, or of a token at the start of
    the text, stays: the pre-tokenizer may have put it there.
    """
    return [
        _trimmed(token, *span, keeps_space=adds_space and (index == 0 or span[0] == 0))
        if token and (token[0] in _SPACES or token[-1] in _SPACES)
        else span
        for index, (token, span) in enumerate(zip(tokens, spans, strict=True))
    ]


def _trimmed(token: str, start: int, end: int, keeps_space: bool) -> Span:
    leading = trailing = 0
    while leading < len(token) and token[leading] in _SPACES:
        leading += 1
    while trailing < len(token) and token[-1 - trailing] in _SPACES:
        trailing += 1
    if leading and not (keeps_space and leading == 1):
        start = min(start + leading, end)
    if trailing and end >= trailing:
        end = max(end - trailing, start)
    return start, end
