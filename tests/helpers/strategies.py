"""Hypothesis strategies that several test modules share."""

from __future__ import annotations

from functools import reduce
from operator import or_

import regex
from hypothesis import strategies as st

from pretok.charsets import sets
from pretok.charsets.alphabet import partition
from pretok.charsets.sets import CharSet, code_points
from pretok.errors import DefinitionError
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    BEFORE_NEWLINE,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Rule,
    Run,
    Spaces,
)

NAMED: dict[str, CharSet] = {
    name: value
    for name, value in vars(sets).items()
    if isinstance(value, CharSet) and name != "NOTHING"
}
# Bounds of random ranges: in ASCII and at its end, in other scripts, surrogates, ends of planes.
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

# Building blocks of the sets of random rules, each with its notation in a regex class [...].
PARTS: tuple[tuple[CharSet, str], ...] = (
    (sets.LETTER, r"\p{L}"),
    (sets.UPPER, r"\p{Lu}\p{Lt}"),
    (sets.LOWER, r"\p{Ll}"),
    (sets.CASELESS, r"\p{Lm}\p{Lo}"),
    (sets.MARK, r"\p{M}"),
    (sets.NUMBER, r"\p{N}"),
    (sets.PUNCTUATION, r"\p{P}"),
    (sets.WHITE_SPACE, r"\s"),
    (sets.NEWLINE, r"\r\n"),
    (sets.SPACE, " "),
    (code_points("a-b"), "a-b"),
    (code_points("/"), "/"),
    (code_points("'"), "'"),
    (code_points((0x3000, 0x4E00)), "\u3000-\u4e00"),
)
RULE_LETTERS = "aabBsStT1 1/.'' \n\r\t\u3000\u4e00\u4e01\u0301\u017f\u212a\u02b0"
"""Letters of random texts: members of every union of PARTS, and non-members of nearly every one."""
THROUGHS = {
    END_OF_TEXT: r"\s++\Z",
    LAST_NEWLINE: r"\s*[\r\n]+",
    ALL_BUT_LAST: r"\s+(?!\S)",
    ALL: r"\s+",
    BEFORE_NEWLINE: r"[^\S\r\n]+(?!\S)",
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
    # Not (?i:...), because `regex` 2026.11.15 then misses matches that begin with U+017F if the
    # pattern also has a class such as [^\p{Lu}].
    fold = ANY_CASE if ignore_case else {}
    pattern = "|".join("'" + "".join(fold.get(c, c) for c in suffix) for suffix in suffixes)
    return Contraction(*suffixes, ignore_case=ignore_case), f"(?:{pattern})"


LITERALS = ("a", "ab", " ", "  ", "\n", "1.", "1/", "'", "..", "\u4e00a")


@st.composite
def _literals(draw: st.DrawFn) -> tuple[Rule, str]:
    """Draw a Literal, which is always a valid rule.

    Other strategies return a Literal if their drawn sets make no valid rule. They do not use
    `assume`, because in several rules it would reject most examples.
    """
    texts = draw(st.lists(st.sampled_from(LITERALS), min_size=1, max_size=3))
    return Literal(*texts), f"(?:{'|'.join(map(regex.escape, texts))})"


@st.composite
def _runs(draw: st.DrawFn) -> tuple[Rule, str]:
    body, lead, tail = draw(_sets), draw(st.none() | _sets), draw(st.none() | _sets)
    at_most = draw(st.sampled_from([None, None, 1, 2, 3]))
    at_least = min(draw(st.sampled_from([1, 1, 1, 2, 3])), at_most or 3)
    required = lead is not None and draw(st.sampled_from([False, False, True]))
    # With these options, Run refuses a lead that shares code points with the body.
    if lead and (at_most or at_least > 1 or required):
        lead = (lead[0] - body[0], f"(?!{body[1]}){lead[1]}")
        if not lead[0]:
            return draw(_literals())
    tail_at_most = draw(st.sampled_from([None, None, 1, 2])) if tail else None
    rule = Run(
        body[0],
        lead and lead[0],
        at_most,
        tail and tail[0],
        at_least,
        lead_required=required,
        tail_at_most=tail_at_most,
    )
    begin = f"(?:{lead[1]}){'?' * (not required)}" if lead else ""
    end = f"{tail[1]}{{0,{tail_at_most or ''}}}" if tail else ""
    return rule, f"{begin}{body[1]}{{{at_least},{at_most or ''}}}{end}"


@st.composite
def _enclosed(draw: st.DrawFn) -> tuple[Rule, str]:
    before, after = draw(st.sampled_from(LITERALS)), draw(st.sampled_from(LITERALS))
    ends = {before[0], after[0]}
    chars, inside = draw(_sets)
    for end in ends:
        chars -= code_points(end)
    if not chars:
        return draw(_literals())
    at_least, at_most = draw(st.sampled_from([(1, None), (1, 2), (2, 3), (2, None)]))
    body = f"(?:(?![{regex.escape(''.join(sorted(ends)))}]){inside}){{{at_least},{at_most or ''}}}"
    rule = Enclosed(before, chars, after, at_most, at_least)
    return rule, f"{regex.escape(before)}{body}{regex.escape(after)}"


@st.composite
def _groups(draw: st.DrawFn) -> tuple[Rule, str]:
    (body, one), stop = draw(_sets), draw(st.none() | _sets)
    size = draw(st.integers(1, 3))
    at_least = draw(st.integers(1, size))
    behind = f"(?:{one}|{stop[1]})" if stop else one
    pattern = f"{one}{{{at_least},{size}}}(?=(?:{one}{{{size}}})*+(?!{behind}))"
    return Groups(body, size, at_least, stop and stop[0]), pattern


@st.composite
def _phrases(draw: st.DrawFn) -> tuple[Rule, str]:
    start, rest, joint = draw(_sets), draw(_sets), draw(_sets)
    lead = draw(st.none() | _sets)
    joint = (joint[0] - start[0] - rest[0], f"(?!{start[1]}|{rest[1]}){joint[1]}")
    if lead:
        lead = (lead[0] - start[0], f"(?!{start[1]}){lead[1]}")
    if not joint[0] or (lead and not lead[0]):
        return draw(_literals())
    begin = f"(?:{lead[1]})?" if lead else ""
    # Words may follow each other without a joint, so a start may come anywhere in a run.
    pattern = f"{begin}{start[1]}(?:{start[1]}|{rest[1]}|{joint[1]}{start[1]})*+"
    return Phrase(start[0], rest[0], joint[0], lead and lead[0]), pattern


@st.composite
def _cased_words(draw: st.DrawFn) -> tuple[Rule, str]:
    no_apostrophe = (~code_points("'"), "(?!')")
    upper, lower, lead = draw(_sets), draw(_sets), draw(st.none() | _sets)
    suffix = draw(st.none() | _contractions())
    upper, lower = ((part[0] & no_apostrophe[0], f"(?!'){part[1]}") for part in (upper, lower))
    if not (upper[0] and lower[0]):
        return draw(_literals())
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
) | st.sampled_from(
    [
        (Spaces(ALL_BUT_LAST, 2), r"\s{1,2}(?!\S)"),
        (Spaces(ALL_BUT_LAST, 3, 3), r"\s{3}(?!\S)"),
        (Spaces(ALL, 3, 2), r"\s{2,3}"),
    ]
)
_ungrouped = (
    _runs() | _runs() | _contractions() | _cased_words() | _spaces
    | _literals() | _enclosed() | _phrases()
)  # fmt: skip


@st.composite
def _any_rules(draw: st.DrawFn) -> list[tuple[Rule, str]]:
    rules = draw(st.lists(_ungrouped, min_size=1, max_size=5))
    if draw(st.sampled_from([False, False, True])):
        rules.insert(draw(st.integers(0, len(rules))), draw(_groups()))
    return longest_start_that_compiles(rules)


def longest_start_that_compiles(rules: list[tuple[Rule, str]]) -> list[tuple[Rule, str]]:
    """Drop rules from the end until the rest has at most 31 classes of code points.

    `assume` would reject many examples, until hypothesis gives up; dropping rules does not. One
    rule always compiles: it has at most four sets, or three sets and eleven letters of a
    contraction.
    """
    while len(rules) > 1:
        try:
            partition(chars for rule, _ in rules for chars in rule.sets())
        except DefinitionError:
            rules = rules[:-1]
        else:
            break
    return rules


any_rules: st.SearchStrategy[list[tuple[Rule, str]]] = _any_rules()
"""Lists of rules, each with the equivalent regex. A list has at most 31 classes of code points."""
