"""Define Row, the ids of one sequence with the token, the span and the word of each id."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple, TypeAlias

from bpe.compat.huggingface.align import Aligner, Alignment, Span, trim
from bpe.encoding.offsets import byte_offsets
from bpe.once import lazy
from bpe.types import Treatment


class ListedRow(NamedTuple):
    """The ids of one sequence; the token, the span and the number of the word of each id."""

    ids: list[int]
    tokens: list[str]
    spans: list[Span]
    words: list[int | None]

    def spans_of(self, start: int, stop: int) -> list[Span]:
        """Return the spans of the ids `start` to `stop`."""
        return self.spans[start:stop]


class TextRow:
    """The row of a text, or of a list of words; all but the ids is computed on first access.

    Spans of words count from the start of their word.
    """

    def __init__(
        self,
        texts: list[str],
        ids: list[list[int]],
        aligner: Aligner,
        treatment: Treatment,
        is_words: bool = False,
    ) -> None:
        """`ids` has those of each of `texts`, which is one text unless `is_words`."""
        self.ids = [id for each in ids for id in each] if is_words else ids[0]
        self._texts = texts
        self._sizes = list(map(len, ids)) if is_words else None
        self._aligner = aligner
        self._treatment = treatment
        self.counts_bytes = False
        """True if spans count bytes of UTF-8; set it before the first access to spans."""

    @lazy
    def tokens(self) -> list[str]:
        """The token of each id."""
        tokens = self._aligner.tokens(self.ids)
        if tokens is None:
            return [token for each in self._alignments for token in each.tokens]
        return tokens

    @lazy
    def _spans(self) -> list[Span]:
        spans = self._char_spans()
        return self._in_bytes(spans) if self.counts_bytes else spans

    def _char_spans(self) -> list[Span]:
        spans = self._fast_spans(False)
        if spans is None:
            spans = [span for each in self._alignments for span in each.spans]
        return spans

    def _in_bytes(self, spans: list[Span]) -> list[Span]:
        sizes = [len(spans)] if self._sizes is None else self._sizes
        rest = iter(spans)
        converted: list[Span] = []
        for text, size in zip(self._texts, sizes, strict=True):
            at = byte_offsets(text).tolist()
            converted += [(at[start], at[stop]) for start, stop in islice(rest, size)]
        return converted

    @lazy
    def words(self) -> list[int | None]:
        """The number of the word of each id."""
        if self._sizes is None:
            words = self._aligner.words(self._texts[0], self.ids, self._char_spans)
            return self._alignments[0].words if words is None else words
        return [word for word, size in enumerate(self._sizes) for _ in range(size)]

    def spans_of(self, start: int, stop: int) -> list[Span]:
        """Return the spans of the ids `start` to `stop`, as the post-processor leaves them.

        It may remove the white space at both ends of each token; see `trim`.
        """
        aligner = self._aligner
        if not aligner.trims:
            return self._spans[start:stop]
        trimmed = self._trimmed
        if trimmed is None:
            return trim(self.tokens[start:stop], self._spans[start:stop], aligner.adds_space)
        spans = trimmed[start:stop]
        # C++ has trimmed the token `start` as one within the text. If it is the first token of a
        # window, a single leading space stays.
        if aligner.adds_space and 0 < start < stop:
            spans[0] = aligner.trim_first(self.ids[start], self._spans[start])
        return spans

    @lazy
    def _trimmed(self) -> list[Span] | None:
        # Only the first token of all words keeps its space. C++ would keep that of each word whose
        # first token starts later, as after a character without a token.
        is_kept = self._sizes is not None and self._aligner.adds_space
        return None if is_kept or self.counts_bytes else self._fast_spans(True)

    def _fast_spans(self, is_trimmed: bool) -> list[Span] | None:
        """Return the spans, trimmed or not; None if C++ cannot handle a text."""
        spans: list[Span] = []
        for text in self._texts:
            more = self._aligner.spans(text, self._treatment, is_trimmed)
            if more is None:
                return None
            spans += more
        return spans

    @lazy
    def _alignments(self) -> list[Alignment]:
        return [self._aligner.align(text, self._treatment) for text in self._texts]


class BareRow:
    """The ids of one sequence, without tokens, spans and words, as encode_batch_fast has them."""

    __slots__ = ("ids",)

    def __init__(self, row: TextRow) -> None:
        self.ids = row.ids

    @property
    def tokens(self) -> list[str]:
        """An empty token for each id."""
        return [""] * len(self.ids)

    @property
    def words(self) -> list[None]:
        """None for each id."""
        return [None] * len(self.ids)

    def spans_of(self, start: int, stop: int) -> list[Span]:
        """Return an empty span for each of the ids `start` to `stop`."""
        return [(0, 0)] * (stop - start)


Row: TypeAlias = ListedRow | TextRow | BareRow
