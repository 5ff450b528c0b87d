"""Draw the lengths of documents."""

from __future__ import annotations

import os

from bpe.plots.picture import COLORS, picture, thousands
from bpe.types import Offsets


def draw_document_lengths(first: int, counts: Offsets, path: str | os.PathLike[str]) -> None:
    """Draw a histogram to `path`; each of its bins is twice as wide as the bin before.

    Bin k counts the documents of 2^(k - 1) to 2^k - 1 tokens, and bin 0 the empty documents.
    `counts` has the counts of the bins from `first` on. Raises ValueError for a suffix other than
    .svg, .png and .pdf; ImportError without matplotlib; OSError if the file cannot be written.
    """
    with picture(path, 8, 4.5) as figure:
        axes = figure.subplots()
        places = range(len(counts))
        axes.bar(places, counts, color=COLORS[0], width=0.9)
        labels = ["0" if k == 0 else f"{1 << (k - 1):,}" for k in range(first, first + len(counts))]
        axes.set_xticks(places, labels, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_xlabel("tokens in a document (a bar: from its number up to the next)")
        axes.set_ylabel("documents")
        axes.yaxis.set_major_formatter(thousands)
        axes.grid(visible=False, axis="x")
