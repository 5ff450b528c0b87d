"""Define Reader, which encodes a text for Search and finds its cuts and borders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.budgets.borders import (
    BorderFinder,
    ChunkKind,
    called_borders,
    line_ends,
    pre_token_ends,
    sentence_ends,
)
from bpe.budgets.cuts import Cuts
from bpe.budgets.source import Source
from bpe.budgets.texts import Utf8
from bpe.budgets.token_ends import token_ends
from bpe.encoding.pipeline import Pipeline
from bpe.encoding.python_backend import PythonBackend
from bpe.errors import SpecialTokenError
from bpe.types import Ids, Offsets, Special, SupportsOffsets
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer

if TYPE_CHECKING:
    from pretok._core import Chunks

CountCall: TypeAlias = Callable[..., int]
BorderKind: TypeAlias = ChunkKind | Literal["called", "character"]
"""A kind of borders of chunks, with those of a caller's function, and all characters."""
NativeKind: TypeAlias = Literal[
    "token", "places", "spaces", "line", "sentence", "pre-token", "character"
]
FINER: dict[ChunkKind, tuple[ChunkKind, ...]] = {
    "line": ("line", "sentence", "pre-token", "token"),
    "sentence": ("sentence", "pre-token", "token"),
    "pre-token": ("pre-token", "token"),
    "token": ("token",),
}
"""Each kind of borders, and the finer kinds, down to tokens. Characters are finer than tokens."""
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

    def source(self, text: Utf8, starts: Offsets | None = None, only_ascii: bool = False) -> Source:
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
        if (
            cuts is not None
            and source.is_normal
            and not (source.has_tokens and not cuts.has_exact_sizes)
        ):
            ids = self._ids(text, continuation)
            core = self._pipeline.core
            find = token_ends if core is None else core.token_ends
            ends = find(ids, cuts.sizes, data, cuts.puts_prefix, cuts.is_text)
            if ends is not None:
                return Ends(ends, None, is_exact=True)
        try:
            _, starts, last = self._pipeline.spans(data, special, "replace", None, continuation)
        except SpecialTokenError:
            self._ids(text, continuation)  # its error has the offsets of the text
            raise
        last = np.maximum.accumulate(last)
        is_border = np.append(last[:-1] <= starts[1:], True)[: len(last)]
        return Ends(last, last[is_border], is_exact=False)

    def _ids(self, text: Utf8, continuation: bool) -> Ids:
        """Return the ids of a text; errors have its offsets."""
        encode, special = self._pipeline.encode_array, self._special
        if text.is_valid:
            with suppress(SpecialTokenError):
                return encode(text.data, special, "replace", None, continuation)
        return encode(text.text, special, text.errors, None, continuation)

    def places(
        self, kind: BorderKind, source: Source, text: Utf8, ends: Ends, on: object
    ) -> NDArray[np.signedinteger[Any]]:
        """Return the borders of a kind other than "character", in bytes."""
        if kind == "called":
            assert callable(on), "kinds_of"
            return text.bytes_of(called_borders(on, text.text))
        if kind == "line":
            return line_ends(source.data)
        if kind == "sentence":
            return sentence_ends(source.data)
        if kind == "pre-token":
            return pre_token_ends(source.data, self._pre_tokenizer)
        return ends.ends if ends.borders is None else ends.borders

    def native_kind(self, kind: BorderKind, source: Source) -> NativeKind:
        """Return how C++ finds the borders of a kind."""
        if kind in ("token", "character", "line", "sentence"):
            return kind
        if kind == "pre-token" and isinstance(self._pre_tokenizer, PreTokenizer):
            if self._pre_tokenizer.preset == WHOLE:
                return "spaces"
            if not source.has_tokens and not (source.cuts is None or source.cuts.is_text):
                return "pre-token"  # a cut ends a pre-token, so C++ splits only what it reads
        return "places"

    def native_chunks(self, source: Source, text: Utf8, ends: Ends, room: int) -> Chunks | None:
        """Return the search in C++, or None if only Python can search this text."""
        cuts = source.cuts
        if isinstance(self._pipeline.backend, PythonBackend) or ends.ends.dtype != np.int32:
            return None
        if cuts is None or not ends.is_exact or not source.is_valid or not text.has_offsets:
            return None
        allowed = None
        if source.borders is not None:
            allowed = np.zeros(source.size + 1, bool)
            allowed[source.borders] = True
        return self._pipeline.chunks(
            self._special, cuts.native_proofs, source.data, ends.ends, cuts.puts_prefix,
            source.blocked, allowed, source.is_normal, cuts.longest or 0, room,
            text.text if text.is_str else None,
        )  # fmt: skip


def kinds_of(on: ChunkKind | BorderFinder) -> tuple[BorderKind, ...]:
    """Return the kind of `on`, and all finer kinds in order."""
    if callable(on):
        return ("called", *FINER["pre-token"], "character")
    return (*FINER[on], "character")
