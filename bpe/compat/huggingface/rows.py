"""Define Row, the ids of one sequence, and align its tokens with the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from bpe.encoding.trim import count_spaces
from bpe.encoding.trim import trim as trim_arrays
from bpe.types import Ids

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


class FastAlignment(Protocol):
    """Computes parts of the Alignment of one sequence faster; a method may return None instead."""

    def spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return all spans; if `is_trimmed`, without the white space at both ends of tokens."""
        ...

    def tokens(self, ids: list[int]) -> list[str] | None:
        """Return the tokens of the sequence; `ids` are its ids."""
        ...

    def words(self) -> list[int] | None:
        """Return the number of the word of each id."""
        ...

    def trim_first(self, id: int, span: Span) -> Span:
        """Return the `span` of the first token of a window without white space at its ends."""
        ...


class Row:
    """The ids of one sequence; its alignment is computed on first access."""

    def __init__(
        self,
        ids: list[int] | Ids,
        align: Callable[[], Alignment],
        fast: FastAlignment | None = None,
    ) -> None:
        self._given_ids = ids
        self._align = align
        self._fast = fast

    @cached_property
    def ids(self) -> list[int]:
        """The ids as a list."""
        ids = self._given_ids
        return ids if isinstance(ids, list) else ids.tolist()

    @cached_property
    def alignment(self) -> Alignment:
        """The tokens, spans and words."""
        return self._align()

    @cached_property
    def tokens(self) -> list[str]:
        """The token of each id."""
        tokens = None if self._fast is None else self._fast.tokens(self.ids)
        return self.alignment.tokens if tokens is None else tokens

    @cached_property
    def words(self) -> list[int]:
        """The number of the word of each id."""
        words = None if self._fast is None else self._fast.words()
        return self.alignment.words if words is None else words

    def spans(self, start: int, stop: int) -> list[Span]:
        """Return the spans of the ids `start` to `stop`, without `stop`."""
        fast = self._fast_spans
        return (self.alignment.spans if fast is None else fast)[start:stop]

    def trimmed(self, start: int, stop: int, adds_space: bool) -> list[Span]:
        """Return `spans(start, stop)` without white space at both ends of tokens; see `trim`."""
        fast = self._fast_trimmed
        if fast is None:
            return trim(self.tokens[start:stop], self.spans(start, stop), adds_space)
        spans = fast[start:stop]
        # `fast` may have trimmed the token `start` as one within the text. Here it is the first
        # token of a window, so a single leading space stays.
        if adds_space and 0 < start < stop and self._fast is not None:
            [span] = self.spans(start, start + 1)
            spans[0] = self._fast.trim_first(self.ids[start], span)
        return spans

    @cached_property
    def _fast_spans(self) -> list[Span] | None:
        return None if self._fast is None else self._fast.spans(False)

    @cached_property
    def _fast_trimmed(self) -> list[Span] | None:
        return None if self._fast is None else self._fast.spans(True)


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
