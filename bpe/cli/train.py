"""The command `pretok train`."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import click

import bpe
from bpe.cli.vocabulary import as_cli_message
from bpe.training.corpus import Source
from pretok.cli.input import open_bytes, shown_path
from pretok.cli.options import PRESET, backend_option
from pretok.cli.output import one_line, write
from pretok.errors import UnknownPresetError

SPARE_SUFFIX = ".json"
"""Of the format that can hold every vocabulary."""


@click.command("train")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--vocab-size", "-n", required=True, type=int, metavar="N", help="How many ids.")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Where to: a .json (tokenizer.json), .tiktoken or .model (minbpe) file; it is replaced.",
)
@click.option(
    "--preset",
    "-p",
    type=PRESET,
    default="cl100k",
    show_default=True,
    metavar="NAME",
    help="How to split; see 'pretok presets'.",
)
@click.option(
    "--special",
    "specials",
    multiple=True,
    metavar="TOKEN[=ID]",
    help="A special token. Repeat for more; either all with an id or none, which puts them last.",
)
@click.option(
    "--min-frequency",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Merge no pair that is there less often.",
)
@click.option(
    "--max-token-length",
    type=int,
    metavar="N",
    help="Make only tokens of fewer bytes.  [default: no limit]",
)
@click.option(
    "--tie-break",
    type=click.Choice(["huggingface", "first-seen"]),
    default="huggingface",
    show_default=True,
    help="Which of equally frequent pairs is merged: as BpeTrainer does, or as minbpe does.",
)
@click.option(
    "--field",
    default="text",
    show_default=True,
    metavar="NAME",
    help="What has the text in each object of a .jsonl file.",
)
@click.option(
    "--max-pre-token",
    type=int,
    metavar="BYTES",
    help="A longer pre-token is an error.  [default: 16 MB]",
)
@click.option(
    "--max-text",
    type=int,
    metavar="BYTES",
    help="A longer line of a .jsonl file is an error.  [default: 64 MB]",
)
@click.option("--threads", type=int, metavar="N", help="[default: as many as are of use]")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@backend_option
def train_command(
    files: tuple[str, ...],
    vocab_size: int,
    output: Path,
    specials: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Train a vocabulary on FILEs, and write it to OUT.

    A .txt file is one text; each line of a .jsonl file is an object with a text; .gz and .zst
    behind that are unpacked as they are read. Standard input, '-', is one text, held in memory.
    Special tokens that stand in the texts are ordinary text.

    The vocabulary has the 256 bytes, the merges, and the special tokens. Ids go to special tokens
    that are given with one, then to bytes, merges and other special tokens, from 0 on.
    """
    options |= {"vocab_size": vocab_size, "special_tokens": _special_tokens(specials)}
    _check_output(output, files)
    try:
        with _warnings(shown=False):
            _rehearse(output, options)
        with _warnings(shown=not quiet):
            progress = False if quiet else None
            tokenizer = bpe.train(_source(files), progress=progress, **options)
    except UnknownPresetError:
        raise
    except (ValueError, ImportError) as error:
        raise click.ClickException(as_cli_message(error)) from None
    _save(tokenizer, output)
    if not quiet:
        write([f"{one_line(str(output))}: {_summary(tokenizer)}\n"])
        if output.suffix.lower() == ".tiktoken" and tokenizer.special_tokens:
            click.echo(
                "pretok: a .tiktoken file has no place for special tokens; they are not in it",
                err=True,
            )


def _special_tokens(given: Sequence[str]) -> list[str] | dict[str, int]:
    names: list[str] = []
    ids: dict[str, int] = {}
    for token in given:
        name, _, id = token.rpartition("=")
        if name and id.isascii() and id.isdigit():
            if name in ids:
                raise click.ClickException(f"--special {name!r} is given twice; give it once")
            ids[name] = int(id)
        else:
            names.append(token)
    if names and ids:
        raise click.UsageError(
            f"--special {names[0]!r} has no id, and {next(iter(ids))!r} has one; give each TOKEN "
            "an id with TOKEN=ID, or none",
            click.get_current_context(),
        )
    return ids or names


def _check_output(output: Path, files: Sequence[str]) -> None:
    if output.is_dir():
        raise click.ClickException(f"--output {shown_path(str(output))} is a folder; name a file")
    if output.exists() and not output.is_file():
        raise click.ClickException(
            f"--output {shown_path(str(output))} is no ordinary file; name one to make or replace"
        )
    for file in files:
        if output.exists() and Path(file).exists() and output.samefile(file):
            raise click.ClickException(
                f"--output {shown_path(str(output))} is one of the FILEs; name another"
            )


def _rehearse(output: Path, options: dict[str, Any]) -> None:
    """Train on nothing and save that, to raise before the work what would only come up after it."""
    try:
        # A symbolic link stays one: what it points to is replaced.
        place = os.path.dirname(os.path.realpath(output))
        with tempfile.TemporaryDirectory(prefix=".pretok-", dir=place) as folder:
            trial = os.path.join(folder, output.name)
            try:
                bpe.train([], progress=False, **options).save(trial)
            except ValueError as error:
                if isinstance(error, UnknownPresetError):
                    raise
                raise ValueError(str(error).replace(trial, str(output))) from None
    except OSError as error:
        raise click.ClickException(
            f"cannot write {shown_path(str(output))}: {error.strerror}; name a file in a folder "
            "that is there and can be written to"
        ) from None


def _source(files: Sequence[str]) -> Source:
    # Standard input as bytes: a str that is the name of a file would be refused.
    return cast("Source", [_standard_input() if file == "-" else Path(file) for file in files])


def _standard_input() -> bytes:
    with open_bytes(None, None) as given:
        return b"".join(given.blocks)


def _save(tokenizer: bpe.Tokenizer, output: Path) -> None:
    try:
        tokenizer.save(output)
    except (bpe.VocabularyError, bpe.UnsupportedError) as error:
        # What may have taken hours is not to be lost.
        spare = output.with_name(output.name + SPARE_SUFFIX)
        tokenizer.save(spare)
        raise click.ClickException(f"{error}. It is in {shown_path(str(spare))} instead") from None


def _summary(tokenizer: bpe.Tokenizer) -> str:
    counts = (
        (tokenizer.vocab_size, "id"),
        (len(tokenizer.vocabulary.merges or ()), "merge"),
        (len(tokenizer.special_tokens), "special token"),
    )
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts)


class _Lines(logging.Handler):
    """Prints what bpe warns of as the command line does."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(f"pretok: {one_line(as_cli_message(record.getMessage()))}", err=True)


@contextmanager
def _warnings(shown: bool) -> Iterator[None]:
    logger = logging.getLogger("bpe")
    handler = _Lines() if shown else logging.NullHandler()
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.propagate = before
        logger.removeHandler(handler)
