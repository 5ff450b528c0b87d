"""Measure bpe.compat.huggingface against plain transformers, and against fastokens.

    python tests/bench/huggingface.py TEXT MODEL... [--json FILE]

MODEL is the folder of a tokenizer, TEXT a file of a few hundred kilobytes. All three run in turn on
one core, after their results are compared. Each figure is the median of processor times.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click

ROUNDS = 9
SHORT, LONG = 42, 4000
"""The lengths of the texts, in characters."""
TEXTS = 64
SECONDS = 0.02
"""The least time of a measurement; a shorter call is repeated."""
Call = Callable[[Any], Any]


class Operation(NamedTuple):
    """A measurement. `calls` is the number of calls that `run` makes."""

    name: str
    run: Call
    calls: int = 1


def operations(short: list[str], long: list[str], rows: list[list[int]]) -> Iterator[Operation]:
    """Yield the operations on texts, and on the ids of texts."""
    few = long[: TEXTS // 4]
    spans: dict[str, Any] = {"return_offsets_mapping": True}
    arrays: dict[str, Any] = {"padding": True, "return_tensors": "np"}
    yield Operation("tok(text), 42 characters", lambda tok: [tok(text) for text in short], TEXTS)
    yield Operation("tok(text), 4 kB", lambda tok: [tok(text) for text in few], len(few))
    yield Operation("tok(64 texts of 4 kB)", lambda tok: tok(long))
    yield Operation("tok(64 texts of 4 kB), padded to numpy", lambda tok: tok(long, **arrays))
    yield Operation(
        "tok(text), 42 characters, with offsets",
        lambda tok: [tok(text, **spans) for text in short],
        TEXTS,
    )
    yield Operation(
        "tok(text), 4 kB, with offsets", lambda tok: [tok(text, **spans) for text in few], len(few)
    )
    yield Operation("decode, 32 ids", lambda tok: [tok.decode(row) for row in rows], len(rows))
    yield Operation("batch_decode, 64 texts of 32 ids", lambda tok: tok.batch_decode(rows))


def seconds(run: Call, tok: Any) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    run(tok)
    repeats = max(1, int(SECONDS / max(time.process_time() - start, 1e-6)))
    start = time.process_time()
    for _ in range(repeats):
        run(tok)
    return (time.process_time() - start) / repeats


class Contender(NamedTuple):
    """A tokenizer, and the patch with which it runs."""

    name: str
    tok: Any
    patched: Callable[[], AbstractContextManager[None]]


def contenders(folder: str) -> list[Contender]:
    """Return plain transformers, bpe, and fastokens if it loads the tokenizer."""
    hf: Any = import_module("bpe.compat.huggingface")
    load = import_module("transformers").AutoTokenizer.from_pretrained
    plain = load(folder)
    result = [Contender("transformers", plain, nullcontext), Contender("bpe", plain, hf.patched)]
    try:
        fastokens: Any = import_module("fastokens")
    except ImportError:
        return result
    fastokens.patch_transformers()
    try:
        result.append(Contender("fastokens", load(folder), nullcontext))
    except Exception as error:  # fastokens refuses some tokenizers
        click.echo(f"{folder}: fastokens: {error}")
    finally:
        fastokens.unpatch_transformers()
    return result


def measure(operation: Operation, all_contenders: list[Contender]) -> dict[str, float]:
    """Return the median time of a call in microseconds, by contender."""
    hf: Any = import_module("bpe.compat.huggingface")
    times: dict[str, list[float]] = {}
    results = {}
    for each in all_contenders:
        with each.patched():
            try:
                results[each.name] = operation.run(each.tok)
            except NotImplementedError:  # fastokens has no offsets
                continue
        times[each.name] = []
    if hf.comparable(results["bpe"]) != hf.comparable(results["transformers"]):
        raise click.ClickException(f"{operation.name}: the results differ")
    for _ in range(ROUNDS):
        for each in all_contenders:
            if each.name in times:
                with each.patched():
                    times[each.name].append(seconds(operation.run, each.tok))
    return {name: median(runs) / operation.calls * 1e6 for name, runs in times.items()}


def load_times(folder: str) -> dict[str, float]:
    """Return the median time to load a tokenizer in microseconds, with and without the patch."""
    hf: Any = import_module("bpe.compat.huggingface")
    load = import_module("transformers").AutoTokenizer.from_pretrained
    times: dict[str, list[float]] = {"transformers": [], "bpe": []}
    for _ in range(3):
        for name, patched in (("transformers", nullcontext), ("bpe", hf.patched)):
            with patched():
                start = time.process_time()
                load(folder)
                times[name].append(time.process_time() - start)
    return {name: median(runs) * 1e6 for name, runs in times.items()}


@click.command(help=__doc__)
@click.argument("text", type=click.Path(exists=True))
@click.argument("models", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--json", "file", type=click.Path(), help="Also write the times to this file.")
def main(text: str, models: tuple[str, ...], file: str | None) -> None:
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    source = Path(text).read_text(encoding="utf-8")
    parts = [source[start : start + LONG] for start in range(0, TEXTS * LONG, LONG)]
    record: dict[str, Any] = {
        "versions": {
            name: version(name)
            for name in ("transformers", "tokenizers", "pretok-bpe", "fastokens")
        },
        "microseconds": {},
    }
    for folder in models:
        every = contenders(folder)
        rows = [ids[:32] for ids in every[0].tok(parts)["input_ids"]]
        times = {"load": load_times(folder)}
        for operation in operations([part[:SHORT] for part in parts], parts, rows):
            times[operation.name] = measure(operation, every)
        record["microseconds"][Path(folder).name] = times
        for name, found in times.items():
            ratios = [
                f"{each} {found[each] / found['bpe']:7.1f}x" for each in found if each != "bpe"
            ]
            click.echo(
                f"{Path(folder).name:10} {name:42} {found['bpe']:11.2f} µs  " + ", ".join(ratios)
            )
    if file:
        Path(file).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
