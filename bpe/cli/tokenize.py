"""The command `pretok tokenize`."""

from __future__ import annotations

import errno
from typing import Annotated, Any, Literal

import click

import bpe
from bpe.cli.text_options import counted, ray_engine, warnings_shown, work_options
from bpe.cli.vocabulary import (
    errors_shown,
    load,
    special_argument,
    special_options,
    vocabulary_options,
)
from bpe.corpus import Corpus
from bpe.corpus.layouts import LAYOUTS
from bpe.inputs import STANDARD_INPUT
from bpe.types import Treatment
from pretok.cli.input import shown_path
from pretok.cli.options import options_of
from pretok.cli.output import one_line, write
from pretok.machine.backend import BackendName
from pretok.preset import Preset

HELPS = {
    "--bos TOKEN": "A token, or its id, to put before each document.",
    "--eos TOKEN": "A token, or its id, to put after each document.",
    "--lines": "Each line of a text file is a document.",
    "--shard-tokens N": "Begin a new shard after N tokens.  [default: 2^27]",
    "--pack N": "Put all documents one after the other, in rows of N.",
    "--pad TOKEN": "The token, or its id, that fills the last row of --pack.  [default: that of "
    "--eos]",
    "--shuffle SEED": "Shuffle the documents.",
    "--validation FRACTION": "Put this fraction of the documents, chosen by a hash, into the split "
    "'val'.",
    "--skip-bad": "Leave out damaged documents, and list them.",
    "--max-text BYTES": "A longer text that must be encoded as a whole is an error.  [default: "
    "64 MB]",
    "--threads N": "[default: as many as are useful]",
}


def _token(text: str) -> str | int:
    """Return `text` as an id if it is a decimal number, else as the text of a token."""
    return int(text) if text.isascii() and text.isdigit() else text


@click.command("tokenize")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options_of({"--output -o DIR": "The folder of the corpus, new or empty."})
@vocabulary_options
@options_of(
    {
        "--layout": "Tokens only (nanoGPT), llm.c's header, Megatron-LM's .bin and .idx, .npy, or "
        "Parquet.",
        "--dtype": "The type of a token.  [default: uint16 if all ids fit]",
    }
)
@special_options("raise")
@options_of(HELPS, bpe.corpus.tokenize)
@work_options("Encode")
def tokenize_command(
    *,
    inputs: tuple[str, ...],
    output: str,
    layout: Annotated[str, click.Choice(list(LAYOUTS))] = "bin",
    dtype: Literal["uint16", "uint32"] | None,
    vocab: str,
    preset: Preset | None,
    special: Treatment | None,
    allow: tuple[str, ...],
    ray: str | None,
    quiet: bool,
    backend: BackendName | None,
    **options: Any,
) -> None:
    """Encode the documents of INPUTs, and write their ids to shards in DIR for training.

    An INPUT is a file, a folder or a glob pattern. Each line of a .jsonl file is an object with a
    document; each row of a .parquet file has a document; any other file is one document. Files that
    also end in .gz or .zst are unpacked. Files of folders that are left out are counted by suffix.

    If the work is interrupted, the same command continues it, and the files are the same as without
    the interruption. DIR/manifest.json has the sha256 of all files; see 'pretok corpus-info'.
    """
    if STANDARD_INPUT in inputs:
        raise click.ClickException(
            "standard input cannot be read again if the work is interrupted; write it to a file, "
            "and pass the file"
        )
    tokenizer = load(vocab, preset, backend)
    options |= {name: _token(options[name]) for name in ("bos", "eos", "pad") if options[name]}
    try:
        with errors_shown(), warnings_shown(not quiet):
            corpus = bpe.corpus.tokenize(
                inputs,
                output,
                tokenizer,
                layout=layout,
                dtype=dtype,
                special=special_argument(tokenizer, special, allow),
                progress=False if quiet else None,
                engine=ray_engine(ray, options["threads"]),
                **options,
            )
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
            click.echo("pretok: free some space; the same command continues", err=True)
        raise
    except KeyboardInterrupt:
        click.echo("pretok: interrupted; the same command continues", err=True)
        raise
    if not quiet:
        write([f"{one_line(shown_path(output))}: {_summary(corpus)}\n"])


def _summary(corpus: Corpus) -> str:
    manifest = corpus.manifest
    shards = sum(map(len, corpus.splits.values()))
    parts = [
        counted((manifest.tokens, "token"), (manifest.documents, "document"), (shards, "shard"))
    ]
    if manifest.skipped:
        parts.append(f"damaged documents left out: {manifest.skipped}")
    if manifest.left_out:
        parts.append(f"files in folders left out: {sum(manifest.left_out.values())}")
    return ", ".join(parts)
