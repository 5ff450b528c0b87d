"""The command `pretok shrink`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import numpy as np

from bpe.cli.ids import decimal_ids
from bpe.cli.text_options import counted, field_option, include_option
from bpe.cli.vocabulary import complete_vocabulary, errors_shown, load
from bpe.editing.remap import ids_of
from bpe.encoding.utf8 import StrOrBytes
from bpe.training.corpus import TrainingSource, read_texts
from pretok.cli.input import open_bytes
from pretok.cli.options import backend_option, options_of
from pretok.cli.output import one_line, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

HELPS = {
    "--keep FILE": "Keep the ids in FILE: decimal numbers, or '-' for standard input.",
    "--texts -t FILE": "Keep the tokens of these texts: a file, a folder or a glob pattern. Repeat "
    "for more.",
    "--vocab-size -n N": "Keep at most N tokens: the most frequent ones of --texts, or those that "
    "merge first.",
    "--gaps": "Let tokens keep their ids.",
    "--drop-added": "Remove added tokens too, except those that the template or the padding needs.",
    "--new-ids FILE.npy": "Write the new id of each old id, or -1, as an array of NumPy.",
    "--old-ids FILE.npy": "Write the old id of each new id, or -1: MATRIX[OLD_IDS] has the rows of "
    "an embedding matrix.",
    "--preset -p NAME": "The split, if IN does not name one; see 'pretok presets'.",
    "--lossy": "Omit the parts of the tokenizer that the format of OUT cannot hold.",
    "--quiet -q": "Print only errors.",
}


@click.command("shrink")
@click.argument("source", metavar="IN", shell_complete=complete_vocabulary)
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@options_of(HELPS)
@include_option
@field_option
@backend_option
def shrink_command(
    source: str,
    target: Path,
    keep: str | None,
    texts: tuple[str, ...],
    vocab_size: int | None,
    gaps: bool,
    drop_added: bool,
    new_ids: Path | None,
    old_ids: Path | None,
    preset: Preset | None,
    lossy: bool,
    quiet: bool,
    include: tuple[str, ...],
    field: str,
    backend: BackendName | None,
) -> None:
    """Write the tokenizer IN with only some of its tokens to the file OUT.

    IN is a vocabulary file or the name of a vocabulary on this machine. OUT ends in .pretok, .json
    (tokenizer.json), .tiktoken or .model.

    OUT has the tokens that --keep, --texts and --vocab-size name, and all tokens that merges make
    them of, single bytes, and added tokens. A text whose tokens are all kept has the same tokens as
    before, with new ids. The new ids have the order of the old ids, without gaps.
    """
    if keep is None and not texts and vocab_size is None:
        raise click.UsageError("pass --keep, --texts or --vocab-size, to say which tokens to keep")
    for option, path in (("--new-ids", new_ids), ("--old-ids", old_ids)):
        if path is not None and path.suffix != ".npy":
            raise click.UsageError(f"{option} {str(path)!r}; expected a file that ends in .npy")
    tokenizer = load(source, preset, backend)
    ids = None if keep is None else _ids(keep)
    with errors_shown():
        result = tokenizer.shrink(
            ids,
            texts=_texts(texts, field, include) if texts else None,
            vocab_size=vocab_size,
            gaps=gaps,
            keep_added=not drop_added,
        )
        result.tokenizer.save(target, lossy=lossy)
    for path, array in ((new_ids, result.new_ids), (old_ids, result.old_ids)):
        if path is not None:
            np.save(path, array)
    if not quiet:
        kept, old = int((result.old_ids >= 0).sum()), len(ids_of(tokenizer))
        write([f"{one_line(str(target))}: {counted((kept, 'token'))} of {old}\n"])


def _ids(file: str) -> list[int]:
    """Return the ids in a file of decimal numbers."""
    with open_bytes(file, None, "--keep") as source:
        return [id for parts in decimal_ids(source, False) for part in parts for id in part.ids]


def _texts(files: tuple[str, ...], field: str, include: tuple[str, ...]) -> Iterator[StrOrBytes]:
    """Yield the texts of files; a file that is one text is held in memory."""
    source = cast("TrainingSource", list(map(Path, files)))
    for _, item in read_texts(source, field, include=include):
        if isinstance(item, list):
            yield from item
        else:
            yield b"".join(item)
