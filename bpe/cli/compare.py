"""The command `pretok compare`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import click

import bpe
from bpe.cli.pictures import picture_errors, picture_option
from bpe.cli.vocabulary import ON_BINARY, SPLIT, complete_vocabulary, load
from bpe.encoding.utf8 import ESCAPE
from bpe.plots import draw_comparison
from bpe.statistics import Comparison, compare
from pretok.cli.input import read_text
from pretok.cli.options import backend_option, options_of
from pretok.cli.output import one_line, pad, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

SAME, DIFFERENT = 0, 1
"""Exit statuses."""
HEADINGS = ("BYTES/TOKEN", "TOKENS/WORD", "ONE-TOKEN WORDS")
MIN_NAME = 10
"""The minimal width of the column of names, on any terminal."""


@click.command("compare")
@click.argument(
    "vocabs", nargs=-1, required=True, metavar="VOCAB...", shell_complete=complete_vocabulary
)
@click.option(
    "--on",
    "files",
    multiple=True,
    metavar="FILE",
    help="Encode this text; '-' is standard input. Repeat for more.",
)
@options_of(SPLIT | ON_BINARY | {"--json as_json": "Print JSON instead of tables."})
@picture_option("--plot", "the numbers")
@backend_option
def compare_command(
    vocabs: tuple[str, ...],
    files: tuple[str, ...],
    preset: Preset | None,
    binary: bool,
    as_json: bool,
    plot: Path | None,
    backend: BackendName | None,
) -> int:
    r"""Compare vocabularies: what differs between two, or how many tokens they need for texts.

    VOCAB is a vocabulary file or the name of a vocabulary on this machine.

    Without --on, show what differs between two VOCABs: tokens, ids, merges, added tokens, the
    split and all other parts, and a short text with different ids. The exit status is 1 if
    anything differs, otherwise 0.

    With --on, show for each text and VOCAB the bytes per token, the tokens per word, and the share
    of words that are one token.

    A word is a letter with all letters and marks that follow; a single apostrophe or joiner before
    a letter continues the word. The tokens of a word are those that hold a part of it; they may
    also hold other text, such as a leading space. Special tokens in the text are ordinary text.
    """
    if not files:
        if binary or plot is not None:
            raise click.UsageError("--binary and --plot need --on FILE")
        if len(vocabs) != 2:
            raise click.UsageError(
                f"expected two VOCABs, got {len(vocabs)}; pass --on FILE to compare more on a text"
            )
        return _differences(vocabs[0], vocabs[1], preset, backend, as_json)
    tokenizers = {vocab: load(vocab, preset, backend) for vocab in dict.fromkeys(vocabs)}
    rows = []
    for file in dict.fromkeys(files):
        text = read_text(file, binary=binary)
        # As bytes, because `compare` refuses a str that is the name of a file.
        rows += compare(tokenizers, {file: text.encode("utf-8", ESCAPE)})
    write([f"{json.dumps([*map(_record, rows)], indent=2)}\n"] if as_json else _tables(rows))
    if plot is not None:
        with picture_errors("--plot"):
            draw_comparison(rows, plot)
    return SAME


def _differences(
    first: str, second: str, preset: Preset | None, backend: BackendName | None, as_json: bool
) -> int:
    """Show what differs between two vocabularies; return the exit status."""
    ours, theirs = (load(vocab, preset, backend) for vocab in (first, second))
    differences = replace(bpe.compare(ours, theirs), names=(first, second))
    text = json.dumps(differences.to_dict()) if as_json else str(differences)
    write([f"{text}\n"])
    return DIFFERENT if differences else SAME


def _record(row: Comparison) -> dict[str, object]:
    return {
        **row._asdict(),
        "bytes_per_token": row.bytes_per_token,
        "tokens_per_word": row.tokens_per_word,
        "one_token_share": row.one_token_share,
    }


def _tables(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a table for each text, no wider than the terminal."""
    numbers = "".join(f"  {heading}" for heading in HEADINGS)
    room = max(_width() - len(numbers), MIN_NAME)
    names = {row.vocabulary: _cut(one_line(row.vocabulary), room) for row in rows}
    column = max(map(len, ["VOCABULARY", *names.values()]))
    for number, (text, some) in enumerate(groupby(rows, key=attrgetter("text"))):
        of_text = list(some)
        size, words = of_text[0].text_bytes, of_text[0].words
        counts = f": {size:,} bytes, {words:,} words"
        yield "\n" * (number > 0)
        yield f"{_cut(one_line(text), max(_width() - len(counts), MIN_NAME))}{counts}\n"
        yield f"{pad('VOCABULARY', column)}{numbers}\n"
        for row in of_text:
            cells = (
                "" if row.bytes_per_token is None else f"{row.bytes_per_token:.3f}",
                "" if row.tokens_per_word is None else f"{row.tokens_per_word:.3f}",
                "" if row.one_token_share is None else f"{row.one_token_share:.1%}",
            )
            shown = "".join(
                f"  {cell:>{len(heading)}}" for cell, heading in zip(cells, HEADINGS, strict=True)
            )
            yield f"{pad(names[row.vocabulary], column)}{shown}".rstrip() + "\n"


def _width() -> int:
    """Return the columns of the terminal; other outputs have no limit."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else 1 << 16


def _cut(name: str, width: int) -> str:
    """Return `name`, with "…" instead of its start if it has more than `width` characters."""
    return name if len(name) <= width else f"…{name[1 - width :]}"
