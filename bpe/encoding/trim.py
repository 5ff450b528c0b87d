"""Trim spans: exclude the white space at both ends of tokens, as post-processors of tokenizers do.

`TokenSpaces` counts this white space by id, and `trim` changes spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bpe.decoders.piece_decoder import token_texts
from bpe.encoding.added_tokens import AddedToken
from bpe.encoding.offsets import UnitOffsets, byte_offsets
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.types import Offsets, Spans
from bpe.vocabulary import Vocabulary
from pretok.unicode.atoms import WHITE_SPACE_CODE_POINTS

# Ġ is a space in the tokens of a byte-level vocabulary, so it counts as white space here.
_SPACES = "Ġ" + "".join(map(chr, WHITE_SPACE_CODE_POINTS))


def count_spaces(token: str) -> tuple[int, int]:
    """Return the number of white space characters at the start and at the end of a token."""
    return len(token) - len(token.lstrip(_SPACES)), len(token) - len(token.rstrip(_SPACES))


def trim(
    starts: Offsets, ends: Offsets, spaces: NDArray[np.integer], keeps_first: bool
) -> tuple[Offsets, Offsets]:
    """Return spans without white space; `spaces` has a row of `count_spaces` for each span.

    If `keeps_first`, a single space at the start of the first token, or of a token at the start of
    the text, stays: the pre-tokenizer may have put it there.
    """
    leading, trailing = spaces[:, 0], spaces[:, 1]
    if keeps_first:
        is_first = starts == 0
        is_first[:1] = True
        leading = np.where(is_first & (leading == 1), 0, leading)
    starts = np.minimum(starts + leading, ends)
    return starts, np.maximum(np.where(ends >= trailing, ends - trailing, ends), starts)


class TokenSpaces:
    """The numbers of white space characters at both ends of the tokens of a tokenizer."""

    def __init__(
        self, vocabulary: Vocabulary, added: Sequence[AddedToken], contents: Mapping[int, str]
    ) -> None:
        """`contents` has the text of each token of `added`, normalized if the token is."""
        texts = token_texts(vocabulary, contents)
        size = max(vocabulary.size, 1 + max(contents, default=-1))
        self._spaces = np.zeros((size, 2), np.int32)
        self._spaces[list(texts)] = list(map(count_spaces, texts.values()))
        # These tokens match the white space beside them, too.
        self._stripping = [token.id for token in added if token.lstrip or token.rstrip]

    def trim(self, data: bytes, spans: Spans, trims: Iterable[bool]) -> Spans:
        """Return the `spans` of a text in UTF-8, in bytes, without white space.

        `trims` has the argument `keeps_first` of `trim` for each call of it.
        """
        ids, old_starts, old_ends = spans
        # Count white space in code points, and convert only the offsets that this changes.
        text = decode_utf8(data)
        offsets = UnitOffsets(text, ESCAPE)
        starts, ends = offsets.spans(old_starts, old_ends)
        spaces = self._spaces[ids]
        for at in np.flatnonzero(np.isin(ids, self._stripping)).tolist():
            spaces[at] = count_spaces(text[starts[at] : ends[at]])
        for keeps_first in trims:
            starts, ends = trim(starts, ends, spaces, keeps_first)
        to_bytes = byte_offsets(text)
        starts = np.where(starts == offsets.starts(old_starts), old_starts, to_bytes[starts])
        ends = np.where(ends == offsets.ends(old_ends), old_ends, to_bytes[ends])
        return ids, starts, np.maximum(starts, ends)
