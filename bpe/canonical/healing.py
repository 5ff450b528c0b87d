"""Find the ids of a text that stay, whatever text follows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bpe.budgets.cuts import Cuts
from bpe.budgets.proofs import CUT
from bpe.canonical.contents import Contents
from bpe.encoding.added_tokens import is_white
from bpe.encoding.utf8 import MAX_CHAR, decode_utf8
from bpe.normalizers.unicode_forms import begins_anew
from bpe.types import Ids, Offsets
from pretok.pre_tokenizer import PreTokenizer

Segments = Callable[[bytes], "list[tuple[int, int, int | None]]"]


class Healed(NamedTuple):
    """A prompt that ends at a place where every continuation of its text agrees.

    `ids` begin the ids of the text with any text after it. `bytes` is the rest of the text, which
    the ids that follow must begin with.
    """

    ids: Ids
    bytes: bytes


class StableEnd:
    """Finds the end of the part of a text that more text does not change.

    `contents` has the texts of the added tokens, and `segments` finds these tokens in a text.
    `strips` says whether a token takes the white space before it, and `normalizes` whether the
    tokenizer applies NFC.
    """

    def __init__(
        self,
        split: PreTokenizer,
        contents: Contents,
        segments: Segments,
        strips: bool,
        normalizes: bool,
    ) -> None:
        """Store the parts."""
        self._split, self._contents, self._segments = split, contents, segments
        self._strips, self._normalizes = strips, normalizes

    def of(self, text: bytes) -> int:
        """Return the number of bytes of `text` whose pre-tokens any longer text has as well."""
        segments = self._segments(text)
        end = self._before_open_text(text)
        while True:
            # A match that covers `end` stays a match, or becomes a longer one.
            inside = [
                start for start, stop, id in segments if id is not None and start < end < stop
            ]
            if not inside:
                break
            end = inside[0]
        starts = [start for start, _, _ in segments]
        at = bisect_right(starts, end - 1) - 1 if end else -1
        if at < 0:
            return 0
        start, stop, id = segments[at]
        if id is not None or stop < end:
            return min(stop, end)
        stream = self._split.stream()
        decided = stream.feed(text[start:end])
        return start + sum(len(part.encode("utf-8", "surrogateescape")) for part in decided)

    def _before_open_text(self, text: bytes) -> int:
        """Return the end of the text that neither an added token nor NFC can take more text to."""
        end = len(text) - self._contents.open_size(text)
        if self._strips:
            while end:
                char = decode_utf8(text[max(end - MAX_CHAR, 0) : end])[-1:]
                if not is_white(char):
                    break
                end -= len(char.encode())
        if self._normalizes:
            chars = decode_utf8(text[:end])
            at = len(chars)
            # The last character may compose with the text that follows it.
            while at:
                at -= 1
                end -= len(chars[at].encode("utf-8", "surrogateescape"))
                if begins_anew(chars[at]):
                    break
        return end


def stable_ids(sizes: Sequence[int], end: int) -> int:
    """Return the number of leading ids whose bytes lie before `end`; `sizes` has their sizes."""
    return int(np.searchsorted(np.cumsum(np.asarray(sizes, np.int64)), end, side="right"))


def stable_spans(cuts: Cuts, contents: Contents, text: bytes, starts: Offsets) -> int:
    """Return the number of leading ids before the last proven cut of a text.

    `starts` has the start of each id in bytes.
    """
    for place in range(len(starts) - 1, 0, -1):
        at = int(starts[place])
        before = decode_utf8(text[max(at - MAX_CHAR, 0) : at])
        after = decode_utf8(text[at : at + MAX_CHAR])
        if not before or not after or cuts.between(before[-1], after[0]) != CUT:
            continue
        if not contents.may_cover(text[:at], text[at:]):
            return place
    return 0
