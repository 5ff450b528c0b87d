"""The commands `pretok split` and `pretok explain`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import accumulate, cycle, pairwise
from typing import TypeVar

import click

from pretok.cli import output
from pretok.cli.input import open_text
from pretok.cli.options import ESCAPES, options_of, preset_option, split_options
from pretok.machine.backend import BackendName
from pretok.machine.machine import Unit
from pretok.machine.stream import Step
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get
from pretok.rules import Rule
from pretok.text import ESCAPE

COLORS = ("cyan", "green", "yellow", "magenta", "blue", "bright_red", "bright_cyan",
           "bright_green", "bright_yellow", "bright_magenta", "bright_blue")  # fmt: skip
NO_RULE_COLOR = "red"
BACKGROUNDS = ("cyan", "green", "yellow", "magenta")
"""Alternating backgrounds of `split`, which make spaces at both ends of a pre-token visible."""

Item = TypeVar("Item")


@click.command("split", epilog=ESCAPES, short_help="Split a text into pre-tokens.")
@preset_option
@split_options("text", "json", "offsets")
@options_of(
    {"--unit": "Unit of offsets: code points, UTF-8 bytes, or UTF-16 code units.  [default: char]"}
)
def split_command(
    preset: Preset,
    unicode: str | None,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    output_format: str,
    unit: Unit | None,
    color: bool | None,
) -> None:
    """Split FILE, or standard input, into pre-tokens.

    The text format prints one escaped pre-token per line, and colors them on a terminal. The json
    format prints one array of strings. The offsets format prints the start and end (half-open) of
    one pre-token per line, separated by a tab.
    """
    if unit is not None and output_format != "offsets":
        raise click.UsageError("--unit needs --format offsets")
    tokenizer = get(preset, unicode, backend)
    if output_format == "offsets" and tokenizer.preset.drops_text:
        raise click.ClickException(
            f"preset {tokenizer.preset.name!r} drops parts of the text, so its offsets have gaps; "
            "use 'pretok explain', which shows the start and end of each pre-token"
        )
    with open_text(file, text, binary) as chunks:
        stream = tokenizer.stream()
        blocks = _blocks(stream.feed, stream.finish, chunks)
        if output_format == "json":
            output.write(output.json_array((json.dumps(block)[1:-1] for block in blocks), ", "))
        elif output_format == "offsets":
            output.write(_offsets(blocks, unit or "char"))
        elif output.is_colored(color):
            output.write(_colored_lines(output.Escaper(tokenizer.unicode), blocks))
        else:
            output.write(map(output.Escaper(tokenizer.unicode).lines, blocks))


def _colored_lines(escaper: output.Escaper, blocks: Iterator[list[str]]) -> Iterator[str]:
    backgrounds = cycle(BACKGROUNDS)
    for block in blocks:
        yield "".join(
            f"{click.style(shown, fg='black', bg=next(backgrounds))}\n"
            for shown in escaper.each(block)
        )


def _blocks(
    feed: Callable[[str], list[Item]], finish: Callable[[], list[Item]], chunks: Iterator[str]
) -> Iterator[list[Item]]:
    """Yield the result of `feed` for each chunk, and then the result of `finish`."""
    for chunk in chunks:
        yield feed(chunk)
    yield finish()


def _offsets(blocks: Iterator[list[str]], unit: str) -> Iterator[str]:
    # A surrogate from U+DC80 on represents an invalid byte. It counts as one byte, and as one
    # UTF-16 code unit.
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
@split_options("text", "json")
def explain_command(
    preset: Preset,
    unicode: str | None,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    output_format: str,
    color: bool | None,
) -> None:
    """Show which rule made each pre-token of FILE, or of standard input.

    The columns are the start and end in code points (half-open), the escaped pre-token in quotes,
    and the regex alternative of the rule. On a terminal, each rule has its own color.
    """
    tokenizer = get(preset, unicode, backend)
    with open_text(file, text, binary) as chunks:
        stream = tokenizer.stream()
        blocks = _blocks(stream.feed_steps, stream.finish_steps, chunks)
        if output_format == "json":
            output.write(output.json_array(_json_blocks(tokenizer, blocks), ",\n"))
        else:
            output.write(_text_blocks(tokenizer, blocks, output.is_colored(color)))


def _json_blocks(tokenizer: PreTokenizer, blocks: Iterator[list[Step]]) -> Iterator[str]:
    rules = _by_rule(tokenizer, output.rule_json)
    for block in blocks:
        records = [
            output.step_json(start, end, text, rules[id(rule)]) for start, end, text, rule in block
        ]
        yield ",\n".join(records)


def _text_blocks(
    tokenizer: PreTokenizer, blocks: Iterator[list[Step]], colored: bool
) -> Iterator[str]:
    escaper = output.Escaper(tokenizer.unicode)
    rules = _by_rule(tokenizer, output.rule_text)
    colors = {id(rule): color for rule, color in zip(tokenizer.preset.rules, cycle(COLORS))}
    for block in blocks:
        lines = []
        escaped = escaper.each(step.text for step in block)
        for (start, end, _, rule), shown in zip(block, escaped, strict=True):
            line = output.columns(shown, rules[id(rule)])
            if colored:
                line = click.style(line, colors.get(id(rule), NO_RULE_COLOR))
            lines.append(f"{start:>7} {end:>7}  {line}\n")
        yield "".join(lines)


def _by_rule(tokenizer: PreTokenizer, write_rule: Callable[[Rule | None], str]) -> dict[int, str]:
    """Return the text of each rule, and of None, by `id` of the rule."""
    return {id(rule): write_rule(rule) for rule in (*tokenizer.preset.rules, None)}
