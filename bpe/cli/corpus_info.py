"""The command `pretok corpus-info`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from bpe.cli.pictures import picture_errors, picture_option
from bpe.corpus.reader import Corpus
from bpe.plots import draw_document_lengths
from bpe.types import Offsets
from pretok.cli.input import shown_path
from pretok.cli.output import one_line, write

BAR = 50
"""The length of the longest bar of the histogram."""
BINS = 64
"""The number of bins of the histogram.

Bin i counts documents of 2^(i - 1) to 2^i - 1 tokens, bin 0 empty documents.
"""


@click.command("corpus-info")
@click.argument("folder", metavar="DIR")
@click.option("--verify", is_flag=True, help="Compare the sha256 of each file with the manifest.")
@click.option("--document", "-d", type=int, metavar="N", help="Print the text of a document.")
@click.option("--ids", is_flag=True, help="Print the ids of --document instead of its text.")
@click.option("--split", default="train", show_default=True, help="The split of --document.")
@picture_option("--plot", "the histogram")
def corpus_info_command(
    folder: str, verify: bool, document: int | None, ids: bool, split: str, plot: Path | None
) -> None:
    """Show what is in DIR, a folder that 'pretok tokenize' has written.

    Without options, print the counts, and a histogram of the lengths of documents in tokens.
    """
    if ids and document is None:
        raise click.UsageError("--ids needs --document")
    corpus = Corpus(folder)
    if document is not None:
        write([_document(corpus, document, split, ids)])
        return
    if verify:
        _verify(corpus)
        return
    histogram = _histogram(corpus)
    write([*_counts(corpus), *_bars(histogram)])
    if plot is not None:
        used = np.flatnonzero(histogram)
        first, last = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
        with picture_errors("--plot"):
            draw_document_lengths(first, histogram[first : last + 1], plot)


def _document(corpus: Corpus, index: int, split: str, ids: bool) -> bytes:
    try:
        tokens = corpus.document(index, split)
    except IndexError as error:
        raise click.ClickException(str(error)) from None
    if ids:
        return f"{' '.join(map(str, tokens.tolist()))}\n".encode()
    return corpus.tokenizer().decode_bytes(tokens)


def _verify(corpus: Corpus) -> None:
    problems = 0
    for name, problem in corpus.verify():
        write([f"{one_line(name)}: {problem or 'as in the manifest'}\n"])
        problems += bool(problem)
    if problems:
        raise click.ClickException(
            f"{shown_path(str(corpus.folder))}: damaged files: {problems}; delete the folder and "
            "make the corpus again"
        )


def _counts(corpus: Corpus) -> Iterator[str]:
    manifest = corpus.manifest
    tokenizer, options = manifest.tokenizer, manifest.options
    per_token = manifest.text_bytes / max(1, manifest.tokens)
    name = tokenizer["name"] or tokenizer["file"]
    rows = {
        "tokens": f"{manifest.tokens:,}",
        "documents": f"{manifest.documents:,}",
        "text": f"{manifest.text_bytes:,} bytes, {per_token:.3f} per token",
        "inputs": f"{len(manifest.inputs):,} files",
        "not read": ", ".join(f"{count} {suffix}" for suffix, count in manifest.left_out.items()),
        "left out": f"{manifest.skipped:,} damaged documents" if manifest.skipped else "",
        "vocabulary": f"{name}, {tokenizer['vocab_size']:,} ids",
        "split": f"{tokenizer['preset']}, Unicode {tokenizer['unicode']}",
        "layout": f"{options['layout']}, {options['dtype']}"
        + (f", rows of {options['pack']:,}" if options["pack"] else ""),
    }
    for name, shards in corpus.splits.items():
        tokens = sum(shard.tokens - shard.padding for shard in shards)
        rows[f"split {name!r}"] = (
            f"{tokens:,} tokens, {corpus.document_count(name):,} documents, {len(shards):,} shards"
        )
    for name, value in rows.items():
        if value:
            yield f"{name:<14} {one_line(value)}\n"
    for message in manifest.skipped_examples:
        yield f"left out       {one_line(message)}\n"


def _histogram(corpus: Corpus) -> Offsets:
    """Return the number of documents in each bin of BINS."""
    counts = np.zeros(BINS, np.int64)
    for split in corpus.splits:
        for lengths in corpus.lengths(split):
            # frexp gives the exponent e with 2^(e - 1) <= length < 2^e, which is the bin; 0 for 0.
            counts += np.bincount(np.frexp(lengths)[1], minlength=BINS)
    return counts


def _bars(histogram: Offsets) -> Iterator[str]:
    used = np.flatnonzero(histogram)
    if not len(used):
        return
    yield "\ntokens in a document\n"
    scale = BAR / int(histogram.max())
    for index in range(int(used[0]), int(used[-1]) + 1):
        count = int(histogram[index])
        low, high = (1 << (index - 1), (1 << index) - 1) if index else (0, 0)
        bar = "#" * max(round(count * scale), count > 0)
        label = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        yield f"{label:>27} {count:>13,} {bar}".rstrip() + "\n"
