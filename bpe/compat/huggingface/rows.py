"""Define Row, the ids of one sequence, and align its tokens with the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from bpe.types import Ids
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

Span: TypeAlias = tuple[int, int]

# Ġ is a space in the tokens of a byte-level vocabulary, so it counts as white space here.
_SPACES = "Ġ" + "".join(map(chr, WHITE_SPACE_CODE_POINTS))


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


class _Spaces(dict[str, "Span | None"]):
    """A cache of the numbers of leading and trailing spaces of tokens; None for tokens without any.

    The cache is bounded: an added token may match different texts, and each of these texts counts
    as another token.
    """

    _MAX_SIZE = 1 << 18

    def __missing__(self, token: str) -> Span | None:
        counts = count_spaces(token)
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
        span if (count := counts[token]) is None else trim_span(span, count, False)
        for token, span in zip(tokens, spans, strict=True)
    ]
    if adds_space:
        for index, span in enumerate(spans):
            if (index == 0 or span[0] == 0) and (count := counts[tokens[index]]) is not None:
                trimmed[index] = trim_span(span, count, True)
    return trimmed


def count_spaces(token: str) -> Span | None:
    """Return the number of spaces at both ends of a token, or None if it has none."""
    leading = len(token) - len(token.lstrip(_SPACES))
    trailing = len(token) - len(token.rstrip(_SPACES))
    return (leading, trailing) if leading or trailing else None


def trim_span(span: Span, counts: Span, keeps_space: bool) -> Span:
    """Return `span` without the counted spaces; a single leading one stays if `keeps_space`."""
    start, end = span
    leading, trailing = counts
    if leading and not (keeps_space and leading == 1):
        start = min(start + leading, end)
    if trailing and end >= trailing:
        end = max(end - trailing, start)
    return start, end
