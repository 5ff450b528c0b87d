"""Define Reader, which encodes a text for Search and finds its cuts and borders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.borders import (
    BorderFinder,
    Borders,
    ChunkKind,
    ListedBorders,
    called_borders,
    line_ends,
    pre_token_ends,
    sentence_ends,
)
from bpe.budgets.cuts import Cuts
from bpe.budgets.source import Source
from bpe.budgets.texts import Utf8
from bpe.characters.marks import SPACE_MARK
from bpe.encoding.pipeline import Pipeline
from bpe.errors import SpecialTokenError
from bpe.types import Offsets, Special, SupportsOffsets
from pretok.pre_tokenizer import PreTokenizer

CountCall: TypeAlias = Callable[..., int]
FINER: dict[ChunkKind, tuple[ChunkKind, ...]] = {
    "line": ("line", "sentence", "pre-token", "token"),
    "sentence": ("sentence", "pre-token", "token"),
    "pre-token": ("pre-token", "token"),
    "token": ("token",),
}
"""Each kind of borders, and the finer kinds, down to tokens. Characters are finer than tokens."""
MAX_INT32 = (1 << 31) - (1 << 16)
TOO_MANY = 1 << 62
"""Stands for the number of ids of a text that `special` refuses."""


class Ends(NamedTuple):
    """The end of each id of a text in bytes.

    `borders` are the ends that are borders of tokens, or None if all are. `is_exact` says that each
    id stands for the bytes up to its end.
    """

    ends: NDArray[np.signedinteger[Any]]
    borders: Offsets | None
    is_exact: bool


class Reader:
    """Reads texts for one tokenizer and one argument `special`."""

    def __init__(
        self,
        pipeline: Pipeline,
        count: CountCall,
        cuts: Cuts | None,
        pre_tokenizer: PreTokenizer | SupportsOffsets,
        special: Special,
    ) -> None:
        self._pipeline = pipeline
        self._count_call = count
        self.cuts = cuts
        self._pre_tokenizer = pre_tokenizer
        self._special = special

    def count(self, data: bytes, continuation: bool = False) -> int:
        """Return the number of ids of a text."""
        return self._count_call(data, self._special, "replace", None, continuation)

    def _count_part(self, data: bytes, continuation: bool) -> int:
        try:
            return self._count_call(data, self._special, "replace", None, continuation)
        except SpecialTokenError:  # a cut beside a `single_word` token makes it a whole word
            return TOO_MANY

    def source(
        self,
        text: Utf8,
        starts: Offsets | None = None,
        only_ascii: bool = False,
    ) -> Source:
        """Return a text with its cuts; `starts` has all borders if they are not all characters.

        `special` must not refuse the text. If `only_ascii`, a normalizer may change characters that
        are not ASCII, because of the text before them.
        """
        data = text.data
        tokens = [
            (start, end)
            for start, end, id in self._pipeline.segments(data, self._special)
            if id is not None
        ]
        near = tokens
        if self._special == "text" and self.cuts is not None and self.cuts.has_ordinary_tokens:
            # Special tokens are text, but hide other added tokens.
            found = self._pipeline.segments(data, "allow")
            near = [(start, end) for start, end, id in found if id is not None]
        cuts, is_normal = self.cuts, True
        if cuts is not None and cuts.normalizes:
            is_normal = not only_ascii and self._is_normal(data)
            if not is_normal and cuts.has_normalized_tokens:
                cuts = None
        return Source(data, cuts, self._count_part, tokens, near, is_normal, starts, text.is_valid)

    def _is_normal(self, data: bytes) -> bool:
        return data.isascii() or self._pipeline.backend.is_normal(data)

    def ends(self, source: Source, text: Utf8, continuation: bool = False) -> Ends:
        """Return the end of each id of a text; `text` is the text of `source`."""
        data, cuts, special = source.data, source.cuts, self._special
        ids = self._pipeline.encode_array(text.text, special, text.errors, None, continuation)
        mark = SPACE_MARK.encode()
        if (
            cuts is not None
            and source.is_normal
            and not (
                (source.has_tokens and not cuts.has_exact_sizes) or (cuts.is_text and mark in data)
            )
        ):
            sizes = cuts.sizes.take(ids)
            ends: NDArray[np.signedinteger[Any]] = np.cumsum(
                sizes, dtype=np.int32 if source.size < MAX_INT32 else np.int64
            )
            extra = int(ends[-1]) - source.size if len(ends) else 0
            if 0 <= extra <= cuts.puts_prefix:
                # The first id also stands for the prefix.
                return Ends(ends - extra if extra else ends, None, is_exact=True)
        _, starts, last = self._pipeline.spans(data, special, "replace", None, continuation)
        last = np.maximum.accumulate(last)
        is_border = np.append(last[:-1] <= starts[1:], True)[: len(last)]
        return Ends(last, last[is_border], is_exact=False)

    def borders(
        self, source: Source, text: Utf8, ends: Ends, on: ChunkKind | BorderFinder
    ) -> Iterator[Borders]:
        """Yield the borders of the kind `on`, and then of each finer kind."""
        if callable(on):
            places = called_borders(on, text.text)
            yield ListedBorders(source, text.bytes_of(places))
        for kind in FINER["pre-token" if callable(on) else on]:
            if kind == "line":
                yield ListedBorders(source, line_ends(source.data))
            elif kind == "sentence":
                yield ListedBorders(source, sentence_ends(source.data))
            elif kind == "pre-token":
                yield ListedBorders(source, pre_token_ends(source.data, self._pre_tokenizer))
            else:
                yield ListedBorders(source, ends.ends if ends.borders is None else ends.borders)
        yield source
