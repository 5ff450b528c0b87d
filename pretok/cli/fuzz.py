"""The command `pretok fuzz`."""

from __future__ import annotations

import random

import click
from tqdm import tqdm

from pretok.cli.options import find_preset
from pretok.cli.run import EXIT_INTERRUPTED
from pretok.fuzz import Mismatch, Result, fuzz
from pretok.fuzz.engines import ENGINES, EngineError, FuzzEngine, engine
from pretok.fuzz.patterns import fuzz_patterns
from pretok.machine.backend import BackendName, choose_backend
from pretok.preset import Preset
from pretok.registry import presets


@click.command("fuzz")
@click.option(
    "--preset",
    "-p",
    "names",
    multiple=True,
    default=("all",),
    metavar="NAME|all",
    help="Preset to test; repeat the option for several.  [default: all]",
)
@click.option(
    "--against",
    type=click.Choice(tuple(ENGINES)),
    default="regex",
    show_default=True,
    help="Engine to compare with; python is pretok's own Python backend.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Time limit for all presets together.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    help="Approximate maximum number of texts (or patterns), for all presets together.",
)
@click.option(
    "--seed", type=int, help="Seed of the texts.  [default: a random seed, which is printed]"
)
@click.option(
    "--backend", type=click.Choice(("native", "python")), help="Backend of pretok to test."
)
@click.option(
    "--patterns",
    is_flag=True,
    help="Test hostile patterns instead of texts. Allows --seconds, --cases and --seed.",
)
def fuzz_command(
    names: tuple[str, ...],
    against: str,
    seconds: float,
    cases: int | None,
    seed: int | None,
    backend: BackendName | None,
    patterns: bool,
) -> int:
    """Compare the splits of presets and an engine on difficult texts.

    A mismatch is shown with a minimized text; the exit status is then 1. Presets that the engine
    cannot express are listed and skipped.

    With --patterns, parse hostile patterns. Each pattern must be recognized, or rejected at once
    with a short error; otherwise the exit status is 1.
    """
    if patterns:
        return _fuzz_patterns(seconds, cases, seed)
    chosen = _chosen(names)
    oracle = engine(against)
    tested = choose_backend(backend)
    unsupported = {preset.name: oracle.unsupported_reason(preset) for preset in chosen}
    return _fuzz_all(chosen, unsupported, oracle, tested, seconds, cases, seed)


def _fuzz_all(
    chosen: list[Preset],
    unsupported: dict[str, str],
    oracle: FuzzEngine,
    tested: BackendName,
    seconds: float,
    cases: int | None,
    seed: int | None,
) -> int:
    """Fuzz the presets `chosen`, print the results, and return the exit status.

    `unsupported` maps the name of each preset to the reason why `oracle` cannot express the preset,
    or to "" if it can.
    """
    seed = random.randrange(1 << 32) if seed is None else seed
    width = max(len(preset.name) for preset in chosen)
    able = [preset for preset in chosen if not unsupported[preset.name]]
    total, mismatches = 0, 0
    try:
        click.echo(f"pretok ({tested}) against {oracle.version}, seed {seed}")
        for preset in chosen:
            if unsupported[preset.name]:
                click.echo(f"{preset.name:{width}}  skipped: {unsupported[preset.name]}")
        for preset in able:
            with tqdm(desc=preset.name, unit=" cases", leave=False, delay=1, disable=None) as bar:

                def on_batch(cases: int, bar: tqdm[None] = bar) -> None:
                    nonlocal total
                    total += cases
                    bar.update(cases)

                result = fuzz(
                    preset,
                    oracle,
                    seed=seed,
                    seconds=seconds / len(able),
                    cases=None if cases is None else max(1, cases // len(able)),
                    backend=tested,
                    on_batch=on_batch,
                )
            mismatches += result.mismatch is not None
            _report(result, width)
    except KeyboardInterrupt:
        click.echo(f"interrupted: {_count(mismatches)} in {total} cases so far")
        return EXIT_INTERRUPTED
    if not able:
        raise EngineError(
            f"{oracle.name} cannot express any of these presets; choose another engine"
        )
    click.echo(f"{_count(mismatches)} in {total} cases")
    return 1 if mismatches else 0


def _fuzz_patterns(seconds: float, cases: int | None, seed: int | None) -> int:
    """Fuzz hostile patterns, print the result, and return the exit status."""
    seed = random.randrange(1 << 32) if seed is None else seed
    done = 0
    click.echo(f"patterns, seed {seed}")
    with tqdm(desc="patterns", unit=" cases", leave=False, delay=1, disable=None) as bar:

        def on_batch(cases: int) -> None:
            nonlocal done
            done += cases
            bar.update(cases)

        try:
            result = fuzz_patterns(seed=seed, seconds=seconds, cases=cases, on_batch=on_batch)
        except KeyboardInterrupt:
            click.echo(f"interrupted: no failure in {done} cases so far")
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
