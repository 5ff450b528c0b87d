"""Where two pre-tokenizers split a text differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, tee
from typing import NamedTuple

from pretok.pre_tokenizer import PreTokenizer, Step


class Region(NamedTuple):
    """Part of a text, from code point `start` to `end`, with no boundary inside that both have.

    `first_count` and `second_count` say how many pre-tokens it is in either split; `first` and
    `second` are these, up to the number that the Diff was told to keep.
    """

    start: int
    end: int
    first: list[Step]
    second: list[Step]
    first_count: int
    second_count: int


class Diff:
    """The regions in which two pre-tokenizers split a text differently, in order.

    `chunks` are parts of the text, all str or all bytes, cut anywhere. They are read as the
    regions are asked for, once. The first `keep` pre-tokens of a region are kept, of each split,
    so that memory is bounded by the longest pre-token. The counts are of what was read so far.
    Where both make the same pre-token by different rules there is no difference. Linear time.
    Raises ValueError for a preset that drops parts of a text.

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
                    f"preset {tokenizer.preset.name!r} drops parts of the text, so that its "
                    "pre-tokens have no boundaries in common with others; compare presets that "
                    "keep all of it"
                )
        self.first_count = 0
        self.second_count = 0
        self.region_count = 0
        self._regions = self._find(first, second, chunks, keep)

    def __iter__(self) -> Iterator[Region]:
        return self._regions

    def _find(
        self,
        first: PreTokenizer,
        second: PreTokenizer,
        chunks: Iterable[str | bytes],
        keep: int,
    ) -> Iterator[Region]:
        first_chunks, second_chunks = tee(chunks)
        lefts, rights = _ends(first, first_chunks), _ends(second, second_chunks)
        # Every turn begins at a boundary of both, and both end with the text.
        for left, right in zip(lefts, rights, strict=True):
            self.first_count += 1
            self.second_count += 1
            if left[0] == right[0]:
                continue
            ours, theirs = _Part(left, keep), _Part(right, keep)
            while ours.end != theirs.end:
                if ours.end < theirs.end:
                    ours.add(next(lefts))
                    self.first_count += 1
                else:
                    theirs.add(next(rights))
                    self.second_count += 1
            self.region_count += 1
            yield Region(
                left[0] - len(left[1]),
                ours.end,
                ours.steps(first),
                theirs.steps(second),
                ours.count,
                theirs.count,
            )


class _Part:
    """What one split makes of a region, as far as it has been read."""

    def __init__(self, found: tuple[int, str, int], keep: int) -> None:
        self.count = 0
        self._keep = keep
        self._kept: list[tuple[int, str, int]] = []
        self.add(found)

    def add(self, found: tuple[int, str, int]) -> None:
        self.end = found[0]
        self.count += 1
        if self.count <= self._keep:
            self._kept.append(found)

    def steps(self, tokenizer: PreTokenizer) -> list[Step]:
        return [
            Step(end - len(text), end, text, tokenizer.rule(rule)) for end, text, rule in self._kept
        ]


def _ends(tokenizer: PreTokenizer, chunks: Iterable[str | bytes]) -> Iterator[tuple[int, str, int]]:
    """Yield each pre-token as (end, text, index of its rule)."""
    stream = tokenizer.stream()
    end = 0
    for chunk in chain(chunks, [None]):
        for text, rule in stream.finish_steps() if chunk is None else stream.feed_steps(chunk):
            end += len(text)
            yield end, text, rule
