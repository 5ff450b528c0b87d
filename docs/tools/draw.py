"""Draw the pictures of the site, from the results of pretok and bpe.

python docs/tools/draw.py            # rewrite docs/pictures/

Lines and text have the color of the page they are on. Areas have the colors of Okabe and Ito, which
color-blind readers can tell apart, and no picture needs colors to be understood.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

import bpe
import pretok

DOCS = Path(__file__).resolve().parents[1]
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
WIDTH = ' stroke-width="1.5"'
GREY = "#767676"
"""The color where no page gives another: it is readable on white and on black."""


def pictures() -> dict[str, str]:
    """Return the pictures by their names."""
    return {
        "merges.svg": merges(),
        "vocabulary-size.svg": vocabulary_size(),
        "pipeline.svg": pipeline(),
        "boundaries.svg": boundaries(),
        "segments.svg": segments(),
        "checks.svg": checks(),
    }


def svg(width: float, height: float, parts: Iterable[str]) -> str:
    """Return a picture of the parts."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" color="{GREY}" fill="currentColor" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">\n'
        f"{body}\n</svg>\n"
    )


def text(x: float, y: float, content: str, anchor: str = "middle", size: float = 14) -> str:
    """Return a line of text; `y` is its middle."""
    return (
        f'<text x="{x:g}" y="{y + size * 0.35:g}" text-anchor="{anchor}" font-size="{size:g}" '
        f'xml:space="preserve">{escape(content)}</text>'
    )


def box(x: float, y: float, width: float, height: float, color: str, content: str = "") -> str:
    """Return a box with a text in its middle."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{color}" '
        f'fill-opacity="0.25" stroke="{color}"{WIDTH}/>'
        + (text(x + width / 2, y + height / 2, content) if content else "")
    )


def line(points: Sequence[tuple[float, float]], color: str = "currentColor", more: str = "") -> str:
    """Return a line through the points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{color}"{more or WIDTH}/>'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return an arrow, horizontal or vertical."""
    if y == to_y:
        head = [(to_x - 6, to_y - 4), (to_x, to_y), (to_x - 6, to_y + 4)]
    else:
        head = [(to_x - 4, to_y - 6), (to_x, to_y), (to_x + 4, to_y - 6)]
    return line([(x, y), (to_x, to_y)]) + line(head)


def merges() -> str:
    """Draw aaabdaaabac before and after each merge."""
    content = "aaabdaaabac"
    parts = []
    colors = {1: GREY, 2: BLUE, 3: ORANGE, 4: GREEN}
    for row, size in enumerate((256, 257, 258, 259)):
        tok = bpe.train([content], vocab_size=size, preset="gpt2", tie_break="first-seen")
        y = 10 + row * 46
        tokens = tok.tokens(content)
        if row:
            left, right = (part.decode() for part in tok.merges[-1])
            parts.append(text(10, y + 15, f"{left} + {right}", "start"))
        for token in tokens:
            width = (token.end - token.start) * 34 - 4
            color = colors[len(token.bytes)]
            parts.append(box(110 + token.start * 34, y, width, 30, color, token.bytes.decode()))
        parts.append(text(500, y + 15, f"{len(tokens)} tokens", "start"))
    return svg(600, 186, parts)


def vocabulary_size() -> str:
    """Draw bytes per token over the size of a vocabulary."""
    content = (DOCS / "tutorial" / "sample.txt").read_text(encoding="utf-8")
    train, unseen = content[:30000], content[30000:]
    sizes = (256, 500, 750, 1000, 1500, 2000, 2500)
    ratios = []
    for size in sizes:
        tok = bpe.train([train], vocab_size=size, preset="gpt2")
        ratios.append([len(part.encode()) / tok.count(part) for part in (train, unseen)])

    def at(size: float, ratio: float) -> tuple[float, float]:
        return 60 + size * 0.14, 290 - ratio * 65

    parts = [line([at(0, 4), at(0, 0), at(3100, 0)])]
    for size in range(0, 3001, 500):
        x, y = at(size, 0)
        parts += [line([(x, y), (x, y + 5)]), text(x, y + 16, f"{size:,}", size=12)]
    for ratio in range(5):
        x, y = at(0, ratio)
        parts += [line([(x - 5, y), (x, y)]), text(x - 10, y, str(ratio), "end", 12)]
    parts += [text(280, 328, "tokens in the vocabulary"), text(10, 12, "bytes per token", "start")]
    names = ("training text", BLUE, ""), ("unseen text", ORANGE, ' stroke-dasharray="6 4"')
    for which, (name, color, dash) in enumerate(names):
        points = [at(size, ratio[which]) for size, ratio in zip(sizes, ratios, strict=True)]
        parts.append(line(points, color, f' stroke-width="2.5"{dash}'))
        parts += [f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{color}"/>' for x, y in points]
        parts.append(text(points[-1][0] + 10, points[-1][1], name, "start"))
    return svg(610, 340, parts)


def pipeline() -> str:
    """Draw the steps from text to ids, with an example."""
    steps = (
        ("text", ["I'm 25<|endoftext|>"], "what the caller passes"),
        ("normalize", ["I'm 25<|endoftext|>"], "only if the vocabulary says so"),
        ("added tokens", ["I'm 25", "<|endoftext|>"], "found before the split"),
        ("split", ["I", "'m", " ", "25", "<|endoftext|>"], "pre-tokens"),
        ("cache", ["I", "'m", " ", "25", "<|endoftext|>"], "ids of frequent pre-tokens"),
        ("merge", ["I", "'m", " ", "25", "<|endoftext|>"], "the ids of all others"),
        ("ids", ["40", "2846", "220", "914", "100257"], "what the caller gets"),
    )
    parts = []
    for row, (name, cells, remark) in enumerate(steps):
        y = 10 + row * 56
        parts.append(box(10, y, 130, 34, BLUE if 0 < row < 6 else GREY, name))
        if row < len(steps) - 1:
            parts.append(arrow(75, y + 34, 75, y + 54))
        x = 170.0
        for cell in cells:
            width = 16 + 8.6 * len(cell)
            color = PINK if cell in ("<|endoftext|>", "100257") else GREEN if row > 2 else ORANGE
            parts.append(box(x, y + 2, width, 30, color, cell.replace(" ", "␣")))
            x += width + 6
        parts.append(text(500, y + 17, remark, "start", 13))
    return svg(750, 400, parts)


def boundaries() -> str:
    """Draw how relations between neighbors become boundaries; boundaries.hpp has the same text."""
    content = "I ate  12345 !"
    rows = (
        ("BOUNDARY", "11...1.1....1."),
        ("SPACE_PAIR", "......1......."),
        ("LENGTH_LIMITED", "........1111.."),
        ("after \\p{N}{1,3}", "..........1..."),
        ("last space", "......1......."),
    )
    found = "".join("1" if any(row[at] == "1" for _, row in rows[:1] + rows[3:]) else "."
                    for at in range(len(content)))  # fmt: skip
    starts = pretok.get("cl100k").offsets(content).tolist()
    assert [at for at, bit in enumerate(found) if bit == "1"] == starts[:-1]
    parts = []
    for at, char in enumerate(content):
        parts.append(box(170 + at * 34, 10, 30, 30, GREY, char.replace(" ", "␣")))
    for row, (name, bits) in enumerate((*rows, ("boundaries", found))):
        y = 60 + row * 36 + (12 if row > 2 else 0) + (12 if row > 4 else 0)
        parts.append(text(160, y + 13, name, "end"))
        for at, bit in enumerate(bits):
            color = (BLUE, BLUE, BLUE, ORANGE, ORANGE, GREEN)[row]
            parts.append(
                box(170 + at * 34, y, 30, 26, color, "1")
                if bit == "1"
                else text(185 + at * 34, y + 13, "·")
            )
    y = 310
    for start, end in pairwise(starts):
        cell = content[start:end].replace(" ", "␣")
        parts.append(box(170 + start * 34, y, (end - start) * 34 - 4, 30, GREEN, cell))
    parts.append(text(160, y + 15, "pre-tokens", "end"))
    return svg(660, 350, parts)


def segments() -> str:
    """Draw the barriers in a long pre-token, and the segments between them."""
    content = "我爱中国和美国"
    cuts = [0, 1, 2, 4, 5, 7]  # if only 中 with 国, and 美 with 国, may merge
    parts = [text(150, 25, "pre-token", "end"), text(150, 85, "segments", "end")]
    parts.append(box(160, 10, len(content) * 44 - 4, 30, GREY, content))
    for start, end in pairwise(cuts):
        x = 160 + start * 44
        parts.append(box(x, 70, (end - start) * 44 - 4, 30, GREEN, content[start:end]))
        if start:
            parts.append(line([(x - 2, 44), (x - 2, 104)], ORANGE, ' stroke-dasharray="4 3"'))
    parts += [arrow(312, 104, 312, 124), box(222, 126, 180, 30, BLUE, "look-up in batches")]
    return svg(490, 166, parts)


def checks() -> str:
    """Draw which implementations are compared with which."""
    top = ("tiktoken", "Hugging Face tokenizers", "regex")
    parts = []
    for at, name in enumerate(top):
        parts.append(box(10 + at * 216, 10, 200, 34, PINK, name))
        parts.append(arrow(110 + at * 216, 44, 110 + at * 216, 84))
    parts.append(
        box(10, 86, 632, 34, ORANGE, "rules in Python: the machine in which the first match wins")
    )
    parts.append(arrow(326, 120, 326, 160))
    parts.append(box(10, 162, 632, 34, ORANGE, "the same rules in C++"))
    for at, name in enumerate(("AVX-512", "AVX2", "NEON", "plain C++")):
        parts.append(arrow(82 + at * 162, 196, 82 + at * 162, 236))
        parts.append(box(10 + at * 162, 238, 146, 34, BLUE, name))
    parts.append(text(326, 290, "the fast path of each instruction set", size=13))
    return svg(652, 306, parts)


def main() -> None:
    """Write the pictures."""
    for name, picture in pictures().items():
        (DOCS / "pictures" / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
