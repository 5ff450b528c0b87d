"""The commands `pretok encode` and `pretok count`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import click
import numpy as np

import bpe
from bpe.cli.text_options import (
    field_option,
    include_option,
    input_files,
    is_text,
    open_file,
    text_errors,
)
from bpe.cli.vocabulary import (
    Ids,
    InputEncoder,
    lines_option,
    load,
    special_options,
    split_option,
    vocabulary_option,
)
from bpe.encoding.utf8 import ESCAPE
from bpe.inputs import STANDARD_INPUT
from bpe.types import Offsets
from pretok.cli.options import TOKEN_ESCAPES, format_option, text_options
from pretok.cli.output import QUOTE, Escaper, one_line, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

BLOCK = 1 << 16
"""The number of ids that are written at a time."""
MENTION = (
    "special tokens in the text count as ordinary text; {}; pass --special allow to count them as "
    "their ids, or --special raise to stop there"
)
Rows: TypeAlias = Iterable[tuple[Ids, Offsets]]
files_argument = click.argument("files", nargs=-1, metavar="[FILE]...")
SEPARATORS = {"ids": ("", " ", "\n"), "json": ("[", ", ", "]\n")}
"""The text before, between and after the ids of one text."""


@click.command("encode", epilog=TOKEN_ESCAPES)
@vocabulary_option
@split_option
@special_options("raise")
@lines_option
@files_argument
@include_option
@field_option
@text_options
@format_option("ids", "json", "tokens", "uint16", "uint32")
def encode_command(
    vocab: str,
    preset: Preset | None,
    special: str | None,
    allow: tuple[str, ...],
    add_special_tokens: bool,
    lines: bool,
    files: tuple[str, ...],
    include: tuple[str, ...],
    field: str,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    output_format: str,
) -> None:
    """Encode each FILE, or standard input, as the ids of tokens.

    The format ids prints one line of ids with spaces between them; json prints one array. tokens
    prints a line for each token: its start and end in code points (half-open), its id, and its
    bytes, escaped and in quotes. uint16 and uint32 write each id as 16 or 32 bits, little-endian.

    A FILE is a file, a folder, a glob pattern, or '-' for standard input. Each line of a .jsonl
    file and each row of a .parquet file has a text. Any other file is one text, and is read as a
    whole before it is encoded; with --lines each line of it is a text. Several texts need the
    format ids or json, and give one line of output each. An empty text gives an empty line, or [].
    """
    _check_form(output_format, lines, add_special_tokens)
    _check_text(files, text)
    tokenizer = load(vocab, preset, backend)
    if output_format == "uint16" and tokenizer.vocab_size > 1 << 16:
        raise click.ClickException(
            f"--format uint16 is for ids below 65536, but this vocabulary has ids up to "
            f"{tokenizer.vocab_size - 1}; use --format uint32"
        )
    encoder = InputEncoder(tokenizer, special, allow, add_special_tokens, binary)
    names: list[str | None] = [*input_files(files, include, binary)] if files else [None]
    has_documents = any(name is not None and not is_text(name) for name in names)
    if (has_documents or len(names) > 1) and output_format not in SEPARATORS:
        raise click.ClickException(
            f"--format {output_format} is for one text, but FILE has several; use --format ids or "
            "json, or 'pretok tokenize', which writes the ids of documents to shards"
        )
    with text_errors():
        for name in names:
            _encode(encoder, name, text, field, lines, output_format)


def _encode(
    encoder: InputEncoder,
    name: str | None,
    text: str | None,
    field: str,
    lines: bool,
    output_format: str,
) -> None:
    """Encode one file, or standard input for None, and write the ids."""
    if name is not None and not is_text(name):
        write(_rows(encoder.document_rows(name, field), output_format))
        return
    with open_file(name, text) as source:
        if lines:
            write(_rows(encoder.rows(source), output_format))
        elif output_format == "tokens":
            write(_table(encoder.tokens(source)))
        elif output_format in SEPARATORS:
            write(_as_text(encoder.ids(source), output_format))
        else:
            write(_as_bytes(encoder.ids(source), output_format))


@click.command("count")
@vocabulary_option
@split_option
@special_options("text")
@lines_option
@files_argument
@include_option
@field_option
@text_options
def count_command(
    vocab: str,
    preset: Preset | None,
    special: str | None,
    allow: tuple[str, ...],
    add_special_tokens: bool,
    lines: bool,
    files: tuple[str, ...],
    include: tuple[str, ...],
    field: str,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
) -> None:
    """Count the tokens of each FILE, or of standard input.

    A FILE is a file, a folder, a glob pattern, or '-' for standard input. A .jsonl or .parquet file
    counts the tokens of all its documents, each encoded for itself; any other file is one text. For
    one FILE, print only the number. For several, print a line with the number and the name of each,
    then the total. With --lines, print a number for each line of a text, or for each document.

    Special tokens in a text count as ordinary text, and a note says where the first one is.
    """
    _check_text(files, text)
    if lines and len(files) > 1:
        raise click.UsageError("--lines takes one FILE", click.get_current_context())
    encoder = InputEncoder(
        load(vocab, preset, backend), special, allow, add_special_tokens, binary, True
    )
    names: list[str | None] = [*input_files(files, include, binary)] if files else [None]
    if lines and len(names) > 1:
        raise click.UsageError("--lines takes one FILE", click.get_current_context())
    with text_errors():
        if len(names) > 1 or (files and names != [*files]):
            write(_counts(encoder, names, field))
        elif names[0] is not None and not is_text(names[0]):
            rows = encoder.document_rows(names[0], field)
            write(_row_counts(rows) if lines else [f"{_sum(rows)}\n"])
        else:
            with open_file(names[0], text) as source:
                rows = encoder.rows(source)
                write(_row_counts(rows) if lines else [f"{encoder.count(source)}\n"])
    if encoder.mention:
        click.echo(f"pretok: {MENTION.format(one_line(encoder.mention))}", err=True)


def _check_text(files: Sequence[str], text: str | None) -> None:
    """Raise click.UsageError if the command has both FILE and --text."""
    if files and text is not None:
        raise click.UsageError("got both FILE and --text; pass only one of them")


def _check_form(output_format: str, lines: bool, add_special_tokens: bool) -> None:
    """Raise click.UsageError for options that cannot be combined."""
    if output_format not in SEPARATORS and lines:
        raise click.UsageError("--lines needs --format ids or json", click.get_current_context())
    if output_format == "tokens" and add_special_tokens:
        raise click.UsageError(
            "--add-special-tokens cannot be combined with --format tokens",
            click.get_current_context(),
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


def _table(tokens: Iterable[bpe.Token]) -> Iterator[str]:
    rows = list(tokens)
    escaper = Escaper("16.0")
    for first in range(0, len(rows), BLOCK):
        block = rows[first : first + BLOCK]
        escaped = escaper.each(token.bytes.decode("utf-8", ESCAPE) for token in block)
        yield "".join(
            f"{token.start:>7} {token.end:>7} {token.id:>7}  {QUOTE}{shown}{QUOTE}\n"
            for token, shown in zip(block, escaped, strict=True)
        )


def _row_counts(rows: Rows) -> Iterator[str]:
    """Yield the output for each block of texts: one number for each text."""
    for _, offsets in rows:
        yield "".join(f"{count}\n" for count in np.diff(offsets).tolist())


def _sum(rows: Rows) -> int:
    """Return the number of ids of all texts."""
    return sum(len(ids) for ids, _ in rows)


def _counts(encoder: InputEncoder, names: Iterable[str | None], field: str) -> Iterator[str]:
    total = 0
    for name in names:
        if name is not None and not is_text(name):
            count = _sum(encoder.document_rows(name, field))
        else:
            with open_file(name) as source:
                count = encoder.count(source)
        total += count
        yield f"{count:>10}  {one_line(name or STANDARD_INPUT)}\n"
    yield f"{total:>10}  total\n"
