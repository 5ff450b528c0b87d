"""Find the regions of a text that two pre-tokenizers split differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import NamedTuple

from pretok.machine.stream import Step
from pretok.pre_tokenizer import PreTokenizer


class Region(NamedTuple):
    """A span of the text that two splits divide differently.

    `start` and `end` are the half-open span in code points. Both splits have a boundary at `start`
    and a boundary at `end`, but share no boundary in between. `first` lists the pre-tokens of the
    span in the first split, and `second` lists the pre-tokens of the span in the second split. Each
    list has only the first `keep` pre-tokens (see Diff). `first_count` and `second_count` count
    all pre-tokens of the span.
    """

    start: int
    end: int
    first: list[Step]
    second: list[Step]
    first_count: int
    second_count: int


class Diff:
    """Iterates once over the regions that two pre-tokenizers split differently, in order.

    `chunks` are the consecutive parts of one text. Chunks are all str or all bytes, and may end
    inside a code point. They are read during the iteration. A region keeps only the first `keep`
    pre-tokens of each split, so memory does not grow with the length of a region. `first_count` and
    `second_count` are the numbers of pre-tokens in the text read so far, and `region_count` is the
    number of regions found so far. Only boundaries are compared, not the rules that matched. The
    time is linear in the length of the text. Raises ValueError for a preset that drops parts of a
    text.

    >>> import pretok
    >>> diff = Diff(pretok.get("llama3"), pretok.get("qwen2"), ["In 1", "984", " or so"])
    >>> [(region.start, region.end, [step.text for step in region.first]) for region in diff]
    [(3, 6, ['198'])]
    >>> diff.first_count, diff.second_count, diff.region_count
    (6, 8, 1)
    """

    def __init__(
        self,
        first: PreTokenizer,
        second: PreTokenizer,
        chunks: Iterable[str] | Iterable[bytes],
        keep: int = 1000,
    ) -> None:
        for tokenizer in (first, second):
            if tokenizer.preset.drops_text:
                raise ValueError(
                    f"preset {tokenizer.preset.name!r} drops parts of the text, so its boundaries "
                    "cannot be compared; use a preset that keeps the whole text"
                )
        self.first_count = 0
        self.second_count = 0
        self.region_count = 0
        self._regions = self._find(first, second, chunks, keep)

    def __iter__(self) -> Iterator[Region]:
        return self._regions

    def _find(
        self, first: PreTokenizer, second: PreTokenizer, chunks: Iterable[str | bytes], keep: int
    ) -> Iterator[Region]:
        first_chunks, second_chunks = tee(chunks)
        lefts, rights = _steps(first, first_chunks), _steps(second, second_chunks)
        # Each iteration starts at a boundary of both splits. Both splits end at the end of the
        # text, so `lefts` and `rights` run out together.
        for left, right in zip(lefts, rights, strict=True):
            self.first_count += 1
            self.second_count += 1
            if left.end == right.end:
                continue
            left_part, right_part = _Part(left, keep), _Part(right, keep)
            while left_part.end != right_part.end:
                if left_part.end < right_part.end:
                    left_part.add(next(lefts))
                    self.first_count += 1
                else:
                    right_part.add(next(rights))
                    self.second_count += 1
            self.region_count += 1
            yield Region(
                left.start,
                left_part.end,
                left_part.steps,
                right_part.steps,
                left_part.count,
                right_part.count,
            )


class _Part:
    """The pre-tokens of one region in one split that have been read so far.

    `count` counts all of them. `steps` has only the first `keep`. `end` is the end of the last.
    """

    def __init__(self, step: Step, keep: int) -> None:
        self.count = 0
        self.steps: list[Step] = []
        self._keep = keep
        self.add(step)

    def add(self, step: Step) -> None:
        self.end = step.end
        self.count += 1
        if self.count <= self._keep:
            self.steps.append(step)


def _steps(tokenizer: PreTokenizer, chunks: Iterable[str | bytes]) -> Iterator[Step]:
    """Yield each pre-token; spans count code points of all chunks."""
    stream = tokenizer.stream()
    for chunk in chunks:
        yield from stream.feed_steps(chunk)
    yield from stream.finish_steps()
