"""Measure how fast the ids of a growing conversation are kept: `pretok bench session`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import bpe
from bpe.cli.bench_peers import PEERS, Subject, reason
from bpe.cli.session_guesses import GUESSES
from pretok.cli.output import one_line

PROMPT = 20_000
"""The number of code points of the system prompt."""
SMALLEST, LARGEST = 16, 4096
"""The limits of the code points of a message; their logarithms are uniform."""
OPEN = "<think>\n"
"""The end of a prompt, which the next turn replaces by the answer."""
HEADER = f"{'':24} {'MEDIAN':>12} {'P99':>12} {'WRONG TURNS':>12}\n"
SEED = 20261128


def conversation(text: str, turns: int, seed: int = SEED) -> list[str]:
    """Return the whole text of each turn of a conversation made of parts of `text`.

    Every second turn replaces the end of the text before it, and the others continue it anywhere.

    >>> [len(turn) > 16 for turn in conversation("ab " * 99, 3)]
    [True, True, True]
    """
    random = Random(seed)

    def part() -> str:
        size = int(SMALLEST * (LARGEST / SMALLEST) ** random.random())
        start = random.randrange(max(1, len(text) - size))
        return text[start : start + size]

    so_far = f"<|system|>\n{text[:PROMPT]}\n"
    whole = []
    for number in range(turns):
        if number % 2:  # text that is typed or streamed
            so_far += part()
            whole.append(so_far)
            continue
        so_far += f"<|user|>\n{part()}\n<|assistant|>\n"
        whole.append(so_far + OPEN)
        so_far += f"{part()}\n"
    return whole


def session_table(tokenizer: bpe.Tokenizer, source: str, text: str, turns: int) -> Iterator[str]:
    """Yield the lines of a table: a session, and ways to encode each turn afresh.

    The ids of all are compared before the times are taken. A guess has no time, only the number of
    turns for which its ids are wrong.
    """
    whole = conversation(text, turns)
    expected = [tokenizer.encode_array(turn, "text", threads=1) for turn in whole]
    session = tokenizer.session(special="text")
    for turn, ids in zip(whole, expected, strict=True):
        session.update(turn)
        if session.ids.tolist() != ids.tolist():  # a defect of pretok
            raise bpe.BpeError("the ids of a session differ from those of its text")
    sizes = f"{len(whole[-1]):,} code points and {len(expected[-1]):,} ids"
    yield f"{turns} turns, {sizes} at the end\n"
    yield HEADER
    session = tokenizer.session(special="text")
    yield _line("pretok, session", _timed(session.update, whole), 0)
    encode: Callable[[str], Any] = lambda turn: tokenizer.encode_array(turn, "text", threads=1)  # noqa: E731
    yield _line("pretok, each turn", _timed(encode, whole), 0)
    yield from _tokenizers(tokenizer, source, whole, expected)
    pairs = list(zip(["", *whole], whole, strict=False))
    for name, guess in GUESSES.items():
        wrong = sum(
            guess(tokenizer, old, new) != ids.tolist()
            for (old, new), ids in zip(pairs, expected, strict=True)
        )
        yield f"{name:24} {'':>12} {'':>12} {wrong:>12}\n"


def _tokenizers(
    tokenizer: bpe.Tokenizer, source: str, whole: list[str], expected: list[Any]
) -> Iterator[str]:
    """Yield the line of Hugging Face's tokenizers, or why it is left out."""
    peer = PEERS["tokenizers"]
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder:
        try:
            subject = Subject(tokenizer, source, Path(folder))
            encode = peer.load(import_module(peer.module), subject)
            rows = [peer.rows(encode([turn]))[0] for turn in whole]
        except BaseException as error:
            yield f"tokenizers is left out: {one_line(reason(error))}\n"
            return
        wrong = sum(row != ids.tolist() for row, ids in zip(rows, expected, strict=True))
        yield _line("tokenizers, each turn", _timed(lambda turn: encode([turn]), whole), wrong)


def _timed(call: Callable[[str], Any], turns: list[str]) -> list[float]:
    """Return the seconds of the call for each turn."""
    seconds = []
    for turn in turns:
        start = time.perf_counter()
        call(turn)
        seconds.append(time.perf_counter() - start)
    return seconds


def _line(name: str, seconds: list[float], wrong: int) -> str:
    last = sorted(seconds)[int(0.99 * (len(seconds) - 1))]
    return f"{name:24} {median(seconds) * 1e6:>9.0f} µs {last * 1e6:>9.0f} µs {wrong:>12}\n"
