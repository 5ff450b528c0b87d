"""Define Row, the ids of one sequence, and align its tokens with the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bpe.encoding.trim import count_spaces
from bpe.encoding.trim import trim as trim_arrays

Span: TypeAlias = tuple[int, int]


class Alignment:
    """The token, the span in the text and the number of the word of each id."""

    def __init__(self, tokens: list[str], spans: list[Span], words: Callable[[], Any]) -> None:
        """`words` is a function, because few callers need its result."""
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

    def __init__(self, ids: list[int], align: Callable[[], Alignment]) -> None:
        self.ids = ids
        self._align = align

    @cached_property
    def alignment(self) -> Alignment:
        """The tokens, spans and words."""
        return self._align()

    @cached_property
    def tokens(self) -> list[str]:
        """The token of each id."""
        return self.alignment.tokens

    @cached_property
    def words(self) -> list[int]:
        """The number of the word of each id."""
        return self.alignment.words

    @cached_property
    def spans(self) -> list[Span]:
        """The span of each id."""
        return self.alignment.spans

    def trimmed(self, start: int, stop: int, adds_space: bool) -> list[Span]:
        """Return `spans[start:stop]` without white space at both ends of tokens; see `trim`."""
        return trim(self.tokens[start:stop], self.spans[start:stop], adds_space)


class _Spaces(dict[str, Span]):
    """A cache of the numbers of leading and trailing spaces of tokens.

    The cache is bounded: an added token may match different texts, and each of these texts counts
    as another token.
    """

    _MAX_SIZE = 1 << 18

    def __missing__(self, token: str) -> Span:
        counts = count_spaces(token)
        if len(self) >= self._MAX_SIZE:
            self.clear()
        self[token] = counts
        return counts


_spaces = _Spaces()


def trim(tokens: Sequence[str], spans: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the white space at both ends of each token.

    `adds_space` is the argument `keeps_first` of bpe.encoding.trim.trim.
    """
    return trim_spans(spans, [_spaces[token] for token in tokens], adds_space)


def trim_spans(spans: Sequence[Span], spaces: Sequence[Span], adds_space: bool) -> list[Span]:
    """Return `spans` without the counted `spaces` of each token; see `trim`."""
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    counts = np.array(spaces, np.int64).reshape(-1, 2)
    trimmed = trim_arrays(starts, ends, counts, adds_space)
    return list(zip(*(side.tolist() for side in trimmed), strict=True))
