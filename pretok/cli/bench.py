"""`pretok bench`: measure pretok against its peers on your own texts."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pretok.bench import Measurement, bench_split, surroundings
from pretok.bench.text import generated_texts
from pretok.errors import PretokError
from pretok.pretokenizer import BackendName, choose_backend
from pretok.registry import find, presets


@click.group("bench", context_settings={"help_option_names": ["-h", "--help"]})
def bench_command() -> None:
    """Measure pretok against its peers; answers are compared before anything is timed."""


@bench_command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("-p", "--preset", "names", multiple=True, help="Repeat for more; default all.")
@click.option("--runs", default=5, show_default=True, type=click.IntRange(1, 1000))
@click.option("--backend", type=click.Choice(["native", "python"]), help="Default: the best.")
@click.option("--json", "record", type=click.Path(path_type=Path), help="Write a record here.")
def split(
    files: tuple[Path, ...],
    names: tuple[str, ...],
    runs: int,
    backend: BackendName | None,
    record: Path | None,
) -> None:
    """Time offsets, split and count against regex.findall of the same pattern.

    FILES hold UTF-8 text; without any, made-up texts are used. Needs the 'fuzz' extra.
    """
    chosen = [find(name) for name in names] or list(presets())
    texts = {path.name: _read(path) for path in files} or generated_texts()
    header = ("text", "preset", "regex", "offsets", "split", "count")
    click.echo("millions of code points a second; times as fast as regex, median (least to most)")
    click.echo("{:20} {:8} {:>7} {:>24} {:>24} {:>24}".format(*header))
    measured: list[Measurement] = []
    for name, text in texts.items():
        for preset in chosen:
            found = bench_split(name, text, preset, backend, runs)
            measured += found
            rate = found[0].rate(found[0].peer_seconds)
            cells = " ".join(f"{_cell(one):>24}" for one in found)
            click.echo(f"{name[:20]:20} {preset.name:8} {rate:7.1f} {cells}")
    if record is not None:
        about = surroundings(choose_backend(backend))
        text = json.dumps({**about, "measured": [one.record() for one in measured]}, indent=1)
        record.write_text(text + "\n", encoding="utf-8")


def _cell(one: Measurement) -> str:
    low, high = min(one.ratios), max(one.ratios)
    return f"{one.rate(one.seconds):.0f} {one.ratio:.1f}x ({low:.1f} to {high:.1f})"


def _read(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PretokError(f"{path}: not UTF-8 at byte {error.start}; give text files") from None
    if not text:
        raise PretokError(f"{path}: empty; give a text to measure with")
    return text
