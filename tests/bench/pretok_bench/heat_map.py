"""Draw the matrix of matrix.py as an SVG heat map, readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from pretok_bench.matrix import COLUMNS, Cell, cells, place
from pretok_bench.report import cost
from pretok_bench.timing import OURS, Result

WIDTH, HEIGHT = 78, 24
"""The width and the height of a cell. All lengths in this file are in pixels."""
LEFT, TOP, FOOT = 182, 58, 70
"""The space at the left for the names of rows, at the top for headings, below for the legend."""
GAP = 6
"""The space between the rows of two vocabularies, and between the columns of two shapes."""
BOUNDS = (0.5, 0.8, 0.95, 1.05, 1.25, 1.5, 2.0, 4.0)
"""The smallest ratio (Cell.ratio) of each of COLORS except the first."""
COLORS = (
    ("#b2182b", "#fff"),
    ("#d6604d", "#fff"),
    ("#f4a582", "#1f2328"),
    ("#e6e6e6", "#1f2328"),
    ("#d1e5f0", "#1f2328"),
    ("#92c5de", "#1f2328"),
    ("#4393c3", "#fff"),
    ("#2166ac", "#fff"),
    ("#08306b", "#fff"),
)
"""(fill color, text color) of a cell: red if pretok is slower, gray if equal, blue if faster."""
MUTED = len(COLORS)
"""The value of color_of for a cell without a peer. It is not an index of COLORS."""
SHORT = {
    "tiktoken": "tikt",
    "tokenizers": "hf",
    "tokenizers-1": "hf1",
    "toktok-rs": "tokt",
    "bpe-openai": "bpeo",
}
"""Short names of peers whose first four letters are ambiguous."""
STYLE = """text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;\
font-size:14px;fill:#1f2328}.s{font-size:12px;fill:#59636e}.h{font-weight:600}\
.e{text-anchor:end}.m{text-anchor:middle}"""
DARK = "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.c9{fill:#30363d}}"


def heat_map(results: Iterable[Result], subtitle: str) -> str:
    """Return the SVG of the matrix; `subtitle` names the machine and the date.

    Each row is a text of a vocabulary, and each column is an entry of matrix.COLUMNS. Some shapes,
    for example "load", have no texts; a cell of such a shape spans all rows of the vocabulary. Each
    cell shows the ratio and the best peer. The tooltip has the times of pretok and of this peer.
    """
    all_cells = cells(results)
    rows = _rows(all_cells)
    columns, width = _columns(all_cells)
    height = max((end for _, end in rows.values()), default=TOP) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" aria-labelledby="title desc">',
        '<title id="title">pretok against the best peer of each cell</title>',
        f'<desc id="desc">{escape(subtitle)}. Times as fast as the best peer, for each vocabulary, '
        "text and shape of call.</desc>",
        f"<style>{STYLE}{_color_styles()}{DARK}</style>",
        *_headings(columns),
        *_names(rows),
        *(
            _cell(cell, columns[cell.what], *rows[cell.subject, cell.text])
            for cell in all_cells
            if (cell.subject, cell.text) in rows
        ),
        *_legend(height - FOOT + 24, sorted({cell.peer for cell in all_cells} - {""}), subtitle),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def color_of(ratio: float | None) -> int:
    """Return the number of BOUNDS that `ratio` reaches, an index of COLORS; for None, MUTED."""
    return MUTED if ratio is None else sum(ratio >= bound for bound in BOUNDS)


def _rows(all_cells: Sequence[Cell]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the top and bottom of each row, by vocabulary and text.

    The text "" stands for all rows of a vocabulary.
    """
    texts: dict[str, dict[str, None]] = {}
    for cell in all_cells:
        row_texts = texts.setdefault(cell.subject, {})
        if cell.text:
            row_texts[cell.text] = None
    rows: dict[tuple[str, str], tuple[int, int]] = {}
    top = TOP
    for subject, row_texts in texts.items():
        start = top
        for text in row_texts or ("",):
            rows[subject, text] = (top, top + HEIGHT)
            top += HEIGHT
        rows[subject, ""] = (start, top)
        top += GAP
    return rows


def _columns(all_cells: Sequence[Cell]) -> tuple[dict[str, int], int]:
    """Return the left edge of each column, and the width of the picture.

    The picture is wide enough for the legend, even if it has few columns.
    """
    present = {cell.what for cell in all_cells}
    columns: dict[str, int] = {}
    left = LEFT
    for _, whats in groupby((w for w in COLUMNS if w in present), lambda w: COLUMNS[w][0]):
        for what in whats:
            columns[what] = left
            left += WIDTH
        left += GAP
    return columns, max(left + GAP, LEFT + 8 * WIDTH)


def _headings(columns: dict[str, int]) -> Iterator[str]:
    """Yield a heading for each shape, and below it a subheading for each column of the shape."""
    for shape, group in groupby(columns, lambda what: COLUMNS[what][0]):
        whats = list(group)
        middle = (columns[whats[0]] + columns[whats[-1]] + WIDTH) / 2
        yield _text(middle, TOP - 28, shape, "h m")
        for what in whats:
            yield _text(columns[what] + WIDTH / 2, TOP - 8, COLUMNS[what][1], "s m")


def _names(rows: dict[tuple[str, str], tuple[int, int]]) -> Iterator[str]:
    """Yield the names of vocabularies and texts, at the left of their rows."""
    for (subject, text), (start, end) in rows.items():
        if text:
            yield _text(LEFT - 8, (start + end) / 2 + 4, text[:13], "s e")
        else:
            yield _text(8, start + HEIGHT / 2 + 4, subject[:14], "h")


def _cell(cell: Cell, left: int, top: int, bottom: int) -> str:
    """Return the SVG of `cell`, with these edges."""
    color = color_of(cell.ratio)
    middle = (top + bottom) / 2 + 5
    tooltip = f"{place(cell)}: pretok {cost(cell.result, OURS)}"
    if cell.ratio is None:
        body = _text(left + WIDTH / 2, middle, "\u2013", "s m")
        tooltip += ", no peer"
    else:
        tooltip += f", {cell.peer} {cost(cell.result, cell.peer)}, {cell.ratio:.2f} times as fast"
        ratio = f"{cell.ratio:.2f}" if cell.ratio < 9.95 else f"{cell.ratio:.0f}"
        body = _text(left + 39, middle, ratio, f"h e t{color}")
        body += _text(left + 44, middle, _short(cell.peer), f"s t{color}")
    return (
        f'<g><title>{escape(tooltip)}</title><rect class="c{color}" x="{left}" y="{top}" '
        f'width="{WIDTH - 1}" height="{bottom - top - 1}" rx="2"/>{body}</g>'
    )


def _short(peer: str) -> str:
    return SHORT.get(peer, peer[:4])


def _legend(top: float, peers: Sequence[str], subtitle: str) -> Iterator[str]:
    """Yield a box of each color with its bound, then the names of peers, and the subtitle."""
    names = ", ".join(f"{_short(peer)} = {peer}" for peer in peers)
    yield _text(8, top + 21, f"Best peer: {names}" if peers else "", "s")
    yield _text(8, top + 39, subtitle, "s")
    left = LEFT
    yield _text(left - 8, top, "times as fast as the best peer", "s e")
    bounds = (f"<{BOUNDS[0]:g}", *(f"{bound:g}+" for bound in BOUNDS))
    for color, bound in enumerate(bounds):
        yield f'<rect class="c{color}" x="{left}" y="{top - 13}" width="44" height="18" rx="2"/>'
        yield _text(left + 22, top, bound, f"s m t{color}")
        left += 46


def _color_styles() -> str:
    """Return the CSS of the classes c0, c1, … (fill colors) and t0, t1, … (text colors)."""
    styles = (
        f".c{number}{{fill:{fill}}}text.t{number}{{fill:{text}}}"
        for number, (fill, text) in enumerate(COLORS)
    )
    return "".join(styles) + f".c{MUTED}{{fill:#eaeef2}}"


def _text(x: float, y: float, content: str, css_class: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{css_class}">{escape(content)}</text>'
