"""Find the first place where a pre-tokenizer and another engine split a text differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from pretok.cli.output import Escaper, Side, difference_lines, rule_text, step_record
from pretok.fuzz.oracle import Ask, Span
from pretok.machine.stream import Step
from pretok.pre_tokenizer import PreTokenizer

CONTEXT, MAX_SHOWN = 2, 20
"""CONTEXT is the maximum number of equal pre-tokens to show before a difference.

MAX_SHOWN is the maximum number of different pre-tokens to show of each engine.
"""


class EngineComparison(NamedTuple):
    """The first place where pretok and another engine split a text differently.

    `ours` has the pre-tokens of pretok at this place. `theirs` has the pre-tokens of the engine, as
    (start, end, text). If the whole splits are equal, `ours` and `theirs` are empty. `before` has
    up to CONTEXT pre-tokens before this place. `pre_tokens` is the number of pretok's pre-tokens in
    the whole text.
    """

    engine: str
    pre_tokens: int
    before: list[Step]
    ours: list[Step]
    theirs: list[tuple[int, int, str]]

    @property
    def same(self) -> bool:
        """True if all pre-tokens are equal."""
        return not self.ours and not self.theirs

    def lines(self, tokenizer: PreTokenizer, colored: bool) -> Iterator[str]:
        """Yield the lines that show the difference, in the format of `pretok diff`."""

        def side(sign: str, color: str | None, parts: Sequence[tuple[str, str]]) -> Side:
            return sign, color, parts[:MAX_SHOWN], len(parts)

        yield f"--- {tokenizer.preset.name} (Unicode {tokenizer.unicode})\n"
        yield f"+++ {self.engine}\n"
        bounds = [step[:2] for step in self.ours] + [part[:2] for part in self.theirs]
        sides = (
            side(" ", None, [(step.text, rule_text(step.rule)) for step in self.before]),
            side("-", "red", [(step.text, rule_text(step.rule)) for step in self.ours]),
            side("+", "green", [(text, "") for _, _, text in self.theirs]),
        )
        start, end = min(bounds)[0], max(end for _, end in bounds)
        yield from difference_lines(Escaper(tokenizer.unicode), start, end, sides, colored)

    def record(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        record: dict[str, Any] = {
            "engine": self.engine,
            "same": self.same,
            "pre_tokens": self.pre_tokens,
        }
        if not self.same:
            ours = list(map(step_record, self.ours))
            theirs = [
                {"start": start, "end": end, "text": text} for start, end, text in self.theirs
            ]
            record["first_difference"] = {"ours": ours, "theirs": theirs}
        return record


def compare(
    tokenizer: PreTokenizer, text: str, engine: str, ask: Ask, space: bool = False
) -> EngineComparison:
    """Compare the split of `text` by `tokenizer` with the spans that `ask(text)` returns.

    `engine` is the name of the engine that `ask` calls. If `space`, the engine puts a space
    before a text that does not begin with one; `tokenizer` then splits the text with this space.
    Offsets are offsets in `text`.
    """
    shift = int(space and not text.startswith(" "))
    steps = tokenizer.explain(" " * shift + text)
    if shift:
        steps = [_shifted(step, text) for step in steps]
    ours = [(step.start, step.end) for step in steps]
    theirs = ask(text)
    if ours == theirs:
        return EngineComparison(engine, len(ours), [], [], [])
    pairs = enumerate(zip_longest(ours, theirs))
    first = next(at for at, (our_span, their_span) in pairs if our_span != their_span)
    our_count, their_count = _next_common_end(ours, theirs, first)
    return EngineComparison(
        engine,
        len(ours),
        steps[max(first - CONTEXT, 0) : first],
        steps[first:our_count],
        [(start, end, text[start:end]) for start, end in theirs[first:their_count]],
    )


def _shifted(step: Step, text: str) -> Step:
    """Return `step`, whose offsets are in " " + text, with offsets in `text`."""
    start, end = max(step.start - 1, 0), step.end - 1
    return Step(start, end, text[start:end], step.rule)


def _next_common_end(ours: list[Span], theirs: list[Span], first: int) -> tuple[int, int]:
    """Find the first offset at which a span of `ours` and a span of `theirs` both end.

    The search begins at the spans of index `first`. Return how many spans of each end there or
    before. If there is no such offset, return the numbers of all spans.
    """
    our_count, their_count = first + 1, first + 1
    while our_count <= len(ours) and their_count <= len(theirs):
        our_end, their_end = ours[our_count - 1][1], theirs[their_count - 1][1]
        if our_end == their_end:
            return our_count, their_count
        if our_end < their_end:
            our_count += 1
        else:
            their_count += 1
    return len(ours), len(theirs)
