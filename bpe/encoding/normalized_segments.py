"""Define NormalizedSegment, a segment of a text that is normalized before it is encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np

from bpe.encoding.added_tokens import GIVEN_TOKEN
from bpe.encoding.offsets import UnitOffsets, byte_offsets
from bpe.encoding.policies import Phase
from bpe.encoding.ranged_tokens import AddedTokenSearch
from bpe.encoding.utf8 import ESCAPE, StrOrBytes, decode_utf8
from bpe.errors import SpecialTokenError
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.chain import MetaspaceStep
from bpe.normalizers.text_normalizer import TextNormalizer, as_rows
from bpe.once import once
from bpe.types import Ids, Offsets, Spans

Result = TypeVar("Result")
Work: TypeAlias = Callable[[StrOrBytes, AddedTokenSearch, int, bool], Result]
"""A method of a Backend.

It takes a text, the search for added tokens, the number of threads, and whether the text is a
continuation.
"""


class NormalizedSegment:
    """An added token that is matched before normalization, or the text between two such tokens."""

    def __init__(
        self,
        data: bytes,
        start: int,
        id: int | None,
        normalizer: TextNormalizer | _Part,
        added: AddedTokenSearch,
        threads: int,
        continues: bool = False,
    ) -> None:
        """Store the segment `data`, which begins at byte `start` of a text.

        `id` is the id of an added token, or None for text. `added` finds the tokens that are
        searched after normalization. `continues` says that the segment continues a text.
        """
        self.data = data
        self.start = start
        self.id = id
        self.normalizer = normalizer
        self.added = added
        self.threads = threads
        self.continues = continues

    def encode(self, work: Work[Result], from_id: Callable[[int], Result]) -> Result:
        """Return the result of `work` for normalized text, or of `from_id` for an added token."""
        if self.id is not None:
            return from_id(self.id)
        try:
            normal = self.normalizer.normalized(self.data)
            return work(normal, self.added, self.threads, self.continues)
        except SpecialTokenError as error:
            raise self.located(error) from None

    def spans(self, work: Work[Spans]) -> Spans:
        """Return the ids, and the half-open span of each id in bytes of the whole text."""
        if self.id is not None and not self.data:  # an id of TextRange.ids
            start, end = np.array([self.start]), np.array([GIVEN_TOKEN])
            return np.array([self.id], np.uint32), start, end
        if self.id is not None:
            _, origins = self.aligned()
            bounds = self.start + self.byte_offsets(origins[[0, -1], [0, 1]])
            return np.array([self.id], np.uint32), bounds[:1], bounds[1:]
        try:
            normal, origins = self.aligned()
            ids, starts, ends = work(
                normal.encode("utf-8", ESCAPE), self.added, self.threads, self.continues
            )
        except SpecialTokenError as error:
            raise self.located(error) from None
        offsets = UnitOffsets(normal, ESCAPE)
        # `first` and `last` are the indexes of the first and the last code point of each token. A
        # token that is only the prefix space may have no code point of `normal`, so both indexes
        # are clamped.
        first = np.minimum(offsets.starts(starts), len(normal) - 1)
        last = np.maximum(offsets.ends(ends) - 1, 0)
        starts = self.start + self.byte_offsets(origins[first, 0])
        ends = self.start + self.byte_offsets(origins[last, 1])
        return ids, starts, np.maximum(starts, ends)

    def located(self, error: SpecialTokenError) -> SpecialTokenError:
        """Return `error` with its position, in bytes, converted.

        The position of `error` is in the normalized segment, the new one in the original text.
        """
        normal, origins = self.aligned()
        index = np.searchsorted(byte_offsets(normal), error.position, side="right") - 1
        position = self.start + int(self.byte_offsets(origins[index : index + 1, 0])[0])
        return SpecialTokenError(error.token, position)

    def aligned(self) -> tuple[str, Offsets]:
        """Return the text to encode, and the span of each of its code points in the segment."""
        text = decode_utf8(self.data)
        if self.id is None:
            return self.normalizer.align(text)
        starts = np.arange(len(text))
        return text, np.stack([starts, starts + 1], axis=1)

    def normalized_places(self, places: Sequence[int]) -> list[int]:
        """Return the byte in the normalized segment for each byte offset in the whole text.

        A character that normalization makes of characters on both sides of an offset counts to the
        left side, at which it begins.
        """
        normal, origins = self.aligned()
        starts = np.maximum.accumulate(self.start + self.byte_offsets(origins[:, 0]))
        moved: list[int] = byte_offsets(normal)[np.searchsorted(starts, places)].tolist()
        return moved

    def byte_offsets(self, chars: Offsets) -> Offsets:
        """Convert offsets in code points of the segment to offsets in bytes."""
        return byte_offsets(decode_utf8(self.data))[chars]


def normalized_segments(
    data: bytes,
    added_for: Callable[[Phase], AddedTokenSearch],
    normalizer: TextNormalizer,
    threads: int,
    continuation: bool = False,
) -> Iterator[NormalizedSegment]:
    """Yield the added tokens that are matched before normalization, and the text between them.

    `added_for` returns the search for the tokens of a phase. Raises SpecialTokenError with a byte
    offset in `data`.
    """
    added = added_for("normalized")
    segments, refusal = added_for("exact").segments(data)
    metaspace = normalizer.metaspace
    for start, end, id in segments:
        continues = continuation and start == 0
        used = normalizer.continuing if continues else normalizer
        searched = added.of_part(start, end)
        segment = NormalizedSegment(data[start:end], start, id, used, searched, threads, continues)
        if id is None and (ends := searched.ends()):
            segment.added = searched.moved(segment.normalized_places(ends))
        if metaspace is None or id is not None:
            yield segment
        else:
            # `added` has no exact tokens, so `added.exact()` finds nothing.
            yield from _metaspace_segments(segment, metaspace, segment.added, added.exact())
    if refusal is not None:
        raise SpecialTokenError(*refusal)


def _metaspace_segments(
    segment: NormalizedSegment,
    metaspace: MetaspaceStep,
    added: AddedTokenSearch,
    nothing: AddedTokenSearch,
) -> Iterator[NormalizedSegment]:
    """Yield the parts of `segment`: the normalized tokens of `added`, and the text between them.

    `segment` is text. `metaspace` cuts the text between tokens into pieces, and changes each piece.
    `nothing` is a search that finds no tokens. Raises SpecialTokenError.
    """
    text = _MetaspaceText(segment, metaspace)
    segments, refusal = added.segments(text.normal)
    for start, end, id in segments:
        data = text.normal[start:end]
        for first, last in metaspace.pieces(data) if id is None else ((0, len(data)),):
            at = start + first
            part = _Part(text, data[first:last], at, is_added=id is not None)
            yield (NormalizedSegment if id is None else _AddedPart)(
                segment.data, segment.start, id, part, nothing, segment.threads,
                segment.continues and at == 0,
            )  # fmt: skip
    if refusal is not None:
        raise segment.located(SpecialTokenError(*refusal))


class _MetaspaceText:
    """A text between two exact added tokens, for a normalizer with a Metaspace step.

    Exact added tokens are matched before normalization. The Metaspace step replaces spaces by "▁"
    after the search for normalized added tokens, so it is applied to each text between them.
    """

    def __init__(self, segment: NormalizedSegment, metaspace: MetaspaceStep) -> None:
        self.segment = segment
        self.metaspace = metaspace
        self.normal = segment.normalizer.normalized(segment.data)

    @once
    def aligned(self) -> tuple[str, Offsets]:
        """The normalized text, and the span of each of its code points."""
        return self.segment.normalizer.align(decode_utf8(self.segment.data))

    @once
    def _bytes(self) -> Offsets:
        return byte_offsets(self.aligned[0])

    def char_at(self, at: int) -> int:
        """Return the index of the code point that begins at byte `at` of the normalized text.

        Unlike `normal`, the text of `aligned` keeps bytes apart that form a character.
        """
        return int(np.searchsorted(self._bytes, at))

    def takes_prefix(self, at: int) -> bool:
        """Return whether the part at byte `at` takes the prefix of Metaspace.

        The start of the whole text takes no prefix if the text continues another text.
        """
        scheme, continues = self.metaspace.prepend_scheme, self.segment.continues
        if scheme == ("always" if continues else "first") and self.segment.start == 0:
            is_start = bool(self.aligned[1][self.char_at(at), 0] == 0)
            return is_start != continues
        return scheme == "always"


class _Part:
    """Normalizes one part of a _MetaspaceText."""

    def __init__(self, text: _MetaspaceText, data: bytes, start: int, is_added: bool) -> None:
        """Store the part `data`, UTF-8, at byte `start` of the normalized text."""
        self._text = text
        self._utf8 = data
        self._start = start
        self._is_added = is_added

    def normalized(self, data: bytes) -> bytes:
        """Return the part as Metaspace changes it; `data` is not used."""
        part = decode_utf8(self._utf8)
        takes_prefix = self._text.takes_prefix(self._start)
        return self._text.metaspace.normalize(part, takes_prefix).encode("utf-8", ESCAPE)

    def align(self, text: str) -> tuple[str, Offsets]:
        """Return the part, and the span of each code point in the segment; `text` is not used."""
        start, end = map(self._text.char_at, (self._start, self._start + len(self._utf8)))
        normal, spans = self._text.aligned[0][start:end], self._text.aligned[1][start:end]
        if self._is_added:
            return normal, spans
        part = AlignedText(list(normal), [(first, last) for first, last in spans.tolist()])
        part = self._text.metaspace.align(part, self._text.takes_prefix(self._start))
        return part.text, as_rows(part.spans)


class _AddedPart(NormalizedSegment):
    """An added token that was found in normalized text."""

    def aligned(self) -> tuple[str, Offsets]:
        """Return the normalized text of the token, and the span of each of its code points."""
        return self.normalizer.align(decode_utf8(self.data))


def join_ids(segments: Iterable[NormalizedSegment], work: Work[list[int]]) -> list[int]:
    """Return the ids of a text from those of its segments."""
    return [id for segment in segments for id in segment.encode(work, lambda id: [id])]


def join_arrays(segments: Iterable[NormalizedSegment], work: Work[Ids]) -> Ids:
    """Return the ids of a text as an array."""
    array_of_one = partial(np.array, ndmin=1, dtype=np.uint32)
    arrays = [segment.encode(work, array_of_one) for segment in segments]
    return np.concatenate([np.zeros(0, np.uint32), *arrays])


def sum_counts(segments: Iterable[NormalizedSegment], work: Work[int]) -> int:
    """Return the number of ids of a text."""
    return sum(segment.encode(work, lambda id: 1) for segment in segments)


def join_spans(segments: Iterable[NormalizedSegment], work: Work[Spans]) -> Spans:
    """Return the ids of a text, and the start and the end of each id."""
    empty = np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    spans = [empty, *(segment.spans(work) for segment in segments)]
    ids, starts, ends = zip(*spans, strict=True)
    return np.concatenate(ids), np.concatenate(starts), np.concatenate(ends)
