"""The commands of pretok: `split`, `explain`, `presets`, `diff`, `page`, `program`, `fuzz`.

The console script `pretok` adds the commands that need a vocabulary.
"""

from __future__ import annotations

from functools import partial

import click

from pretok.cli.diff import diff_command
from pretok.cli.presets import presets_command
from pretok.cli.run import LazyCommand, group, run
from pretok.cli.split import explain_command, split_command

COMMANDS: tuple[click.Command, ...] = (
    split_command,
    explain_command,
    presets_command,
    diff_command,
    LazyCommand(
        "page", "pretok.cli.page", "Open a page in the browser that shows splits and tokens."
    ),
    LazyCommand("program", "pretok.cli.program", "Write a preset for the C library."),
    LazyCommand(
        "fuzz", "pretok.cli.fuzz", "Compare the splits of presets and engines on difficult texts."
    ),
)


commands = group(COMMANDS, "Split text into pre-tokens exactly as LLM tokenizers do.")
main = partial(run, commands)
"""Runs a command line, and returns its exit status."""
