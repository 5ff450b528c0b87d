"""The command `pretok fetch`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import click

from bpe.errors import UnknownVocabularyError
from bpe.hub.fetch import fetch
from bpe.hub.locate import locate_vocabulary
from bpe.hub.published import PUBLISHED
from pretok.cli.completion import starting_with
from pretok.cli.options import options_of
from pretok.cli.output import one_line, write

HELPS = {
    "--folder DIR": "The target folder.  [default: the cache in which all commands look]",
    "--list is_list": "List the vocabularies, and which are on this machine.",
}


@click.command("fetch")
@click.argument(
    "name",
    required=False,
    shell_complete=lambda ctx, param, incomplete: starting_with(PUBLISHED, incomplete),
)
@options_of(HELPS)
def fetch_command(
    name: str | None,
    folder: Annotated[Path | None, click.Path(path_type=Path, file_okay=False)],
    is_list: bool,
) -> None:
    """Download the vocabulary NAME, check its sha256, and print the path of its file.

    A file that exists with this sha256 is not downloaded again. No other command uses the network.
    Without NAME, list all names, each with its preset and its files on this machine: in
    $PRETOK_VOCAB_DIR, in the cache of this command, or in tiktoken's cache.
    """
    if name is None or is_list:
        if folder is not None or name is not None:
            raise click.UsageError(
                "--list takes neither NAME nor --folder" if is_list else "--folder needs a NAME"
            )
        write(_list())
    else:
        write([f"{fetch(name, folder)}\n"])


def _list() -> Iterator[str]:
    width = max(map(len, PUBLISHED))
    yield f"{'NAME':{width}}  PRESET  HERE\n"
    for vocabulary in PUBLISHED.values():
        yield f"{vocabulary.name:{width}}  {vocabulary.preset:6}  {_local_files(vocabulary.name)}\n"


def _local_files(name: str) -> str:
    """Return the paths of the vocabulary on this machine, or "no" if it is not here."""
    try:
        return ", ".join(one_line(str(path)) for path in locate_vocabulary(name))
    except UnknownVocabularyError:
        return "no"
