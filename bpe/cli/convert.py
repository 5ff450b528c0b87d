"""The command `pretok convert`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

import bpe
from bpe.cli.vocabulary import complete_vocabulary, errors_shown
from bpe.conversion.convert import TEXTS, Conversion
from bpe.conversion.targets import TargetName
from pretok.cli.options import options_of
from pretok.cli.output import write
from pretok.errors import short_path
from pretok.preset import Preset

HELPS = {
    "--format": "The format of OUT.  [default: by the name of OUT]",
    "--preset -p NAME": "The split, if IN does not name one; see 'pretok presets'.",
    "--lossy": "Omit the parts of the tokenizer that the format cannot hold.",
    "--into FILE": "Write FILE, a GGUF model, with the tokenizer in place of its own; OUT may be "
    "FILE.",
    "--rows-match": "The rows of FILE are already in the order of IN's ids; do not compare ids.",
    "--texts N": "The number of random texts to compare.",
    "--json as_json": "Print JSON.",
}


@click.command("convert")
@click.argument("source", metavar="IN", shell_complete=complete_vocabulary)
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@options_of(HELPS)
def convert_command(
    source: str,
    target: Path,
    format: TargetName | None,
    preset: Preset | None,
    lossy: bool,
    into: Path | None,
    rows_match: bool,
    as_json: bool,
    texts: int = TEXTS,
) -> None:
    """Write the tokenizer IN to the file OUT in another format, if its ids stay equal.

    IN is a vocabulary file or the name of a vocabulary on this machine. The name of OUT says the
    format:

    \b
    .json                    tokenizer.json of Hugging Face
    .model                   SentencePiece if tokens are text, else minbpe
    .gguf                    the tokenizer's part of a model of llama.cpp
    .tiktoken                a rank file
    vocab.json, merges.txt   both files, and a tokenizer_config.json with added tokens
    .pretok                  this library's own format

    The new file is compared with IN before it is written: both must give the same ids and decoded
    texts for all tokens of the vocabulary, added tokens, hard cases and random texts. Otherwise the
    command shows a text that differs, and writes nothing.
    """
    with errors_shown():
        result = bpe.convert(
            source, target, format=format, preset=preset, lossy=lossy, into=into,
            rows_match=rows_match, texts=texts,
        )  # fmt: skip
    write([json.dumps(_record(result)) + "\n"] if as_json else _lines(result))


def _lines(result: Conversion) -> Iterator[str]:
    paths = ", ".join(map(short_path, result.paths))
    yield f"wrote {paths} ({result.format}); {result.texts:,} texts have equal ids\n"
    if result.lost:
        yield f"omitted by --lossy: {'; '.join(result.lost)}\n"
    if result.omitted:
        yield f"not in the new file: {'; '.join(result.omitted)}\n"
    yield from (f"note: {difference}\n" for difference in result.differences)


def _record(result: Conversion) -> dict[str, object]:
    return {
        "format": result.format,
        "paths": list(map(str, result.paths)),
        "texts": result.texts,
        "lost": result.lost,
        "omitted": result.omitted,
        "differences": result.differences,
    }
