"""PairCuts: a text may be cut where it says so, whatever is around the place."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok.machine.pair_cuts import PairCuts
from pretok.preset import Preset
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
        (True, False), (False, True), (False, True), (False, False), (False, True),
        (False, False), (False, False), (False, False),
    ]  # fmt: skip
    assert pairs("llama3", "d ", "do", "  ", "12", "\nd", ".d") == [
        (True, False), (False, True), (False, False), (False, False), (True, False),
        (False, False),
    ]  # fmt: skip


@settings(max_examples=max_examples(8))
@given(rules=any_rules, seed=st.integers(0, 99))
def test_random_rules(rules: list[tuple[pretok.Rule, str]], seed: int) -> None:
    for stages in ([rules], [rules[:1], rules[1:]] if len(rules) > 1 else [rules]):
        made = [Stage(tuple(rule for rule, _ in stage)) for stage in stages]
        tok = pretok.PreTokenizer(Preset("random", stages=made))
        cuts = PairCuts(tok.preset.stages, tok.unicode)
        check(tok, cuts.is_cut, Random(seed), joins=False)
        check(tok, cuts.is_joint, Random(seed), joins=True)
