"""Options and inputs of the commands that read texts: count, encode, tokenize and train."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from typing import Any

import click

import bpe
from bpe.cli.vocabulary import as_cli_message, errors_shown
from bpe.inputs import STANDARD_INPUT, TEXT, find_inputs, format_of
from bpe.text_files import PACKED, blocks_of_file
from pretok.cli.input import BLOCK, Input, cannot_open, open_bytes, shown_path
from pretok.cli.options import backend_option, options
from pretok.cli.output import one_line

include_option = click.option(
    "--include",
    multiple=True,
    metavar="GLOB",
    help="Read the files of folders whose names match, such as '*.py'; '*' reads every text file. "
    "Repeat for more.  [default: .txt, .jsonl and .parquet files]",
)
field_option = click.option(
    "--field",
    default="text",
    show_default=True,
    metavar="NAME",
    help="The field of a .jsonl file, or the column of a .parquet file, that holds the text.",
)


def work_options(work: str) -> Callable[[Any], Any]:
    """Return the options of `tokenize` and `train`; `work` says what runs on a Ray cluster."""
    return options(
        include_option,
        field_option,
        click.option(
            "--ray",
            metavar="ADDRESS",
            help=f"{work} on the Ray cluster at ADDRESS. 'auto' finds the cluster of this machine, "
            "'local' starts one.",
        ),
        click.option("--quiet", "-q", is_flag=True, help="Print only errors."),
        backend_option,
    )


def ray_engine(address: str | None, threads: int | None) -> bpe.distributed.RayEngine | None:
    """Return the engine for the value of --ray; `threads` is that of --threads."""
    if address is None:
        return None
    if threads is not None:
        raise click.UsageError("--threads cannot be used with --ray: each Ray task has one thread")
    return bpe.distributed.ray(address)


def input_files(files: Sequence[str], include: Sequence[str], binary: bool) -> list[str]:
    """Return the files that FILEs name; "-" stays. Print which files of folders were left out."""
    try:
        with warnings_shown(), errors_shown():
            return find_inputs(files, include, standard_input=True, binary=binary).files
    except OSError as error:
        raise cannot_open(error, str(error.filename)) from None


def counted(*counts: tuple[int, str]) -> str:
    """Return counts with their nouns, such as "2 ids, 1 merge"."""
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts)


def is_text(file: str | None) -> bool:
    """Return whether a file, or standard input, is one text."""
    return file in (None, STANDARD_INPUT) or format_of(file) == TEXT


def open_file(file: str | None, text: str | None = None) -> AbstractContextManager[Input]:
    """Open a file of one text, which may be compressed, as `open_bytes` does."""
    if file is None or not file.lower().endswith(PACKED[1:]):
        return open_bytes(file, text)
    return nullcontext(Input(shown_path(file), chain(blocks_of_file(file, BLOCK), [b""])))


class _Lines(logging.Handler):
    """Prints the warnings of bpe in the style of the command line."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(f"pretok: {one_line(as_cli_message(record.getMessage()))}", err=True)


@contextmanager
def warnings_shown(shown: bool = True) -> Iterator[None]:
    """In this context, print the warnings of bpe if `shown`, else drop them."""
    logger = logging.getLogger("bpe")
    handler = _Lines() if shown else logging.NullHandler()
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.propagate = before
        logger.removeHandler(handler)
