"""PairCuts: a text may be cut where it says so, whatever is around the place."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import chain, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok.charsets import sets
from pretok.machine.pair_cuts import PairCuts
from pretok.preset import Preset
from pretok.rules import (
    ALL,
    ALL_BUT_LAST,
    BEFORE_NEWLINE,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Groups,
    Literal,
    Run,
    Spaces,
)
from pretok.stage import Stage
from strategies import any_rules
from support import PRESET_NAMES, max_examples, seeded

LETTERS = "aabBsStTlLrReE1 12/.'' \n\r\t\u3000\u4e00\u4e01\u0301\u017f\u212a\u02b0,!-<>_é\u0e01|[x]"


def check(
    tok: pretok.PreTokenizer, proves: Callable[[str, str], bool], random: Random, joins: bool
) -> int:
    """Split random texts at proven places; return the number of texts.

    If `joins`, the whole text may have one pre-token that holds both sides of the place.
    """
    letters = sorted(set(LETTERS))
    pairs = [(a, b) for a in letters for b in letters if proves(a, b)]
    rounds = min(8 * max_examples(30), 300) if pairs else 0
    for _ in range(rounds):
        before, after = random.choice(pairs)
        start = "".join(random.choices(LETTERS, k=random.randrange(9))) + before
        end = after + "".join(random.choices([after, *LETTERS], k=random.randrange(9)))
        left, right, whole = tok.split(start), tok.split(end), tok.split(start + end)
        joined = [*left[:-1], left[-1] + right[0], *right[1:]]
        assert whole in ([left + right, joined] if joins else [left + right]), (start, end)
    return rounds


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_presets(name: str) -> None:
    tok = pretok.get(name)
    cuts = PairCuts(tok.preset.stages, tok.unicode)
    random = seeded(f"pairs of {name}")
    tried = check(tok, cuts.is_cut, random, joins=False)
    check(tok, cuts.is_joint, random, joins=True)
    assert tried or name in ("exaone-moe", "chameleon"), "no pair is known to be a cut"


def test_known_pairs() -> None:
    def pairs(name: str, *texts: str) -> list[tuple[bool, bool]]:
        tok = pretok.get(name)
        cuts = PairCuts(tok.preset.stages, tok.unicode)
        return [(cuts.is_cut(*text), cuts.is_joint(*text)) for text in texts]

    assert pairs("gpt2", "d ", "do", "  ", " d", "12", "\nd", "'s", "re") == [
        (True, True), (False, True), (False, True), (False, False), (False, True),
        (False, False), (False, False), (False, False),
    ]  # fmt: skip
    assert pairs("llama3", "d ", "do", "  ", "12", "\nd", ".d") == [
        (True, True), (False, True), (False, False), (False, False), (True, True),
        (False, False),
    ]  # fmt: skip
    assert pairs("cl100k", "\nd", " d") == [(True, True), (False, False)]
    assert pairs("qwen2", "12") == [(True, True)]
    assert pairs("deepseek-llm", "d ", "do", "..", ". ", "  ", "\nd") == [
        (True, True), (False, True), (False, True), (True, True), (False, False), (True, True),
    ]  # fmt: skip
    cased = CasedWord(sets.UPPER, sets.LOWER)
    digits = Groups(sets.NUMBER, 3, unless_before=WORD)
    cut_pairs: dict[str, tuple[pretok.Rule, ...]] = {
        "1a": (Groups(sets.NUMBER, 3), Run(WORD)),
        "1,": (digits, Run(sets.PUNCTUATION)),
        "a1": (Literal("1", "b"),),
        "!a": (digits, Run(WORD)),
        " 1": (Groups(sets.NUMBER, 3),),
        "a ": (Spaces(ALL),),
        " a": (cased,),
        " A": (cased,),
        "A1": (cased, Run(sets.NUMBER)),
        "1A": (cased, Run(sets.NUMBER)),
        "\n1": (Run(WORD, tail=SIGNS), Run(SIGNS)),
    }
    for pair, rules in cut_pairs.items():
        assert PairCuts([Stage(rules)], "16.0").is_cut(*pair), pair
    joints: dict[str, tuple[pretok.Rule, ...]] = {
        "  ": (Spaces(END_OF_TEXT), Spaces(ALL_BUT_LAST), Spaces(ALL)),
        "bc": (CasedWord(sets.UPPER, sets.LOWER, suffix=Contraction("aa")),),
    }
    for pair, rules in joints.items():
        assert PairCuts([Stage(rules)], "16.0").is_joint(*pair), pair


@settings(max_examples=max_examples(8))
@given(rules=any_rules, seed=st.integers(0, 99))
def test_random_rules(rules: list[tuple[pretok.Rule, str]], seed: int) -> None:
    for stages in ([rules], [rules[:1], rules[1:]] if len(rules) > 1 else [rules]):
        made = [Stage(tuple(rule for rule, _ in stage)) for stage in stages]
        tok = pretok.PreTokenizer(Preset("random", stages=made))
        cuts = PairCuts(tok.preset.stages, tok.unicode)
        check(tok, cuts.is_cut, Random(seed), joins=False)
        check(tok, cuts.is_joint, Random(seed), joins=True)


WORD = sets.LETTER
SIGNS = sets.OTHER | sets.NUMBER
ENDS = (Spaces(END_OF_TEXT), Spaces(LAST_NEWLINE), Spaces(ALL_BUT_LAST), Spaces(ALL))
# Two stages are two lists. Each stage tells apart the conditions of pair_cuts.py.
STAGES: list[list[list[pretok.Rule]]] = [
    [[Spaces(ALL)]],
    [[Spaces(ALL_BUT_LAST), Spaces(ALL)]],
    [[Spaces(ALL_BUT_LAST, at_least=2, at_most=2), Spaces(ALL)]],
    [[Spaces(BEFORE_NEWLINE), Spaces(ALL)]],
    [[Spaces(LAST_NEWLINE), Spaces(ALL)]],
    [[Spaces(ALL_BUT_LAST), Spaces(LAST_NEWLINE), Spaces(ALL)]],
    [[Spaces(ALL_BUT_LAST)]],
    [[Run(sets.NEWLINE, at_most=1), Spaces(ALL_BUT_LAST), Spaces(ALL)]],
    [[Run(sets.NEWLINE, lead=sets.SPACE), Spaces(ALL_BUT_LAST), Spaces(ALL)]],
    [[Literal(" \n"), Spaces(ALL_BUT_LAST), Spaces(ALL)]],
    [[Literal("\n\n"), Run(WORD, lead=sets.SPACE), Spaces(ALL_BUT_LAST), Spaces(ALL)]],
    [[Spaces(ALL_BUT_LAST), Run(sets.NEWLINE, at_most=1), Spaces(ALL)]],
    [[Spaces(ALL, at_least=2, at_most=2)]],
    [[*ENDS]],
    [[*ENDS[1:]]],
    [[ENDS[0], Run(WORD, lead=sets.SPACE), *ENDS[1:]]],
    [[ENDS[0], Run(sets.SPACE, at_most=1), *ENDS[1:], Run(WORD)]],
    [[Run(WORD, lead=sets.SPACE), Run(SIGNS, tail=sets.NEWLINE), *ENDS[1:]]],
    [[Run(WORD, lead=sets.SPACE, lead_required=True), Spaces(ALL)]],
    [[Run(WORD, lead=sets.SPACE), Spaces(ALL)]],
    [[Run(WORD, lead=sets.SPACE), Spaces(ALL), Spaces(ALL_BUT_LAST)]],
    [[Spaces(ALL_BUT_LAST), Run(WORD | sets.SPACE)]],
    [[Run(WORD | SIGNS, tail=SIGNS)]],
    [[Run(WORD, tail=sets.LOWER | SIGNS)]],
    [[Run(WORD, tail=SIGNS, tail_at_most=1)]],
    [[Run(WORD, tail=SIGNS), Run(SIGNS, at_most=1)]],
    [[Run(WORD, at_most=2)]],
    [[Run(WORD, at_least=2)]],
    [[Run(SIGNS, at_most=1, tail=WORD)]],
    [[Run(sets.NUMBER), Run(sets.NUMBER | WORD)]],
    [[Literal("1a"), Literal("a", "1")]],
    [[Literal("1a")]],
    [[Literal("aB"), Run(WORD)]],
    [[Groups(sets.NUMBER, 3), Run(WORD)]],
    [[Groups(sets.NUMBER, 2, at_least=2), Run(WORD)]],
    [[Groups(sets.NUMBER, 3, unless_before=WORD)]],
    [[Groups(sets.NUMBER, 3, unless_before=WORD), Run(SIGNS)]],
    [[Groups(sets.NUMBER, 2, unless_before=WORD), Run(sets.NUMBER | WORD)]],
    [[Contraction("b", ignore_case=True), Run(WORD), Run(SIGNS)]],
    [[Contraction("a"), Run(WORD), Run(SIGNS)]],
    [[CasedWord(sets.UPPER, sets.LOWER, suffix=Contraction("aa")), Run(SIGNS)]],
    [[CasedWord(sets.UPPER | sets.CASELESS, sets.LOWER | sets.CASELESS)]],
    [[CasedWord(sets.UPPER | sets.CASELESS, WORD, lead=SIGNS)]],
    [[Run(WORD)], [Run(WORD, at_most=2)]],
    [[Spaces(ALL_BUT_LAST), Spaces(ALL)], [Run(WORD, at_most=1), Run(sets.SPACE, at_most=1)]],
    [[Groups(sets.NUMBER, 3, unless_before=WORD)], [Run(WORD), Run(SIGNS, at_most=1)]],
    [[Run(sets.NUMBER, at_most=3)], [Run(WORD | sets.NUMBER), Run(SIGNS)]],
    [
        [CasedWord(sets.UPPER, sets.CASELESS, suffix=Contraction("aa"))],
        [Run(sets.LOWER, at_most=1)],
    ],
    [[Run(sets.NEWLINE)], [Run(WORD, lead=sets.SPACE)], [Run(SIGNS, lead=sets.SPACE)]],
    [[Run(WORD | sets.NUMBER)], [Groups(sets.NUMBER, 2)], [Run(sets.NUMBER, at_most=1)]],
    [[Run(WORD)], [Spaces(ALL_BUT_LAST), Spaces(ALL)], [Run(sets.UPPER), Run(sets.LOWER)]],
    [[Run(SIGNS, lead=WORD)], [Run(WORD), Run(sets.NUMBER, at_least=2)]],
    [[Spaces(LAST_NEWLINE)], [Spaces(END_OF_TEXT), Run(sets.SPACE, at_most=1)]],
]


def check_all(tok: pretok.PreTokenizer, letters: str, *longer: str) -> None:
    """Try all places of all texts of up to 4 letters, and of `longer` texts."""
    cuts = PairCuts(tok.preset.stages, tok.unicode)
    are_cuts = {pair for pair in product(letters, repeat=2) if cuts.is_cut(*pair)}
    are_joints = {pair for pair in product(letters, repeat=2) if cuts.is_joint(*pair)}
    split = cache(tok.split)
    texts = [product(letters, repeat=size) for size in range(2, 5)]
    for text in chain(map("".join, chain(*texts)), longer):
        for place in range(1, len(text)):
            pair = text[place - 1], text[place]
            if pair not in are_joints:
                assert pair not in are_cuts
                continue
            left, right = split(text[:place]), split(text[place:])
            joined = [*left[:-1], left[-1] + right[0], *right[1:]]
            expected = [left + right] if pair in are_cuts else [left + right, joined]
            assert split(text) in expected, (text, place)


@pytest.mark.parametrize("at", range(len(STAGES)))
def test_short_texts(at: int) -> None:
    stages = [Stage(tuple(rules)) for rules in STAGES[at]]
    tok = pretok.PreTokenizer(Preset("short", stages=stages))
    check_all(tok, "aB1\u4e00' \n", "B'aaB")


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_short_texts_of_presets(name: str) -> None:
    check_all(pretok.get(name), "aB1\u4e00'. \n\r", "1234567", "'LL", "a're", "12345a")


def test_other_behaviors() -> None:
    """Only stages whose matches and gaps are pre-tokens prove cuts."""
    rules = (Run(sets.LETTER), Run(sets.NUMBER))
    for behavior in ("removed", "merged_with_previous", "merged_with_next", "contiguous"):
        other = Stage(rules, behavior=behavior)
        for stages in ([other], [other, Stage(rules)]):
            cuts = PairCuts(stages, "16.0")
            assert not cuts.is_cut("a", "1")
            assert not cuts.is_joint("a", "b")
        assert PairCuts([Stage(rules), other], "16.0").is_cut("1", "a")
