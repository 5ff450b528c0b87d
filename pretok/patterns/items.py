r"""Reduce the nodes of a pattern to items: runs of sets, choices, loops and assertions.

No step changes the texts that match, or the order in which a backtracking engine tries them:

- `(?:a|[bc])` is `[abc]`, because each alternative takes one code point.
- `(?:X)` is X. `(?:X|Y)?` is the choice of X, Y and the empty text, in this order. `(?:X|Y)??` is
  the choice of the empty text, X and Y.
- `(?:S{1,n}){m,k}` for m <= 1 is `S{m,nk}`: an engine takes as many members of S as it can, and
  gives them back one by one. `(?:S+|T+)+` is `[ST]+`, and `(?:ST*)+` is `S[ST]*`, for the same
  reason.
- `(?=[ST])[TU]` is `T` if S and U are disjoint: both sets test the same code point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from pretok.charsets.sets import NOTHING, UPPER, WHITE_SPACE, CharSet, code_points, union
from pretok.patterns import ast

MAX_ITEMS = 20_000
"""Maximum items of one pattern, including the copies made for `(?:X){n}`."""
MAX_COPIES = 8
"""Maximum n in `(?:X){n}` for an X that is not one set."""
Mode = Literal["greedy", "lazy", "possessive"]


class Refusal(Exception):
    """No rules match exactly what the part of the pattern from `start` to `end` matches."""

    def __init__(self, item: Item | ast.Node, reason: str) -> None:
        super().__init__(reason)
        self.start = item.start
        self.end = item.end
        self.reason = reason


@dataclass(frozen=True)
class _Spanned:
    """An item that stands for pattern[start:end]; items at different positions may be equal."""

    start: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class Part(_Spanned):
    """`chars{low,high}`, the meaning of pattern[start:end]; no limit if `high` is None."""

    chars: CharSet
    low: int = 1
    high: int | None = 1
    mode: Mode = "greedy"

    @property
    def is_fixed(self) -> bool:
        """True if the part always takes the same number of code points."""
        return self.low == self.high


@dataclass(frozen=True)
class Choice(_Spanned):
    """`(?:X|Y|...)`: an engine tries `alternatives` in order. An alternative may be empty."""

    alternatives: tuple[Items, ...]


@dataclass(frozen=True)
class Loop(_Spanned):
    """`items` repeated `low` times or more, as often as possible."""

    items: Items
    low: int


@dataclass(frozen=True)
class Look(_Spanned):
    """An assertion about the text after the match, or an anchor.

    The assertion holds before each code point of `allowed`, and also at the end of the text if
    `at_end` is true. `allowed` is None if the assertion tests other text than the next code point.
    """

    node: ast.Node
    allowed: CharSet | None
    at_end: bool


Item = Part | Choice | Loop | Look
Items = tuple[Item, ...]

# The sets of properties that are not unions of atoms (pretok.charsets.sets). The listed code points
# are the same in every Unicode version of pretok.
_TITLE = UPPER & code_points(
    *("\u01c5", "\u01c8", "\u01cb", "\u01f2", "\u1fbc", "\u1fcc", "\u1ffc"),
    *((0x1F88, 0x1F8F), (0x1F98, 0x1F9F), (0x1FA8, 0x1FAF)),
)
_SEPARATOR = WHITE_SPACE - code_points((0x09, 0x0D), (0x85, 0x85))
_LINE_SEPARATOR, _PARAGRAPH_SEPARATOR = code_points("\u2028"), code_points("\u2029")
_PROPERTIES = {
    "Lu": UPPER - _TITLE,
    "Lt": _TITLE,
    "Z": _SEPARATOR,
    "Zs": _SEPARATOR - _LINE_SEPARATOR - _PARAGRAPH_SEPARATOR,
    "Zl": _LINE_SEPARATOR,
    "Zp": _PARAGRAPH_SEPARATOR,
    "Cc": code_points((0x00, 0x1F), (0x7F, 0x9F)),
}


class ItemMaker:
    """Makes the items of one pattern. Raises Refusal for more than MAX_ITEMS items."""

    def __init__(self) -> None:
        self._made = 0

    def of_sequence(self, sequence: ast.Sequence) -> Items:
        """Return the items of one alternative; raises Refusal if items cannot express a node."""
        items: list[Item] = []
        for term in sequence:
            for item in self._of_node(term, term):
                # An assertion about one code point and a following part of one code point test the
                # same code point. So replace both by one part.
                previous = items[-1] if items else None
                if (
                    isinstance(previous, Look)
                    and previous.allowed is not None
                    and isinstance(item, Part)
                    and item.low == item.high == 1
                ):
                    items[-1] = replace(item, chars=item.chars & previous.allowed)
                else:
                    items.append(item)
        self._count(term, len(items))
        return tuple(items)

    def _of_node(self, node: ast.Node, term: ast.Node) -> Items:
        """Return the items of `node`, which is `term` or the repeated node in `term`."""
        if isinstance(node, ast.Chars):
            return (Part(term.start, term.end, _set_of(node, term)),)
        if isinstance(node, ast.Repeat):
            return self._repeated(node, self._of_node(node.node, term), term)
        if isinstance(node, ast.Group):
            return self._group(node, term)
        return (Look(term.start, term.end, node, *_resolved(node, term)),)

    def _group(self, node: ast.Group, term: ast.Node) -> Items:
        alternatives = tuple(map(self.of_sequence, node.alternatives))
        chars = [_one(items) for items in alternatives]
        if all(each is not None for each in chars):
            return (Part(term.start, term.end, union(each for each in chars if each)),)
        if len(alternatives) == 1:
            return alternatives[0]
        return (Choice(term.start, term.end, alternatives),)

    def _repeated(self, node: ast.Repeat, items: Items, term: ast.Node) -> Items:
        low, high, mode = node.low, node.high, node.mode
        if high == 0 or not items:
            return ()
        if len(items) == 1 and isinstance(items[0], Part):
            part = _times(items[0], low, high, mode)
            if part is not None:
                return (replace(part, start=term.start, end=term.end),)
        if low == high == 1 and mode != "possessive":
            return items
        if (low, high) == (0, 1) and mode != "possessive":
            options = items[0].alternatives if _is_choice(items) else (items,)  # type: ignore[union-attr]
            ordered = (*options, ()) if mode == "greedy" else ((), *options)
            return (Choice(term.start, term.end, ordered),)
        if mode != "greedy":
            raise Refusal(term, f"no rule repeats a group with a {mode} quantifier")
        if high is None and low <= 1:
            return self._loop(items, low, term)
        if low == high and low <= MAX_COPIES:
            self._count(term, low * len(items))
            return items * low
        raise Refusal(term, "no rule counts repetitions of a group")

    def _loop(self, items: Items, low: int, term: ast.Node) -> Items:
        start, end = term.start, term.end
        if _is_choice(items):
            runs = [_run(option) for option in items[0].alternatives]  # type: ignore[union-attr]
            if all(run is not None for run in runs):
                chars = union(run for run in runs if run is not None)
                return (Part(start, end, chars, low, None),)
        if len(items) == 2 and isinstance(items[1], Part):
            first, rest = _run(items[:1]), items[1]
            if first is not None and (rest.low, rest.high, rest.mode) == (0, None, "greedy"):
                once: Items = (
                    Part(start, end, first),
                    Part(start, end, first | rest.chars, 0, None),
                )
                return once if low else (Choice(start, end, (once, ())),)
        return (Loop(start, end, items, low),)

    def _count(self, term: ast.Node, count: int) -> None:
        self._made += count
        if self._made > MAX_ITEMS:
            raise Refusal(term, f"its groups expand to more than {MAX_ITEMS:,} parts")


def _is_choice(items: Items) -> bool:
    return len(items) == 1 and isinstance(items[0], Choice)


def _one(items: Items) -> CharSet | None:
    """Return S if `items` take exactly one code point, of the set S; else None."""
    item = items[0] if len(items) == 1 else None
    is_one = isinstance(item, Part) and item.low == item.high == 1
    return item.chars if isinstance(item, Part) and is_one else None


def _run(items: Items) -> CharSet | None:
    """Return S if `items` are a greedy run `S{1,n}` of one set; else None."""
    item = items[0] if len(items) == 1 else None
    is_run = isinstance(item, Part) and item.low == 1 and item.mode == "greedy"
    return item.chars if isinstance(item, Part) and is_run else None


def _times(part: Part, low: int, high: int | None, mode: Mode) -> Part | None:
    """Return `(?:part){low,high}` as one part; None if one part cannot express it."""
    if part.low == part.high == 1:
        return replace(part, low=low, high=high, mode=mode)
    if low == high == 1 and mode == "greedy":
        return part
    if part.is_fixed:
        size = part.low * low
        return replace(part, low=size, high=size) if low == high else None
    if part.mode != "greedy" or mode != "greedy" or low > 1:
        return None
    if part.low == 1:
        most = None if part.high is None or high is None else part.high * high
        return replace(part, low=low, high=most)
    return replace(part, low=0) if (part.low, part.high) == (0, None) else None


def _set_of(chars: ast.Chars, term: ast.Node) -> CharSet:
    unknown = sorted(chars.properties - _PROPERTIES.keys())
    if unknown:
        # The parser adds " of ENGINE" to a name that only one engine may know; do not show this.
        shown = unknown[0].split(" of ")[0]
        raise Refusal(term, f"pretok has no table of the property {shown!r}")
    union_set = union([chars.chars, *(_PROPERTIES[name] for name in chars.properties)])
    return ~union_set if chars.negated else union_set


def _resolved(node: ast.Node, term: ast.Node) -> tuple[CharSet | None, bool]:
    """Return the fields `allowed` and `at_end` of the Look for the assertion `node`."""
    unresolved = None, False
    if not isinstance(node, ast.Lookahead):
        return _of_anchor(node) or unresolved
    allowed: list[CharSet] = []
    at_end = False
    for sequence in node.alternatives:
        if len(sequence) != 1:
            return unresolved
        look = _of_anchor(sequence[0]) or _first_of(sequence[0], term)
        if look is None:
            return unresolved
        allowed.append(look[0])
        at_end |= look[1]
    chars = union(allowed)
    return (~chars, not at_end) if node.negative else (chars, at_end)


def _of_anchor(node: ast.Node) -> tuple[CharSet, bool] | None:
    """Return `allowed` and `at_end` of an end anchor; None for other nodes."""
    if isinstance(node, ast.EndAnchor):
        return (code_points("\n") if node.scope == "line" else NOTHING), True
    is_end = isinstance(node, ast.EngineSpecific) and node.text == "\\z"
    return (NOTHING, True) if is_end else None


def _first_of(node: ast.Node, term: ast.Node) -> tuple[CharSet, bool] | None:
    """Return `allowed` and `at_end` of a look-ahead for one code point; None for other nodes."""
    while isinstance(node, ast.Repeat) and node.low == 1:
        node = node.node
    if isinstance(node, ast.Group) and all(len(each) == 1 for each in node.alternatives):
        looks = [_first_of(each[0], term) for each in node.alternatives]
        if all(each is not None for each in looks):
            return union(each[0] for each in looks if each), False
    return (_set_of(node, term), False) if isinstance(node, ast.Chars) else None
