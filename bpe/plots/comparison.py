"""Draw a comparison of vocabularies."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bpe.plots.picture import COLORS, MARKERS, picture, short_names
from bpe.statistics import Comparison

LABELS = ("bytes per token\n(more: shorter texts)", "tokens per word", "one-token words (%)")
LEGEND_COLUMNS = 3
SPREAD = 0.6
"""The markers of one text are spread over this share of the height of its row."""


def draw_comparison(rows: Sequence[Comparison], path: str | os.PathLike[str]) -> None:
    """Draw `rows` to `path`: a line for each text, a marker for each vocabulary.

    Raises ValueError for a suffix other than .svg, .png and .pdf; ImportError without matplotlib;
    OSError if the file cannot be written.
    """
    texts = short_names(list(dict.fromkeys(row.text for row in rows)))
    vocabularies = short_names(list(dict.fromkeys(row.vocabulary for row in rows)))
    lines_of_legend = -(-len(vocabularies) // LEGEND_COLUMNS)
    row_height = 0.3 + 0.15 * len(vocabularies)
    height = 1.4 + row_height * len(texts) + 0.35 * lines_of_legend
    with picture(path, 11, height) as figure:
        panels = figure.subplots(1, len(LABELS), sharey=True)
        at = {text: index for index, text in enumerate(texts)}
        for number, (vocabulary, shown) in enumerate(vocabularies.items()):
            own = [row for row in rows if row.vocabulary == vocabulary]
            # Put the markers one below the other, so that equal numbers do not hide each other.
            shift = ((number + 0.5) / len(vocabularies) - 0.5) * SPREAD
            for panel, values in zip(panels, zip(*map(_values, own), strict=True), strict=True):
                points = [
                    (value, at[row.text] + shift)
                    for value, row in zip(values, own, strict=True)
                    if value is not None
                ]
                panel.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    MARKERS[number % len(MARKERS)],
                    color=COLORS[number % len(COLORS)],
                    markersize=11,
                    markeredgecolor="white",
                    label=shown,
                )
        for panel, label in zip(panels, LABELS, strict=True):
            panel.set_xlabel(label)
            panel.margins(x=0.12)
            panel.grid(visible=False, axis="y")
            for line in range(1, len(texts)):
                panel.axhline(line - 0.5, color="#dddddd", linewidth=0.8)
        panels[0].set_yticks(range(len(texts)), list(texts.values()))
        panels[0].set_ylim(len(texts) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper left", ncols=min(LEGEND_COLUMNS, len(labels))
        )


def _values(row: Comparison) -> tuple[float | None, ...]:
    share = row.one_token_share
    return row.bytes_per_token, row.tokens_per_word, None if share is None else 100 * share
