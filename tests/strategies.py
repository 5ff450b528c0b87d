"""Hypothesis strategies that several test modules share."""

from __future__ import annotations

from functools import reduce
from operator import or_

from hypothesis import assume
from hypothesis import strategies as st

from pretok import classes
from pretok.classes import CharSet, code_points
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Rule,
    Run,
    Spaces,
)

NAMED: dict[str, CharSet] = {
    name: value
    for name, value in vars(classes).items()
    if isinstance(value, CharSet) and name != "NOTHING"
}
# Bounds that matter: ASCII and its end, the ends of planes, surrogates, and plain numbers.
BOUNDS = (0, 0x20, 0x27, 0x41, 0x61, 0x7A, 0x7F, 0x80, 0xFF, 0x100, 0x3000, 0x4E00, 0xD800, 0xDFFF,
          0xFFFF, 0x10000, 0x10FFFF)  # fmt: skip

ranges = st.tuples(
    st.sampled_from(BOUNDS) | st.integers(0, 0x10FFFF),
    st.sampled_from(BOUNDS) | st.integers(0, 0x10FFFF),
).map(lambda pair: (min(pair), max(pair)))
basic_sets = st.sampled_from(sorted(NAMED)).map(NAMED.__getitem__) | st.lists(
    ranges, min_size=1, max_size=3
).map(lambda found: code_points(*found))


def _combined(inner: st.SearchStrategy[CharSet]) -> st.SearchStrategy[CharSet]:
    pairs = st.tuples(inner, inner)
    return (
        pairs.map(lambda pair: pair[0] | pair[1])
        | pairs.map(lambda pair: pair[0] & pair[1])
        | pairs.map(lambda pair: pair[0] - pair[1])
        | inner.map(lambda one: ~one)
    )


char_sets = st.recursive(basic_sets, _combined, max_leaves=4)

# What the sets of random rules are made of, each with its regex inside a class.
PARTS: tuple[tuple[CharSet, str], ...] = (
    (classes.LETTER, r"\p{L}"),
    (classes.UPPER, r"\p{Lu}\p{Lt}"),
    (classes.LOWER, r"\p{Ll}"),
    (classes.CASELESS, r"\p{Lm}\p{Lo}"),
    (classes.MARK, r"\p{M}"),
    (classes.NUMBER, r"\p{N}"),
    (classes.PUNCTUATION, r"\p{P}"),
    (classes.WHITE_SPACE, r"\s"),
    (classes.NEWLINE, r"\r\n"),
    (classes.SPACE, " "),
    (code_points("a-b"), "a-b"),
    (code_points("/"), "/"),
    (code_points("'"), "'"),
    (code_points((0x3000, 0x4E00)), "\u3000-\u4e00"),
)
RULE_LETTERS = "aabBsStT1 1/.'' \n\r\t\u3000\u4e00\u4e01\u0301\u017f\u212a\u02b0"
"""Every set made of PARTS has members here, and most have non-members."""
THROUGHS = {
    END_OF_TEXT: r"\s++\Z",
    LAST_NEWLINE: r"\s*[\r\n]+",
    ALL_BUT_LAST: r"\s+(?!\S)",
    ALL: r"\s+",
}


def _joined(parts: list[tuple[CharSet, str]], inverted: bool) -> tuple[CharSet, str]:
    chars = reduce(or_, (chars for chars, _ in parts))
    inside = "".join(text for _, text in parts)
    return (~chars, f"[^{inside}]") if inverted else (chars, f"[{inside}]")


_sets = st.builds(
    _joined, st.lists(st.sampled_from(PARTS), min_size=1, max_size=3, unique=True), st.booleans()
)
ANY_CASE = {"s": "[sS\u017f]", "t": "[tT]", "b": "[bB]", "k": "[kK\u212a]"}
_suffixes = st.lists(
    st.sampled_from(["s", "t", "st", "ts", "b", "k"]), min_size=1, max_size=3, unique=True
)


@st.composite
def _contractions(draw: st.DrawFn) -> tuple[Contraction, str]:
    suffixes, ignore_case = draw(_suffixes), draw(st.booleans())
    # Not (?i:...): beside a class such as [^\p{Lu}], `regex` 2026.11.15 then misses matches that
    # begin with U+017F.
    fold = ANY_CASE if ignore_case else {}
    pattern = "|".join("'" + "".join(fold.get(c, c) for c in suffix) for suffix in suffixes)
    return Contraction(*suffixes, ignore_case=ignore_case), f"(?:{pattern})"


@st.composite
def _runs(draw: st.DrawFn) -> tuple[Rule, str]:
    body, lead, tail = draw(_sets), draw(st.none() | _sets), draw(st.none() | _sets)
    at_most = draw(st.sampled_from([None, None, 1, 2, 3]))
    if lead:  # the other part of the lead is refused
        lead = (lead[0] - body[0], f"(?!{body[1]}){lead[1]}")
        lead = lead if lead[0] else None
    rule = Run(body[0], lead and lead[0], at_most, tail and tail[0])
    times = f"{{1,{at_most}}}" if at_most else "+"
    return rule, (f"(?:{lead[1]})?" if lead else "") + body[1] + times + (
        f"{tail[1]}*" if tail else ""
    )


@st.composite
def _cased_words(draw: st.DrawFn) -> tuple[Rule, str]:
    no_apostrophe = (~code_points("'"), "(?!')")
    upper, lower, lead = draw(_sets), draw(_sets), draw(st.none() | _sets)
    suffix = draw(st.none() | _contractions())
    upper, lower = ((part[0] & no_apostrophe[0], f"(?!'){part[1]}") for part in (upper, lower))
    assume(upper[0] and lower[0])
    if lead:
        shared = f"(?={upper[1]}){lower[1]}"
        word = f"(?:{upper[1]}|{lower[1]})"
        cased = (upper[0] | lower[0]) - (upper[0] & lower[0])
        lead = (lead[0] - cased, f"(?:(?!{word})|(?={shared})){lead[1]}")
        lead = lead if lead[0] else None
    begin = f"(?:{lead[1]})?" if lead else ""
    end = f"{suffix[1]}?" if suffix else ""
    pattern = (
        f"{begin}(?:{upper[1]})*(?:{lower[1]})+{end}|{begin}(?:{upper[1]})+(?:{lower[1]})*{end}"
    )
    return CasedWord(upper[0], lower[0], lead and lead[0], suffix and suffix[0]), pattern


_spaces = st.sampled_from(sorted(THROUGHS)).map(
    lambda through: (Spaces(through), THROUGHS[through])
)
any_rules: st.SearchStrategy[list[tuple[Rule, str]]] = st.lists(
    _runs() | _runs() | _contractions() | _cased_words() | _spaces, min_size=1, max_size=5
)
"""Rules, each with the regex that it must equal."""
