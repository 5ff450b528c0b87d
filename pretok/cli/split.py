"""The commands `pretok split` and `pretok explain`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import TypeVar

import click

from pretok.cli.input import open_text
from pretok.cli.options import (
    ESCAPES,
    colour_option,
    form_option,
    input_options,
    preset_option,
    unicode_option,
)
from pretok.cli.output import (
    Escaper,
    columns,
    is_coloured,
    json_array,
    rule_json,
    rule_text,
    step_json,
    write,
)
from pretok.machine.backend import BackendName
from pretok.machine.machine import ESCAPE, GAP
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get
from pretok.rules import Rule

COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_red", "bright_cyan",
           "bright_green", "bright_yellow", "bright_magenta", "bright_blue")  # fmt: skip
NO_RULE_COLOUR = "red"

Item = TypeVar("Item")


@click.command("split", epilog=ESCAPES, short_help="Split a text into pre-tokens.")
@preset_option
@unicode_option
@input_options
@form_option("text", "json", "offsets")
@click.option(
    "--unit",
    type=click.Choice(["char", "byte", "utf16"]),
    help="What offsets count: code points, bytes of UTF-8, or UTF-16 code units.  [default: char]",
)
def split_command(
    preset: Preset,
    unicode: str | None,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    form: str,
    unit: str | None,
) -> None:
    """Split FILE, or standard input, into pre-tokens.

    As text, there is one pre-token a line, escaped; as json, one array of strings; as offsets, one
    line for each pre-token with its start and end (half-open), and a tab between them.
    """
    if unit is not None and form != "offsets":
        raise click.UsageError("--unit goes with --format offsets", click.get_current_context())
    tokenizer = get(preset, unicode, backend)
    if form == "offsets" and tokenizer.preset.drops_text:
        raise click.ClickException(
            f"preset {tokenizer.preset.name!r} drops parts of the text, so that offsets would not "
            "follow each other; 'pretok explain' shows the start and end of each pre-token"
        )
    with open_text(file, text, binary) as chunks:
        stream = tokenizer.stream()
        blocks = _blocks(stream.feed, stream.finish, chunks)
        if form == "json":
            write(json_array((json.dumps(block)[1:-1] for block in blocks), ", "))
        elif form == "offsets":
            write(_offsets(blocks, unit or "char"))
        else:
            write(map(Escaper(tokenizer.unicode).lines, blocks))


def _blocks(
    feed: Callable[[str], list[Item]], finish: Callable[[], list[Item]], chunks: Iterator[str]
) -> Iterator[list[Item]]:
    for chunk in chunks:
        yield feed(chunk)
    yield finish()


def _offsets(blocks: Iterator[list[str]], unit: str) -> Iterator[str]:
    # U+DC80 on is a byte that is not UTF-8: one byte, and one code unit.
    encoding, errors, width = ("utf-8", ESCAPE, 1)
    if unit == "utf16":
        encoding, errors, width = ("utf-16-le", "surrogatepass", 2)
    start = 0
    for block in blocks:
        if unit == "char":
            lengths = list(map(len, block))
        else:
            lengths = [len(text.encode(encoding, errors)) // width for text in block]
        bounds = list(accumulate(lengths, initial=start))
        yield "".join([f"{start}\t{end}\n" for start, end in pairwise(bounds)])
        start = bounds[-1]


@click.command("explain", epilog=ESCAPES, short_help="Show which rule made each pre-token.")
@preset_option
@unicode_option
@input_options
@form_option("text", "json")
@colour_option
def explain_command(
    preset: Preset,
    unicode: str | None,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    form: str,
    color: bool | None,
) -> None:
    """Show which rule made each pre-token of FILE, or of standard input.

    The columns are start and end in code points (half-open), the pre-token, escaped and in quotes,
    and the alternative of the pattern that the rule stands for. Colours tell the rules apart.
    """
    tokenizer = get(preset, unicode, backend)
    with open_text(file, text, binary) as chunks:
        stream = tokenizer.stream()
        blocks = _blocks(stream.feed_spans, stream.finish_spans, chunks)
        if form == "json":
            write(json_array(_json_blocks(tokenizer, blocks), ",\n"))
        else:
            write(_text_blocks(tokenizer, blocks, is_coloured(color)))


def _json_blocks(
    tokenizer: PreTokenizer, blocks: Iterator[list[tuple[int, str, int]]]
) -> Iterator[str]:
    rules = _by_index(tokenizer, rule_json)
    for block in blocks:
        records = [
            step_json(start, start + len(text), text, rules[index]) for start, text, index in block
        ]
        yield ",\n".join(records)


def _text_blocks(
    tokenizer: PreTokenizer, blocks: Iterator[list[tuple[int, str, int]]], coloured: bool
) -> Iterator[str]:
    escaper = Escaper(tokenizer.unicode)
    rules = _by_index(tokenizer, rule_text)
    for block in blocks:
        lines = []
        escaped = escaper.each(text for _, text, _ in block)
        for (start, text, index), shown in zip(block, escaped, strict=True):
            line = columns(shown, rules[index])
            if coloured:
                colour = NO_RULE_COLOUR if index == GAP else COLOURS[index % len(COLOURS)]
                line = click.style(line, colour)
            lines.append(f"{start:>7} {start + len(text):>7}  {line}\n")
        yield "".join(lines)


def _by_index(tokenizer: PreTokenizer, write_rule: Callable[[Rule | None], str]) -> list[str]:
    """Return every rule written, with what stands for no rule at index -1 (GAP)."""
    return [write_rule(rule) for rule in (*tokenizer.preset.rules, None)]
