"""Goals for the speed and memory of pretok compared with peers; a program that checks records.

python tests/bench/goals.py RECORD...      # a RECORD is a file that `run.py --json` wrote
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pretok import json_text
from pretok_bench.encode import ONE_THREAD
from pretok_bench.timing import OURS, Result
from pretok_bench.worst import ENGLISH

Names = tuple[str, ...]
ALL: Names = ()
"""Stands for all names."""


class Goal(NamedTuple):
    """A minimum ratio to a peer, or a maximum cost of pretok, for some results of a group.

    `says` is the name of the goal. `rows` are values of Result.what, or their parts before the
    first comma. `texts` and `subjects` (vocabularies) are names, or ALL. `least` is the minimum of
    Result.ratio(peer): how many times as fast as `peer` pretok is. `most` is the maximum of
    Result.median(OURS), in bytes of memory.
    """

    says: str
    group: str
    rows: Names
    texts: Names
    subjects: Names
    peer: str
    least: float | None = None
    most: float | None = None


class Verdict(NamedTuple):
    """A goal, and the worst figure (ratio or cost) of its results; None without results.

    `place` is the text and the vocabulary of this figure.
    """

    goal: Goal
    figure: float | None
    place: str

    @property
    def is_reached(self) -> bool | None:
        """True if all figures reach the goal; None without figures."""
        if self.figure is None:
            return None
        if self.goal.least is not None:
            return self.figure >= self.goal.least
        return self.goal.most is not None and self.figure <= self.goal.most


PLAIN: Names = ("english", "code")
HARD: Names = ("cjk", "multilingual")
OPENAI: Names = ("cl100k_base", "o200k_base", "cl100k", "o200k")
SPLITS: Names = ("cl100k", "o200k", "qwen2", "gpt2")

GOALS: tuple[Goal, ...] = (
    Goal("encode bytes, cold: english, code", "encode", ("bytes to array, cold",), PLAIN, OPENAI,
         "gigatoken", 1.5),
    Goal("encode bytes, cold: cjk, multilingual, emoji", "encode", ("bytes to array, cold",),
         (*HARD, "emoji"), OPENAI, "gigatoken", 3.0),
    Goal("encode bytes, warm: english, code", "encode", ("bytes to array, warm",), PLAIN, ALL,
         "gigatoken", 1.25),
    Goal("encode bytes, warm: cjk, multilingual", "encode", ("bytes to array, warm",), HARD, ALL,
         "gigatoken", 2.0),
    Goal("encode list[str] to arrays, cold", "encode", ("list to arrays, cold",), ALL, ALL,
         "gigatoken", 1.5),
    Goal("encode list[str] to arrays, warm", "encode", ("list to arrays, warm",), ALL, ALL,
         "gigatoken", 1.5),
    Goal("encode list[str] to lists, cold", "encode", ("list to lists, cold",), ALL, ALL,
         "tiktoken", 12.0),
    Goal("encode list[str] to lists, warm", "encode", ("list to lists, warm",), ALL, ALL,
         "tiktoken", 12.0),
    Goal("encode to lists, two threads against one", "encode", ("list to lists, two threads",),
         ("english",), ALL, ONE_THREAD, 1.7),
    Goal("one 42-character message", "latency", ("one message",), ALL, ALL, "gigatoken", 1.2),
    Goal("one 42-character message", "latency", ("one message",), ALL, ALL, "tiktoken", 5.0),
    Goal("count of english, code", "split", ("count",), PLAIN, SPLITS, "regex", 150.0),
    Goal("offsets of english, code", "split", ("offsets",), PLAIN, SPLITS, "regex", 100.0),
    Goal("count of cjk, multilingual", "split", ("count",), HARD, ALL, "regex", 45.0),
    Goal("offsets of cjk, multilingual", "split", ("offsets",), HARD, ALL, "regex", 35.0),
    Goal("1,000,000 x one character, at most 8x English", "worst", ("1,000,000 of it",), ALL, ALL,
         ENGLISH, 1 / 8),
    Goal("load cl100k_base.tiktoken", "load", ("load tiktoken",), ALL, ("cl100k_base",),
         "tiktoken", 6.0),
    Goal("decode to str", "decode", ("ids to str",), ALL, ALL, "tiktoken", 3.0),
    Goal("train 32,000 on english", "train", ("32,000 ids",), ("english",), ALL, "gigatoken", 4.0),
    Goal("train 32,000 on english", "train", ("32,000 ids",), ("english",), ALL, "tokenizers",
         20.0),
    Goal("peak memory of 200 MB, one thread", "memory", ("200 MB, one thread",), ALL, ALL, OURS,
         most=64e6),
    Goal("peak memory of 200 MB, all cores", "memory", ("200 MB, all cores",), ALL, ALL, OURS,
         most=64e6),
)  # fmt: skip


def judge(results: Iterable[Result], goals: Iterable[Goal] = GOALS) -> list[Verdict]:
    """Return the verdict on each goal, with the worst figure of its results, not a mean."""
    found = list(results)
    return [_verdict(goal, found) for goal in goals]


def _verdict(goal: Goal, results: list[Result]) -> Verdict:
    figures: list[tuple[float, str]] = []
    for result in results:
        if (
            result.group == goal.group
            and (result.what in goal.rows or result.row in goal.rows)
            and (not goal.texts or result.text in goal.texts)
            and (not goal.subjects or result.subject in goal.subjects)
            and goal.peer in result.runs
        ):
            place = ", ".join(filter(None, (result.text, result.subject)))
            figure = result.median(OURS) if goal.most is not None else result.ratio(goal.peer)
            figures.append((figure, place))
    if not figures:
        return Verdict(goal, None, "")
    return Verdict(goal, *(max(figures) if goal.most is not None else min(figures)))


def verdict_lines(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the lines of a table that says for each goal whether it is reached."""
    found = [f"{'goal':46} {'against':12} {'to reach':>9} {'worst':>9}  {'reached':12} worst cell"]
    for verdict in verdicts:
        goal = verdict.goal
        reached = {None: "not measured", True: "yes", False: "NO"}[verdict.is_reached]
        against = "" if goal.most is not None else goal.peer
        found.append(
            f"{goal.says[:46]:46} {against[:12]:12} {_figure(goal, goal.least or goal.most):>9} "
            f"{_figure(goal, verdict.figure):>9}  {reached:12} {verdict.place}"
        )
    return found


def _figure(goal: Goal, figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure / 1e6:.0f} MB" if goal.most is not None else f"{figure:.3g}x"


def results_of(record: Path) -> list[Result]:
    """Return the results in a file that `run.py --json` wrote; raises ValueError."""
    try:
        parsed = json_text.parse(record.read_bytes())
        return [Result.of_record(one) for one in parsed["measured"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{record} is not a record of 'tests/bench/run.py'; pass a file that --json wrote"
        ) from None


def main(arguments: Sequence[str]) -> int:
    """Print which goals the records reach; return the exit status."""
    if not arguments:
        print("usage: python tests/bench/goals.py RECORD...", file=sys.stderr)
        return 2
    try:
        results = [result for name in arguments for result in results_of(Path(name))]
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(*verdict_lines(judge(results)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
