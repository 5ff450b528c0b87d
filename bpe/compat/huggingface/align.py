"""Align the ids of a text with its words and code points, as tokenizers does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bpe import Tokenizer
from bpe.compat.huggingface.normal_form import origins
from bpe.compat.huggingface.rows import Alignment, Span
from bpe.encoding.backends import make_added
from bpe.encoding.offsets import ByteToCharOffsets, byte_offsets
from bpe.types import Treatment


class _Builder:
    """An alignment that grows segment by segment; each numbers its words from 0."""

    def __init__(self) -> None:
        self.alignment = Alignment([], [], [])
        self._words = 0

    def add_token(self, token: str, span: Span) -> None:
        """Add an added token, which is a word of its own."""
        self.add([token], [span], [0], 1)

    def add(self, tokens: list[str], spans: list[Span], words: list[int], count: int) -> None:
        """Add the tokens of `count` words."""
        self.alignment.tokens.extend(tokens)
        self.alignment.spans.extend(spans)
        self.alignment.words.extend([self._words + word for word in words])
        self._words += count


class Aligner:
    """Aligns texts with the ids of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, names: Mapping[int, str]) -> None:
        """Take the tokens of the model by id as `names`."""
        self._pipeline = tokenizer._pipeline
        self._policies = tokenizer._pipeline._policies
        self._backend = tokenizer._pipeline.backend
        self._split = tokenizer.pre_tokenizer
        self._normalizer = tokenizer.normalizer
        self._adds_space = tokenizer.add_prefix_space
        self._names = names

    @cached_property
    def _no_added(self) -> object:
        return make_added((), False, self._backend)

    def words(self, words: list[str], treatment: Treatment) -> Alignment:
        """Return the alignment of a sequence of words, with spans within each word."""
        whole = Alignment([], [], [])
        for index, word in enumerate(words):
            tokens, spans, _ = self.text(word, treatment)
            whole.tokens.extend(tokens)
            whole.spans.extend(spans)
            whole.words.extend([index] * len(tokens))
        return whole

    def text(self, text: str, treatment: Treatment) -> Alignment:
        """Return the alignment of a text."""
        data = text.encode()
        whole = _Builder()
        if self._normalizer is None or self._backend.is_normal(data):
            segments, _ = self._policies.added_for(treatment).segments(data)
            self._add(whole, text, data, segments, None)
            return whole.alignment
        segments, _ = self._policies.added_for(treatment, "exact").segments(data)
        normalized = self._policies.added_for(treatment, "normalized")
        chars = byte_offsets(text)
        for start, end, id in segments:  # rstrip may make one overlap the next
            part = data[start:end].decode()
            at = int(np.searchsorted(chars, start))
            if id is not None:
                whole.add_token(part, (at, at + len(part)))
            else:
                normal, spans = origins(part)
                shifted = [(at + first, at + last) for first, last in spans]
                utf8 = normal.encode()
                self._add(whole, normal, utf8, normalized.segments(utf8)[0], shifted)
        return whole.alignment

    def _add(
        self,
        whole: _Builder,
        text: str,
        data: bytes,
        segments: list[tuple[int, int, int | None]],
        spans: list[Span] | None,
    ) -> None:
        """Add the tokens of a normalized text; `spans` are the origins of its code points."""
        chars = ByteToCharOffsets(text, "strict")
        for start, end, id in segments:
            if id is not None:
                starts, ends = np.array([start]), np.array([end])
                [span] = _spans(chars, starts, ends, spans)
                whole.add_token(data[start:end].decode(), span)
                continue
            part = data[start:end]
            ids, starts, ends = self._backend.spans(part, self._no_added, 1)
            before = self._adds_space and part[0] != 0x20
            split = (b" " + part if before else part).decode()
            bounds = np.asarray(self._split.offsets(split))
            if not split.isascii():
                bounds = byte_offsets(split)[bounds]
            # A token ends in the word that has its last byte.
            words = np.searchsorted(bounds, ends + (before - 1), side="right") - 1
            # tokenizers gives a token of the added space alone the first code point.
            ends = np.maximum(ends, 1) if before else ends
            names = self._names
            whole.add(
                [names[id] for id in ids.tolist()],
                _spans(chars, starts + start, ends + start, spans),
                words.tolist(),
                len(bounds) - 1,
            )


def _spans(
    chars: ByteToCharOffsets,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    origins: list[Span] | None,
) -> list[Span]:
    firsts, lasts = chars.starts(starts).tolist(), chars.ends(ends).tolist()
    if origins is None:
        return list(zip(firsts, lasts, strict=True))
    return [
        (origins[first][0], origins[last - 1][1]) for first, last in zip(firsts, lasts, strict=True)
    ]
