"""Define Positions, which relates the tokens, words and characters of an encoding."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from operator import itemgetter

from bpe.compat.huggingface.rows import Span
from bpe.compat.huggingface.windows import Fixed, Window

MAX_WORD = (1 << 32) - 1
"""The largest number of a word in tokenizers."""


class Positions:
    """Answers the methods of tokenizers.Encoding with these names.

    Arguments are not negative. A word is not more than MAX_WORD.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._asked: set[int] = set()
        """The sequences with a call of `char_to_token`."""
        self._ends: dict[int, list[int] | None] = {}
        """The results of `_ascending_ends`, by sequence."""
        self._ascend: dict[int, bool] = {}
        """The results of `_words_ascend`, by sequence."""

    @cached_property
    def spans(self) -> list[Span]:
        """The span of each token in its text, in code points."""
        spans: list[Span] = []
        for part in self._window.parts:
            if isinstance(part, Fixed):
                spans += [(0, 0)] * part.size
                continue
            row, start, stop = part.row, part.start, part.stop
            if part.trims:
                spans += row.trimmed(start, stop, part.adds_space)
            else:
                spans += row.spans[start:stop]
        return spans

    @cached_property
    def words(self) -> list[int | None]:
        """The number of the word of each token; None for tokens of the template and of padding."""
        words: list[int | None] = []
        for part in self._window.parts:
            if isinstance(part, Fixed):
                words += [None] * part.size
            else:
                words += part.row.words[part.start : part.stop]
        return words

    def token_to_sequence(self, token: int) -> int | None:
        """Return the number of the sequence of a token.

        If a token is in several sequences, the library tokenizers returns any of them.
        """
        ranges = self._window.ranges
        if token > len(self._window):
            return None
        if not ranges:
            return 0
        return next(
            (number for number, (start, stop) in ranges.items() if start <= token < stop), None
        )

    def token_to_chars(self, token: int) -> Span | None:
        """Return the span of a token in its text, in code points."""
        if self.token_to_sequence(token) is None or token >= len(self.spans):
            return None
        return self.spans[token]

    def token_to_word(self, token: int) -> int | None:
        """Return the number of the word of a token."""
        if self.token_to_sequence(token) is None or token >= len(self.words):
            return None
        return self.words[token]

    def word_to_tokens(self, word: int, sequence: int = 0) -> Span | None:
        """Return the half-open range of the tokens of a word."""
        start, last = self._window.sequence_range(sequence)
        words = self.words
        if self._words_ascend(sequence):
            try:
                start = words.index(word, start, last)
            except ValueError:
                return None
        found: list[int] = []
        for index in range(start, last):
            other = words[index]
            if other is None:
                continue
            if other > word:
                break
            if other == word:
                found.append(index)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word: int, sequence: int = 0) -> Span | None:
        """Return the span of a word in its text, in code points."""
        tokens = self.word_to_tokens(word, sequence)
        if tokens is None:
            return None
        start, stop = tokens
        return self.spans[start][0], self.spans[stop - 1][1]

    def char_to_token(self, at: int, sequence: int = 0) -> int | None:
        """Return the index of the first token with an offset in a sequence, in code points."""
        first, last = self._window.sequence_range(sequence)
        ends = None
        if sequence in self._ends:
            ends = self._ends[sequence]
        elif sequence in self._asked:
            ends = self._ends[sequence] = _ascending_ends(self.spans[first:last])
        else:  # there may be only one call, for which a table would not pay
            self._asked.add(sequence)
        if ends is None:
            spans = enumerate(self.spans[first:last], first)
            return next((index for index, (start, end) in spans if start <= at < end), None)
        index = first + bisect_right(ends, at)
        return index if index < last and self.spans[index][0] <= at else None

    def char_to_word(self, at: int, sequence: int = 0) -> int | None:
        """Return the number of the word at an offset."""
        token = self.char_to_token(at, sequence)
        return None if token is None else self.token_to_word(token)

    def _words_ascend(self, sequence: int) -> bool:
        """Return whether the words of a sequence ascend, apart from None."""
        if sequence not in self._ascend:
            first, last = self._window.sequence_range(sequence)
            words = [word for word in self.words[first:last] if word is not None]
            self._ascend[sequence] = words == sorted(words)
        return self._ascend[sequence]


def _ascending_ends(spans: list[Span]) -> list[int] | None:
    """Return the ends of `spans`; None if their starts or their ends do not ascend."""
    starts, ends = (list(map(itemgetter(side), spans)) for side in (0, 1))
    return ends if starts == sorted(starts) and ends == sorted(ends) else None
