"""The command `pretok diff`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import click

from pretok.cli import output
from pretok.cli.input import open_text
from pretok.cli.options import ESCAPES, PRESET, options_of, split_options
from pretok.diff import Diff
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get

SAME, DIFFERENT = 0, 1


@click.command("diff", epilog=ESCAPES, short_help="Show where two presets split differently.")
@click.argument("a", type=PRESET)
@click.argument("b", type=PRESET)
@options_of(
    {
        "--unicode-a VERSION": "Unicode version for A alone.",
        "--unicode-b VERSION": "Unicode version for B alone.",
        "--limit": "Number of regions to show; further regions are only counted.",
    }
)
@split_options("text", "json")
def diff_command(
    *,
    a: Preset,
    b: Preset,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    unicode: str | None,
    unicode_a: str | None,
    unicode_b: str | None,
    limit: Annotated[int, click.IntRange(min=0)] = 20,
    output_format: str,
    color: bool | None,
) -> int:
    """Show where presets A and B split FILE, or standard input, differently.

    A region lies between two boundaries that both splits share. The output shows the start and end
    of each region in code points (half-open). Lines with - are the pre-tokens of A in the region,
    and lines with + are the pre-tokens of B. A region shows at most 1000 pre-tokens of each preset.
    Pre-tokens are escaped and in quotes, with the regex alternative of their rule. The exit status
    is 0 if the splits are equal, 1 if they differ, 2 after an error.
    """
    first, second = get(a, unicode_a or unicode, backend), get(b, unicode_b or unicode, backend)
    with open_text(file, text, binary) as chunks:
        try:
            diff = Diff(first, second, chunks)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        if output_format == "json":
            output.write(_as_json(first, second, diff, limit))
        else:
            output.write(_as_text(first, second, diff, limit, output.is_colored(color)))
    return DIFFERENT if diff.region_count else SAME


def _as_text(
    first: PreTokenizer, second: PreTokenizer, diff: Diff, limit: int, colored: bool
) -> Iterator[str]:
    escaper = output.Escaper(first.unicode)
    for region in diff:
        if diff.region_count > limit:
            continue
        if diff.region_count == 1:
            yield output.styled(f"--- {_name(first)}", colored, bold=True)
            yield output.styled(f"+++ {_name(second)}", colored, bold=True)
        sides = (
            (sign, color, [(step.text, output.rule_text(step.rule)) for step in steps], count)
            for sign, color, steps, count in (
                ("-", "red", region.first, region.first_count),
                ("+", "green", region.second, region.second_count),
            )
        )
        yield "".join(output.difference_lines(escaper, region.start, region.end, sides, colored))
    yield f"{_name(first)}: {_counted(diff.first_count, 'pre-token')}\n"
    yield f"{_name(second)}: {_counted(diff.second_count, 'pre-token')}\n"
    hidden = diff.region_count - limit
    more = f", {hidden} of them not shown (--limit {limit})" if hidden > 0 else ""
    yield f"{_counted(diff.region_count, 'differing region')}{more}\n"


def _as_json(first: PreTokenizer, second: PreTokenizer, diff: Diff, limit: int) -> Iterator[str]:
    def records() -> Iterator[str]:
        for region in diff:
            if diff.region_count <= limit:
                record = {
                    "start": region.start, "end": region.end,
                    "a_count": region.first_count, "b_count": region.second_count,
                    "a": list(map(output.step_record, region.first)),
                    "b": list(map(output.step_record, region.second)),
                }  # fmt: skip
                yield json.dumps(record)

    # Print the prefix only with the first region. If reading the input fails before this region,
    # nothing has been printed, not even the beginning of the JSON.
    prefix = '{"regions": '
    for part in output.json_array(records(), ",\n"):
        yield prefix + part.rstrip("\n")
        prefix = ""
    counts = ((first, diff.first_count), (second, diff.second_count))
    a, b = (
        {"preset": tokenizer.preset.name, "unicode": tokenizer.unicode, "pre_tokens": count}
        for tokenizer, count in counts
    )
    rest = {"a": a, "b": b, "differing_regions": diff.region_count}
    yield f", {json.dumps(rest)[1:]}\n"


def _counted(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def _name(tokenizer: PreTokenizer) -> str:
    return f"{tokenizer.preset.name} (Unicode {tokenizer.unicode})"
