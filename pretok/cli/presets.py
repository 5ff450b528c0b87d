"""The command `pretok presets`."""

from __future__ import annotations

import json
import shutil
import sys
from itertools import zip_longest
from textwrap import wrap

import click

from pretok.cli.options import PRESET, form_option
from pretok.cli.output import EXACTNESS, json_array, stage_text, write
from pretok.preset import Preset
from pretok.registry import presets

HEADINGS = ("NAME", "ENGINE", "UNICODE", "ALIASES", "SOURCE")
NARROWEST = 16


@click.command("presets")
@click.argument("preset", required=False, type=PRESET, metavar="[NAME]")
@form_option("text", "json")
def presets_command(preset: Preset | None, form: str) -> None:
    """List the presets, or show the one called NAME in full.

    In full means the published pattern, and each rule with the alternative that it stands for; the
    JSON has them always. ENGINE is the engine whose reading of the pattern the preset follows: hf
    is Hugging Face tokenizers (Oniguruma), tiktoken is tiktoken (fancy-regex).
    """
    if preset is not None:
        write([f"{json.dumps(_record(preset), indent=2)}\n" if form == "json" else _full(preset)])
    elif form == "json":
        write(json_array((json.dumps(_record(one)) for one in presets()), ",\n"))
    else:
        write([_table(presets())])


def _record(preset: Preset) -> dict[str, object]:
    return {
        "name": preset.name,
        "aliases": preset.aliases,
        "engine": preset.engine,
        "unicode": preset.unicode,
        "exactness": preset.exactness,
        "source": preset.source,
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


def _full(preset: Preset) -> str:
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
        lines += ["", f"{len(preset.stages)} stages, each cutting every piece of the one before."]
    before = 0
    for number, stage in enumerate(preset.stages, 1):
        lines += ["", f"stage    {number}"] * several
        lines.append(f"pattern  {stage_text(stage)}")
        lines += ["", "At each position the first rule that matches makes the pre-token:"]
        for index, rule in enumerate(stage.rules, before + 1):
            lines += ["", f"{index:>2}  {rule}", f"    {rule!r}"]
        before += len(stage.rules)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(shown: tuple[Preset, ...]) -> str:
    rows = [
        (preset.name, preset.engine, preset.unicode, ", ".join(preset.aliases), preset.source)
        for preset in shown
    ]
    columns = list(zip(HEADINGS, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    # A terminal gets its width, a pipe one line for each preset, as grep wants it.
    if sys.stdout.isatty():
        free = shutil.get_terminal_size().columns - sum(width + 2 for width in widths[:3])
        longest = max(len(word) for cell in columns[3] for word in cell.split())
        widths[3] = max(longest, min(widths[3], free // 2 - 1))
        widths[4] = max(NARROWEST, min(widths[4], free - widths[3] - 2))
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
