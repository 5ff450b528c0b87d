"""The command `pretok program`."""

from __future__ import annotations

import struct
from textwrap import fill

import click

from pretok.cli.options import PRESET, options_of
from pretok.cli.output import one_line, write
from pretok.machine.program import serialize_stages
from pretok.preset import Preset


@click.command("program")
@click.argument("preset", type=PRESET, metavar="NAME")
@options_of({"--binary": "Write 32-bit little-endian words, not C."})
def program_command(preset: Preset, binary: bool) -> None:
    """Write the preset NAME for the C library.

    The output is a C array for pretok_pre_tokenizer_from_program, with a comment that names the
    preset and its Unicode version. NAME may be a preset of your own, as MODULE:NAME. An application
    in C or C++ can then use this preset without Python.
    """
    words = serialize_stages(preset.stages)
    write([struct.pack(f"<{len(words)}I", *words) if binary else _array(preset, words)])


def _array(preset: Preset, words: list[int]) -> str:
    body = fill(", ".join(map(hex, words)), 96, initial_indent="  ", subsequent_indent="  ")
    name = one_line(preset.name).replace("*/", "* /")
    symbol = "".join(char if char.isascii() and char.isalnum() else "_" for char in preset.name)
    return (
        f"/* The pretok preset {name}; Unicode {preset.unicode}. */\n"
        f"static const uint32_t preset_{symbol}[] = {{\n{body},\n}};\n"
    )
