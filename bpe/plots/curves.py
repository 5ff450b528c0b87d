"""Draw compression against the size of a vocabulary."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from bpe.plots.picture import COLORS, DASHES, MARKERS, picture, thousands
from bpe.statistics import Curve

MARKERS_OF_A_CURVE = 8
POINTS = 500
"""The maximum number of points of a drawn curve."""


def draw_curves(curves: Mapping[str, Curve], path: str | os.PathLike[str]) -> None:
    """Draw `curves`, by their names, to `path`.

    Raises ValueError for a suffix other than .svg, .png and .pdf; ImportError without matplotlib;
    OSError if the file cannot be written.
    """
    with picture(path, 8, 5) as figure:
        axes = figure.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            last = len(curve.sizes) - 1
            shown = np.unique(np.linspace(0, last, min(last + 1, POINTS)).astype(int))
            marked = np.unique(
                np.searchsorted(shown, np.linspace(0, last, MARKERS_OF_A_CURVE + 1)[1:].astype(int))
            )
            axes.plot(
                curve.sizes[shown],
                curve.bytes_per_token[shown],
                DASHES[number % len(DASHES)],
                color=COLORS[number % len(COLORS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=9,
                markevery=marked.tolist(),
                label=name,
            )
        axes.set_xlabel("tokens in the vocabulary (256 bytes and merged tokens)")
        axes.set_ylabel("bytes per token")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(thousands)
        axes.legend(loc="lower right")
