"""The commands `pretok encode` and `pretok count`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import click
import numpy as np

import bpe
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
from pretok.cli.input import Input, open_bytes
from pretok.cli.options import TOKEN_ESCAPES, file_argument, format_option, text_options
from pretok.cli.output import QUOTE, Escaper, one_line, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

BLOCK = 1 << 16
"""The number of ids that are written at a time."""
SEPARATORS = {"ids": ("", " ", "\n"), "json": ("[", ", ", "]\n")}
"""The text before, between and after the ids of one text."""


@click.command("encode", epilog=TOKEN_ESCAPES)
@vocabulary_option
@split_option
@special_options
@lines_option
@file_argument
@text_options
@format_option("ids", "json", "tokens", "uint16", "uint32")
def encode_command(
    vocab: str,
    preset: Preset | None,
    special: str | None,
    allow: tuple[str, ...],
    add_special_tokens: bool,
    lines: bool,
    file: str | None,
    text: str | None,
    binary: bool,
    backend: BackendName | None,
    output_format: str,
) -> None:
    """Encode FILE, or standard input, as the ids of tokens.

    The format ids prints one line of ids with spaces between them; json prints one array. tokens
    prints a line for each token: its start and end in code points (half-open), its id, and its
    bytes, escaped and in quotes. uint16 and uint32 write each id as 16 or 32 bits, little-endian.

    FILE is one text, and is read as a whole before it is encoded. With --lines each line of input
    gives one line of output at once. An empty text gives an empty line, or [].
    """
    _check_form(output_format, lines, add_special_tokens)
    tokenizer = load(vocab, preset, backend)
    if output_format == "uint16" and tokenizer.vocab_size > 1 << 16:
        raise click.ClickException(
            f"--format uint16 is for ids below 65536, but this vocabulary has ids up to "
            f"{tokenizer.vocab_size - 1}; use --format uint32"
        )
    encoder = InputEncoder(tokenizer, special, allow, add_special_tokens, binary)
    with open_bytes(file, text) as source:
        if lines:
            write(_rows(encoder, source, output_format))
        elif output_format == "tokens":
            write(_table(encoder.tokens(source)))
        elif output_format in SEPARATORS:
            write(_as_text(encoder.ids(source), output_format))
        else:
            write(_as_bytes(encoder.ids(source), output_format))


@click.command("count")
@vocabulary_option
@split_option
@special_options
@lines_option
@click.argument("files", nargs=-1, metavar="[FILE]...")
@text_options
def count_command(
    vocab: str,
    preset: Preset | None,
    special: str | None,
    allow: tuple[str, ...],
    add_special_tokens: bool,
    lines: bool,
    files: tuple[str, ...],
    text: str | None,
    binary: bool,
    backend: BackendName | None,
) -> None:
    """Count the tokens of each FILE, or of standard input.

    For one text, print only the number. For several, print a line with the number and the name of
    each, then the total. With --lines, print a number for each line of input at once.
    """
    if lines and len(files) > 1:
        raise click.UsageError("--lines takes one FILE", click.get_current_context())
    encoder = InputEncoder(load(vocab, preset, backend), special, allow, add_special_tokens, binary)
    if len(files) > 1 and text is None:
        write(_counts(encoder, files))
        return
    with open_bytes(files[0] if files else None, text) as source:
        if lines:
            write(_row_counts(encoder, source))
        else:
            write([f"{encoder.count(source)}\n"])


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


def _rows(encoder: InputEncoder, source: Input, output_format: str) -> Iterator[str]:
    """Yield the output for each block of lines of `source`: one line of ids for each line."""
    before, between, after = SEPARATORS[output_format]
    for ids, offsets in encoder.rows(source):
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


def _row_counts(encoder: InputEncoder, source: Input) -> Iterator[str]:
    """Yield the output for each block of lines of `source`: one number for each line."""
    for _, offsets in encoder.rows(source):
        yield "".join(f"{count}\n" for count in np.diff(offsets).tolist())


def _counts(encoder: InputEncoder, files: Iterable[str]) -> Iterator[str]:
    total = 0
    for file in files:
        with open_bytes(file, None) as source:
            count = encoder.count(source)
        total += count
        yield f"{count:>10}  {one_line(file)}\n"
    yield f"{total:>10}  total\n"
