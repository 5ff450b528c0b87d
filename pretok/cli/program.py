"""The command `pretok program`."""

from __future__ import annotations

import struct
from textwrap import fill

import click

from pretok.cli.options import PRESET
from pretok.cli.output import one_line, write
from pretok.machine.program import serialize_stages
from pretok.preset import Preset


@click.command("program")
@click.argument("preset", type=PRESET, metavar="NAME")
@click.option("--binary", is_flag=True, help="Write the words themselves: 32 bits, little-endian.")
def program_command(preset: Preset, binary: bool) -> None:
    """Write the preset called NAME as the C library reads it.

    That is an array of C, for pretok_pre_tokenizer_from_program; a comment says what it is, and
    the Unicode version that belongs to it. So a program in C or C++ splits by a preset of yours,
    given as MODULE:NAME, and needs no Python.
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
