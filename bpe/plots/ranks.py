"""Draw the lengths and the scripts of the tokens of a vocabulary."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.plots.picture import COLORS, HATCHES, picture, thousands
from bpe.statistics import Ranks
from bpe.statistics.ranks import KINDS, SCRIPTS

BANDS = 20
"""The number of bands of ranks; each has the same number of tokens."""
MAX_SCRIPTS = 5
"""The maximum number of scripts to draw; all other scripts are drawn as "another script"."""
COLORS_OF_OTHERS = ("#E69F00", "#F0E442", "#999999", "#000000")
"""The colors of the kinds of tokens that are not one of the drawn scripts."""
LONGEST = 16
"""The last bar of the histogram counts the tokens of this many bytes or more."""


def draw_ranks(ranks: Ranks, path: str | os.PathLike[str]) -> None:
    """Draw `ranks` to `path`: a histogram of lengths; lengths by rank; scripts by rank.

    Raises ValueError for a suffix other than .svg, .png and .pdf; ImportError without matplotlib;
    OSError if the file cannot be written.
    """
    bounds = np.linspace(0, len(ranks.ids), min(BANDS, len(ranks.ids)) + 1).astype(int)
    with picture(path, 9, 11) as figure:
        histogram, lengths, scripts = figure.subplots(3, 1, height_ratios=(2, 2, 3))
        _draw_histogram(histogram, ranks)
        _draw_lengths(lengths, ranks, bounds)
        _draw_scripts(scripts, ranks, bounds)


def _draw_histogram(axes: Any, ranks: Ranks) -> None:
    counts = np.bincount(np.minimum(ranks.lengths, LONGEST), minlength=LONGEST + 1)[1:]
    places = range(1, LONGEST + 1)
    axes.bar(places, counts, color=COLORS[0], width=0.9)
    axes.set_xticks(places, [*map(str, places[:-1]), f"{LONGEST}+"])
    axes.set_xlabel("length of the token (bytes)")
    axes.set_ylabel("tokens")
    axes.yaxis.set_major_formatter(thousands)
    axes.grid(visible=False, axis="x")


def _draw_lengths(axes: Any, ranks: Ranks, bounds: NDArray[np.int64]) -> None:
    bands = [ranks.lengths[a:b] for a, b in pairwise(bounds.tolist())]
    middles = (bounds[:-1] + bounds[1:]) / 2
    low, median, high = (
        [float(np.percentile(band, part)) for band in bands] for part in (10, 50, 90)
    )
    axes.fill_between(middles, low, high, color=COLORS[4], alpha=0.4, label="10% to 90%")
    axes.plot(middles, median, color=COLORS[0], marker="o", label="median")
    axes.set_ylabel("length (bytes)")
    axes.set_ylim(0, 1.35 * max(high, default=1))
    axes.legend(loc="upper left", ncols=2)
    _set_rank_axis(axes, bounds)


def _draw_scripts(axes: Any, ranks: Ranks, bounds: NDArray[np.int64]) -> None:
    other = KINDS.index("another script")
    counts = np.bincount(ranks.kinds, minlength=len(KINDS))
    frequent = np.argsort(-counts[: len(SCRIPTS)], kind="stable")[:MAX_SCRIPTS]
    is_drawn = np.zeros(len(KINDS), bool)
    is_drawn[frequent] = True
    is_drawn[other:] = True
    kinds = np.where(is_drawn[ranks.kinds], ranks.kinds, other)
    drawn = [*frequent.tolist(), *range(other, len(KINDS))]
    drawn = [kind for kind in drawn if (kinds == kind).any()]
    widths = np.diff(bounds)
    bottom = np.zeros(len(widths))
    for number, kind in enumerate(drawn):
        shares = [100 * float((kinds[a:b] == kind).mean()) for a, b in pairwise(bounds.tolist())]
        axes.bar(
            bounds[:-1],
            shares,
            widths,
            bottom,
            align="edge",
            color=COLORS[number] if kind < other else COLORS_OF_OTHERS[kind - other],
            hatch=HATCHES[number] if kind < other else HATCHES[MAX_SCRIPTS + kind - other],
            edgecolor="white",
            linewidth=0,
            label=KINDS[kind],
        )
        bottom += shares
    axes.set_ylim(0, 100)
    axes.set_ylabel("tokens (%)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3, handlelength=2.5)
    _set_rank_axis(axes, bounds)


def _set_rank_axis(axes: Any, bounds: NDArray[np.int64]) -> None:
    axes.set_xlim(0, int(bounds[-1]))
    axes.set_xlabel("rank (early merges first)")
    axes.xaxis.set_major_formatter(thousands)
