"""The commands `pretok encode` and `pretok count`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import click
import numpy as np

import bpe
from bpe.cli.input_encoder import InputEncoder, Rows, encoder_options
from bpe.cli.text_options import is_text
from bpe.cli.token_formats import TOKEN_FORMATS
from bpe.cli.vocabulary import errors_shown, special_options
from bpe.inputs import STANDARD_INPUT
from bpe.types import Ids, Unit
from pretok.cli.options import TOKEN_ESCAPES, color_option, format_option, options_of
from pretok.cli.output import one_line, write

BLOCK = 1 << 16
"""The number of ids that are written at a time."""
MENTION = (
    "special tokens in the text count as ordinary text; {}; pass --special allow to count them as "
    "their ids, or --special raise to stop there"
)
SEPARATORS = {"ids": ("", " ", "\n"), "json": ("[", ", ", "]\n")}
"""The text before, between and after the ids of one text."""


@click.command("encode", epilog=TOKEN_ESCAPES)
@special_options("raise")
@encoder_options
@format_option("ids", "json", "uint16", "uint32", *TOKEN_FORMATS)
@options_of({"--unit": "Unit of start and end.  [default: char]"}, bpe.Tokenizer.tokens)
@color_option
def encode_command(
    output_format: str, unit: Unit | None, color: bool | None, **options: Any
) -> None:
    """Encode each FILE, or standard input, as the ids of tokens.

    The format ids prints one line of ids with spaces between them; json prints one array. uint16
    and uint32 write each id as 16 or 32 bits, little-endian.

    tokens prints a line for each token: its start and end (half-open), its id, and its bytes,
    escaped and in quotes; on a terminal the bytes are colored. jsonl prints a JSON object for each
    token, with start, end, id, text and bytes (in hexadecimal). arrow writes a stream of Arrow with
    the columns id, start, end and bytes. --unit counts code points (char), bytes of UTF-8, code
    units of UTF-16, or graphemes.

    A FILE is a file, a folder, a glob pattern, or '-' for standard input. Each line of a .jsonl
    file and each row of a .parquet file has a text. Any other file is one text, and is read as a
    whole before it is encoded; with --lines each line of it is a text. Several texts need the
    format ids or json, and give one line of output each. An empty text gives an empty line, or [].
    """
    _check_form(output_format, unit, options["lines"], options["add_special_tokens"])
    encoder = InputEncoder(**options)
    tokenizer = encoder.tokenizer
    if output_format == "uint16" and tokenizer.vocab_size > 1 << 16:
        raise click.ClickException(
            f"--format uint16 is for ids below 65536, but this vocabulary has ids up to "
            f"{tokenizer.vocab_size - 1}; use --format uint32"
        )
    names = encoder.names
    if (len(names) > 1 or not is_text(names[0])) and output_format not in SEPARATORS:
        raise click.ClickException(
            f"--format {output_format} is for one text, but FILE has several; use --format ids or "
            "json, or 'pretok tokenize', which writes the ids of documents to shards"
        )
    with errors_shown():
        for name in names:
            if encoder.lines or not is_text(name):
                write(_rows(encoder.rows(name), output_format))
            elif output_format in TOKEN_FORMATS:
                tokens = encoder.whole(name, partial(tokenizer.tokens, unit=unit))
                write(TOKEN_FORMATS[output_format](tokens, color))
            else:
                ids = encoder.whole(name, tokenizer.encode_array)
                write((_as_text if output_format in SEPARATORS else _as_bytes)(ids, output_format))


@click.command("count")
@special_options("text")
@encoder_options
def count_command(**options: Any) -> None:
    """Count the tokens of each FILE, or of standard input.

    A FILE is a file, a folder, a glob pattern, or '-' for standard input. A .jsonl or .parquet file
    counts the tokens of all its documents, each encoded for itself; any other file is one text. For
    one FILE, print only the number. For several, print a line with the number and the name of each,
    then the total. With --lines, print a number for each line of a text, or for each document.

    Special tokens in a text count as ordinary text, and a note says where the first one is.
    """
    encoder = InputEncoder(**options, counts_as_text=True)
    if encoder.lines and (len(encoder.files) > 1 or len(encoder.names) > 1):
        raise click.UsageError("--lines takes one FILE")
    names = encoder.names
    with errors_shown():
        if encoder.lines:
            write(_row_counts(encoder.rows(names[0])))
        elif len(names) > 1 or names not in ([None], [*encoder.files]):
            write(_counts(encoder))
        else:
            write([f"{_count(encoder, names[0])}\n"])
    if encoder.mention:
        click.echo(f"pretok: {MENTION.format(one_line(encoder.mention))}", err=True)


def _check_form(
    output_format: str, unit: Unit | None, lines: bool, add_special_tokens: bool
) -> None:
    """Raise click.UsageError for options that cannot be combined."""
    if unit is not None and output_format not in TOKEN_FORMATS:
        raise click.UsageError("--unit needs --format tokens, jsonl or arrow")
    if output_format not in SEPARATORS and lines:
        raise click.UsageError("--lines needs --format ids or json")
    if output_format in TOKEN_FORMATS and add_special_tokens:
        raise click.UsageError(
            f"--add-special-tokens cannot be combined with --format {output_format}"
        )


def _as_text(ids: Ids, output_format: str) -> Iterator[str]:
    before, between, after = SEPARATORS[output_format]
    for start in range(0, len(ids), BLOCK):
        yield before + between.join(map(str, ids[start : start + BLOCK].tolist()))
        before = between
    yield after if len(ids) else SEPARATORS[output_format][0] + after


def _as_bytes(ids: Ids, output_format: str) -> Iterator[bytes]:
    for start in range(0, len(ids), BLOCK):
        yield ids[start : start + BLOCK].astype(np.dtype(output_format).newbyteorder("<")).tobytes()


def _rows(rows: Rows, output_format: str) -> Iterator[str]:
    """Yield the output for each block of texts: one line of ids for each text."""
    before, between, after = SEPARATORS[output_format]
    for ids, offsets in rows:
        shown = list(map(str, ids.tolist()))
        yield "".join(
            f"{before}{between.join(shown[start:end])}{after}"
            for start, end in pairwise(offsets.tolist())
        )


def _row_counts(rows: Rows) -> Iterator[str]:
    """Yield the output for each block of texts: one number for each text."""
    for _, offsets in rows:
        yield "".join(f"{count}\n" for count in np.diff(offsets).tolist())


def _count(encoder: InputEncoder, name: str | None) -> int:
    """Return the number of ids of one file."""
    if is_text(name):
        return encoder.whole(name, encoder.tokenizer.count)
    return sum(len(ids) for ids, _ in encoder.rows(name))


def _counts(encoder: InputEncoder) -> Iterator[str]:
    total = 0
    for name in encoder.names:
        count = _count(encoder, name)
        total += count
        yield f"{count:>10}  {one_line(name or STANDARD_INPUT)}\n"
    yield f"{total:>10}  total\n"
