"""The command `pretok fuzz`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import click
from tqdm import tqdm

from pretok.cli.options import find_preset, options_of
from pretok.cli.run import EXIT_INTERRUPTED
from pretok.fuzz import Mismatch, Result, fuzz
from pretok.fuzz.engines import ENGINES, EngineError, engine
from pretok.fuzz.patterns import fuzz_patterns
from pretok.machine.backend import BackendName, choose_backend
from pretok.preset import Preset
from pretok.registry import presets


@click.command("fuzz")
@options_of(
    {
        "--preset -p names NAME|all": "Preset to test; repeat the option for several.  "
        "[default: all]",
        "--against": "Engine to compare with; python is pretok's own Python backend.",
        "--seconds": "Time limit for all presets together.",
        "--cases": "Approximate maximum number of texts (or patterns), for all presets together.",
        "--seed": "Seed of the texts.  [default: a random seed, which is printed]",
        "--backend": "Backend of pretok to test.",
        "--patterns": "Test hostile patterns instead of texts. Allows --seconds, --cases and "
        "--seed.",
    }
)
def fuzz_command(
    names: tuple[str, ...] = ("all",),
    against: Annotated[str, click.Choice(tuple(ENGINES))] = "regex",
    seconds: Annotated[float, click.FloatRange(min=0, min_open=True)] = 10.0,
    cases: Annotated[int | None, click.IntRange(min=1)] = None,
    seed: int | None = None,
    backend: BackendName | None = None,
    patterns: bool = False,
) -> int:
    """Compare the splits of presets and an engine on difficult texts.

    A mismatch is shown with a minimized text; the exit status is then 1. Presets that the engine
    cannot express are listed and skipped.

    With --patterns, parse hostile patterns. Each pattern must be recognized, or rejected at once
    with a short error; otherwise the exit status is 1.
    """
    seed = random.randrange(1 << 32) if seed is None else seed
    if patterns:
        return _fuzz_patterns(seconds, cases, seed)
    chosen = _chosen(names)
    oracle = engine(against)
    tested = choose_backend(backend)
    reasons = {preset.name: oracle.unsupported_reason(preset) for preset in chosen}
    able = [preset for preset in chosen if not reasons[preset.name]]
    width = max(map(len, reasons))
    counts: list[int] = []
    mismatches = 0
    try:
        click.echo(f"pretok ({tested}) against {oracle.version}, seed {seed}")
        for name, reason in reasons.items():
            if reason:
                click.echo(f"{name:{width}}  skipped: {reason}")
        for preset in able:
            with _counting(preset.name, counts) as on_batch:
                result = fuzz(
                    preset, oracle, seed=seed, seconds=seconds / len(able),
                    cases=None if cases is None else max(1, cases // len(able)),
                    backend=tested, on_batch=on_batch,
                )  # fmt: skip
            mismatches += result.mismatch is not None
            _report(result, width)
    except KeyboardInterrupt:
        click.echo(f"interrupted: {_count(mismatches)} in {sum(counts)} cases so far")
        return EXIT_INTERRUPTED
    if not able:
        raise EngineError(
            f"{oracle.name} cannot express any of these presets; choose another engine"
        )
    click.echo(f"{_count(mismatches)} in {sum(counts)} cases")
    return 1 if mismatches else 0


@contextmanager
def _counting(label: str, counts: list[int]) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds a number of cases to `counts` and to a progress bar."""
    with tqdm(desc=label, unit=" cases", leave=False, delay=1, disable=None) as bar:

        def on_batch(cases: int) -> None:
            counts.append(cases)
            bar.update(cases)

        yield on_batch


def _fuzz_patterns(seconds: float, cases: int | None, seed: int) -> int:
    """Fuzz hostile patterns, print the result, and return the exit status."""
    counts: list[int] = []
    click.echo(f"patterns, seed {seed}")
    try:
        with _counting("patterns", counts) as on_batch:
            result = fuzz_patterns(seed=seed, seconds=seconds, cases=cases, on_batch=on_batch)
    except KeyboardInterrupt:
        click.echo(f"interrupted: no failure in {sum(counts)} cases so far")
        return EXIT_INTERRUPTED
    failure = result.failure
    if failure is not None:
        click.echo(f"  failure   {failure.problem}")
        click.echo(f"  pattern   {failure.pattern!a}")
        click.echo(f"  engine    {failure.engine}")
    click.echo(
        f"{'no' if failure is None else '1'} failure in {result.cases} cases, of which "
        f"{result.recognized} were recognized and {result.compared} were compared with regex"
    )
    return 0 if failure is None else 1


def _chosen(names: tuple[str, ...]) -> list[Preset]:
    """Return the presets of `names` in order, without duplicates; "all" stands for all presets."""
    chosen: dict[str, Preset] = {}
    for name in names:
        for preset in presets() if name == "all" else (find_preset(name),):
            chosen[preset.name] = preset
    return list(chosen.values())


def _count(mismatches: int) -> str:
    return f"{mismatches or 'no'} mismatch{'es' * (mismatches > 1)}"


def _report(result: Result, width: int) -> None:
    outcome = "MISMATCH" if result.mismatch else "no mismatch"
    name = result.preset.name
    click.echo(f"{name:{width}}  Unicode {result.unicode}  {result.cases:>10} cases  {outcome}")
    if result.mismatch:
        _show(result.mismatch, result.engine)


def _show(mismatch: Mismatch, engine_name: str) -> None:
    rows = [
        ("compared", mismatch.comparison),
        ("text", ascii(mismatch.text)),
        ("pretok", ascii(mismatch.ours)),
        (engine_name, ascii(mismatch.theirs)),
        ("rule", rule_of(mismatch).encode("ascii", "backslashreplace").decode()),
    ]
    for label, value in rows:
        click.echo(f"  {label:8}  {value}")


def rule_of(mismatch: Mismatch) -> str:
    """Say which rule made the first result of pretok that differs from the engine's result."""
    if mismatch.at >= len(mismatch.ours):
        return f"none: pretok returned only {len(mismatch.ours)} results, the engine more"
    ours = ascii(mismatch.ours[mismatch.at])
    if mismatch.rule is None:
        return f"none matched {ours}"
    return f"{mismatch.rule!r}, {mismatch.rule} made {ours}"
