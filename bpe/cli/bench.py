"""The command `pretok bench`."""

from __future__ import annotations

import gc
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Annotated

import click

from bpe.cli.bench_peers import PEERS, Encode, Subject, reason
from bpe.cli.bench_session import session_table
from bpe.cli.vocabulary import load, vocabulary_options
from pretok.cli.input import read_text
from pretok.cli.options import BACKEND, options_of
from pretok.cli.output import one_line, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

DOCUMENT = 3000
"""The number of code points of a document."""
LISTS, ARRAYS = "pretok, lists", "pretok, arrays"
PASSES = 2
"""The passes of a round, over the same texts: cold and warm."""
TICK = 1e-9
"""The shortest time that is measured, so that no time is 0."""
RAYON = "RAYON_NUM_THREADS"
"""The environment variable for the number of threads of Rust's Rayon."""
Contender = Callable[[], Encode]
"""Makes an encoder with empty caches."""
HEADER = f"{'':15} {'COLD':>12} {'WARM':>12} {'RATIO, COLD':>12} {'RATIO, WARM':>12}\n"
HELPS = {
    "--peer": "Measure only this peer. Repeat for more.  [default: all installed]",
    "--turns": "The number of turns of a conversation, for `session`.",
    "--rounds": "How many times each side encodes each text.",
    "--cpu-time": "Measure CPU time, not elapsed time. For a busy machine.",
}


@click.command("bench")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@vocabulary_options
@options_of(HELPS | BACKEND)
def bench_command(
    *,
    files: tuple[str, ...],
    vocab: str,
    preset: Preset | None,
    peer: Annotated[tuple[str, ...], click.Choice(list(PEERS))],
    rounds: Annotated[int, click.IntRange(1, 1000)] = 5,
    turns: Annotated[int, click.IntRange(1, 10_000)] = 128,
    cpu_time: bool,
    backend: BackendName | None,
) -> None:
    """Compare the speed of pretok with that of its installed peers on your own texts.

    FILE is UTF-8 text, which is cut into documents of 3000 code points. First the ids of
    pretok and of each peer are compared; a peer whose ids differ is named, and not measured. Then
    pretok and the peers take turns on one core, each with the call that is fastest for a list of
    documents: to arrays of ids if the peer has such a call, else to lists. Added tokens of VOCAB
    are ordinary text.

    The output shows medians: millions of bytes per second, and as the ratio the time of the peer
    divided by the time of pretok in the same round. Cold is the first pass of a new tokenizer that
    has encoded one word, warm is the next pass over the same text. pip installs a peer by its name.

    `pretok bench session FILE...` measures a conversation that grows, made of parts of FILE: each
    turn repeats the text so far, and continues it or replaces its end. The output has the time of a
    turn for a session, for pretok and tokenizers if they encode each turn afresh, and the number of
    turns for which the guesses of other servers give wrong ids. Write ./session for a file of this
    name.
    """
    tokenizer = load(vocab, preset, backend)
    if files[0] == "session":
        for file in dict.fromkeys(files[1:]):
            write([f"{one_line(file)}: "])
            text = read_text(file, may_be_empty=False)
            write(session_table(tokenizer, vocab, text, turns))
        return
    clock = time.process_time if cpu_time else time.perf_counter
    with tempfile.TemporaryDirectory(prefix="pretok-bench-") as folder, _one_core():
        subject = Subject(tokenizer, vocab, Path(folder))
        known: set[tuple[str, str]] = set()
        for file in dict.fromkeys(files):
            text = read_text(file, may_be_empty=False)
            size = len(text.encode())
            write([f"{one_line(file)}: {size:,} bytes, {tokenizer.backend} backend\n"])
            texts = [text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT)]
            contenders, absent = _contenders(subject, texts, peer or tuple(PEERS))
            write(_table(_rounds(contenders, texts, rounds, clock), size))
            news = absent.items() - known
            write(f"{peer} is left out: {one_line(why)}\n" for peer, why in sorted(news))
            known |= news


def _contenders(
    subject: Subject, texts: list[str], names: tuple[str, ...]
) -> tuple[dict[str, Contender], dict[str, str]]:
    """Return pretok and the peers whose ids are equal, and why each other peer is left out."""
    contenders: dict[str, Contender] = {
        LISTS: lambda: partial(subject.tokenizer().encode_batch, threads=1),
        ARRAYS: lambda: partial(subject.tokenizer().encode_batch_array, threads=1),
    }
    ours = contenders[LISTS]()(texts)
    absent: dict[str, str] = {}
    for name in names:
        peer = PEERS[name]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                contender = partial(peer.load, import_module(peer.module), subject)
                theirs = peer.rows(contender()(texts))
        except BaseException as error:
            absent[name] = reason(error)
            continue
        if theirs == ours:
            contenders[name] = contender
        else:
            pairs = zip(ours, theirs, strict=False)
            first = next((i for i, (a, b) in enumerate(pairs) if a != b), len(theirs))
            absent[name] = f"its ids differ, first in document {first}: {texts[first][:60]!r}"
    return contenders, absent


def _rounds(
    contenders: dict[str, Contender], texts: list[str], rounds: int, clock: Callable[[], float]
) -> dict[str, list[tuple[float, ...]]]:
    """Return the seconds of each round by contender: the cold and the warm pass.

    Every second round runs in reverse order, so that no contender always runs after the same one.
    """
    seconds: dict[str, list[tuple[float, ...]]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name in list(contenders)[:: -1 if number % 2 else 1]:
            encode = contenders[name]()
            encode(["a"])
            gc.collect()
            passes = []
            for _ in range(PASSES):
                start = clock()
                result = encode(texts)
                passes.append(clock() - start)
                del result
            seconds[name].append(tuple(passes))
    return seconds


def _table(seconds: dict[str, list[tuple[float, ...]]], size: int) -> Iterator[str]:
    """Yield a line for each contender; `size` is the number of bytes that a pass encodes."""
    yield HEADER
    for name, rounds in seconds.items():
        speeds = [size / 1e6 / max(median(passes), TICK) for passes in zip(*rounds, strict=True)]
        line = f"{name:15}" + "".join(f" {speed:>7.1f} MB/s" for speed in speeds)
        if name in PEERS:
            ours = seconds[ARRAYS if PEERS[name].has_arrays else LISTS]
            for number in range(PASSES):
                pairs = zip(rounds, ours, strict=True)
                ratios = [theirs[number] / max(mine[number], TICK) for theirs, mine in pairs]
                line += f" {median(ratios):>12.2f}"
        yield f"{line}\n"


@contextmanager
def _one_core() -> Iterator[None]:
    """Run on one core if the system allows it, and let Rust's Rayon start one thread."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    before = os.environ.get(RAYON)
    os.environ[RAYON] = "1"
    if cores:
        os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, cores)
        if before is None:
            del os.environ[RAYON]
        else:
            os.environ[RAYON] = before
