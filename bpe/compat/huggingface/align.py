"""Align the ids of a text with its words and code points, as Hugging Face's tokenizers does.

A word is a pre-token or an added token. A span is (start, end), half-open.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import repeat

import numpy as np

from bpe import Tokenizer
from bpe.compat.huggingface.internals import Pieces
from bpe.compat.huggingface.parts import Parts
from bpe.compat.huggingface.rows import Alignment, Span
from bpe.encoding.offsets import ByteToCharOffsets, byte_offsets
from bpe.types import Offsets, Treatment
from pretok.pre_tokenizer import PreTokenizer


class Aligner:
    """Aligns texts with the ids of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, parts: Parts) -> None:
        self._tokenizer = tokenizer
        self._split = tokenizer.pre_tokenizer
        self._parts = parts

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self._tokenizer)

    def words(self, words: list[str], treatment: Treatment) -> Alignment:
        """Return the alignment of a text that the caller divided into `words`.

        Each item is one word of the result. Spans count from the start of their item.
        """
        tokens: list[str] = []
        spans: list[Span] = []
        numbers: list[int] = []
        for index, word in enumerate(words):
            alignment = self.text(word, treatment)
            tokens += alignment.tokens
            spans += alignment.spans
            numbers.extend(repeat(index, len(alignment.tokens)))
        return Alignment(tokens, spans, lambda: numbers)

    def text(self, text: str, treatment: Treatment) -> Alignment:
        """Return the alignment of a text."""
        tokens: list[str] = []
        spans: list[Span] = []
        pieces: list[tuple[str, Offsets] | None] = []
        names = self._parts.names
        for piece, id, char_starts, char_ends in self._pieces.of(text, treatment):
            if id is not None:
                tokens.append(piece)
                spans.append((int(char_starts[0]), int(char_ends[-1])))
                pieces.append(None)
                continue
            ids, starts, ends = self._pieces.spans(piece.encode())
            tokens += map(names.__getitem__, ids.tolist())
            if self._tokenizer.add_prefix_space and piece[0] != " ":
                pieces.append((" " + piece, ends + 1))
                # The added space has no bytes in the text. As in Hugging Face's tokenizers, a token
                # of this space alone gets the span (0, 1), not (0, 0).
                ends = np.maximum(ends, 1)
            else:
                pieces.append((piece, ends))
            chars = ByteToCharOffsets(piece, "strict")
            starts, ends = char_starts[chars.starts(starts)], char_ends[chars.ends(ends) - 1]
            spans += zip(starts.tolist(), ends.tolist(), strict=True)
        return Alignment(tokens, spans, partial(self._number_words, pieces))

    def _number_words(self, pieces: list[tuple[str, Offsets] | None]) -> list[int]:
        """Return the number of the word of each token, counted through all pieces.

        An added token is None. Any other piece has its text, and the ends of its tokens in bytes.
        """
        words: list[int] = []
        count = 0
        for piece in pieces:
            if piece is None:
                words.append(count)
                count += 1
                continue
            text, ends = piece
            word_ends = self._word_ends(text)
            if not text.isascii():
                word_ends = byte_offsets(text)[word_ends]
            # A token belongs to the word that has its last byte.
            words += (count + np.searchsorted(word_ends, ends - 1, side="right")).tolist()
            count += len(word_ends)
        return words

    def _word_ends(self, text: str) -> Offsets:
        split = self._split
        if isinstance(split, PreTokenizer) and split.preset.drops_text:
            return np.array([end for _, end in split.spans(text)], np.int64)
        return np.asarray(split.offsets(text))[1:]
