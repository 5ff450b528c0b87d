"""Define what all pictures share: fonts, colors, and the way to write a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pretok.files import check_folder

SUFFIXES = (".svg", ".png", ".pdf")
"""The formats of pictures, by the suffix of their files."""
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Colors of Okabe and Ito, which color-blind readers can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "\\\\\\", "xxx", "---", "|||", "+++", "", "xx")
"""Markers, dashes and hatches distinguish points, lines and areas even in prints without color."""
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "figure.dpi": 100,
    "font.size": 14,
    "grid.color": "#dddddd",
    "hatch.color": "white",
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 2.5,
    "savefig.facecolor": "white",
    # An SVG file has text as text, not as shapes, and equal pictures give equal files.
    "svg.fonttype": "none",
    "svg.hashsalt": "pretok",
}
MAX_NAME = 28
"""The maximum number of characters of the name of a file or vocabulary in a picture."""


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if the suffix of `path` is not in SUFFIXES, ImportError without matplotlib.

    Raises FileNotFoundError if the folder of `path` does not exist.

    Call this before a long computation whose result you want to draw.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"expected a name that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got "
            f"{os.fspath(path)!r}; choose another name"
        )
    check_folder(path)
    try:
        import matplotlib.figure
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib; install it with `pip install matplotlib`"
        ) from error
    assert matplotlib.figure


@contextmanager
def picture(path: str | os.PathLike[str], width: float, height: float) -> Iterator[Any]:
    """Yield an empty figure of `width` times `height` inches; save it to `path` at the end.

    Raises the errors of check_picture, and OSError if the file cannot be written.
    """
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        metadata = {"Date": None} if Path(path).suffix.lower() == ".svg" else None
        with warnings.catch_warnings():
            # A name may have characters that the font lacks. The picture then shows boxes, and
            # matplotlib would print a warning for each of these characters.
            warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
            figure.savefig(path, metadata=metadata)


def thousands(value: float, _position: int = 0) -> str:
    """Return `value` for a tick of an axis: 20,000."""
    return f"{value:,.0f}"


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each of `names`, which are paths or names of vocabularies.

    The short name is the last part of the path. If last parts are equal, it is the last two parts.
    If these are equal too, a number follows.
    """
    shown: dict[str, str] = {}
    last = [_printable("/".join(Path(name).parts[-1:])) for name in names]
    last_two = [_printable("/".join(Path(name).parts[-2:])) for name in names]
    for number, name in enumerate(names):
        short = last[number] if last.count(last[number]) == 1 else last_two[number]
        shown[name] = short if short not in shown.values() else f"{short} ({number + 1})"
    return shown


def _printable(name: str) -> str:
    """Return `name` in a form that matplotlib shows unchanged; cut the middle of a long name."""
    name = "".join(char if char.isprintable() else "\ufffd" for char in name)
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME // 2]}…{name[-MAX_NAME // 2 :]}"
    # A dollar sign would begin a formula, and legends omit labels that begin with "_".
    return f"{' ' * name.startswith('_')}{name}".replace("$", r"\$")
