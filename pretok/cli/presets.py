"""The command `pretok presets`."""

from __future__ import annotations

import json
import shutil
import sys
from itertools import zip_longest
from textwrap import wrap

import click

from pretok.cli.options import PRESET, format_option, options_of
from pretok.cli.output import EXACTNESS, json_array, origin_of, stage_text, write
from pretok.preset import Preset
from pretok.registry import presets

HEADINGS = ("NAME", "ENGINE", "UNICODE", "ALIASES", "SOURCE")
BRIEF_COLUMNS = 3
"""Number of columns without --verbose."""
MIN_SOURCE_WIDTH = 16


@click.command("presets")
@click.argument("preset", required=False, type=PRESET, metavar="[NAME]")
@options_of({"--verbose -v": "List aliases and sources too."})
@format_option("text", "json")
def presets_command(preset: Preset | None, verbose: bool, output_format: str) -> None:
    """List the presets, or show all details of the preset NAME.

    The details are aliases, source, published pattern, and rules. Each rule has the branch of the
    pattern that it implements. JSON output always has all details. ENGINE is the engine that the
    preset reproduces: hf is Hugging Face's tokenizers (Oniguruma), tiktoken is tiktoken
    (fancy-regex).
    """
    if preset is not None:
        record = f"{json.dumps(_record(preset), indent=2)}\n"
        write([record if output_format == "json" else _details(preset)])
    elif output_format == "json":
        write(json_array((json.dumps(_record(listed)) for listed in presets()), ",\n"))
    else:
        write([_table(presets(), len(HEADINGS) if verbose else BRIEF_COLUMNS)])


def _record(preset: Preset) -> dict[str, object]:
    return {
        "name": preset.name,
        **origin_of(preset),
        "pattern": preset.pattern,
        "stages": [
            {
                "pattern": stage.pattern,
                "huggingface": json.loads(stage.huggingface) if stage.huggingface else None,
                "behavior": stage.behavior,
                "invert": stage.invert,
                "rules": [{"rule": repr(rule), "pattern": str(rule)} for rule in stage.rules],
            }
            for stage in preset.stages
        ],
    }


def _details(preset: Preset) -> str:
    lines = [
        f"name     {preset.name}",
        f"aliases  {', '.join(preset.aliases)}",
        f"engine   {preset.engine}",
        f"unicode  {preset.unicode}",
        f"exact    {EXACTNESS[preset.exactness]}",
        f"source   {preset.source}",
    ]
    several = len(preset.stages) > 1
    if several:
        lines += ["", f"{len(preset.stages)} stages; each splits the pieces of the previous stage."]
    rule_count = 0
    for number, stage in enumerate(preset.stages, 1):
        lines += ["", f"stage    {number}"] * several
        lines.append(f"pattern  {stage_text(stage)}")
        lines += ["", "The first rule that matches at a position makes the pre-token:"]
        for index, rule in enumerate(stage.rules, rule_count + 1):
            lines += ["", f"{index:>2}  {rule}", f"    {rule!r}"]
        rule_count += len(stage.rules)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(listed: tuple[Preset, ...], column_count: int) -> str:
    rows = [
        (preset.name, preset.engine, preset.unicode, ", ".join(preset.aliases), preset.source)
        for preset in listed
    ]
    columns = list(zip(HEADINGS, *rows, strict=True))[:column_count]
    widths = [max(map(len, column)) for column in columns]
    # Wrap cells on a terminal only: grep expects one line for each preset.
    if sys.stdout.isatty():
        _narrow(widths, columns)
    lines = []
    for row in zip(*columns, strict=True):
        cells = [
            wrap(cell, width, break_on_hyphens=False)
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (part.ljust(width) for part, width in zip(parts, widths, strict=True))
            lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _narrow(widths: list[int], columns: list[tuple[str, ...]]) -> None:
    """Reduce the widths of the alias and source columns, so that rows fit the terminal."""
    if len(widths) <= BRIEF_COLUMNS:
        return
    free = shutil.get_terminal_size().columns - sum(width + 2 for width in widths[:BRIEF_COLUMNS])
    longest = max(len(word) for cell in columns[3] for word in cell.split())
    widths[3] = max(longest, min(widths[3], free // 2 - 1))
    widths[4] = max(MIN_SOURCE_WIDTH, min(widths[4], free - widths[3] - 2))
