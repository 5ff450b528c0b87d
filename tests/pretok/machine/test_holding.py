"""Holding: a pre-token holds no text that Holding excludes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok.machine.holding import ANY, Holding, Place
from pretok.stage import Stage
from strategies import any_rules
from support import PRESET_NAMES, max_examples, seeded

LETTERS = "aabBsStTlLrReE1 12/.'' \n\r\t\u3000\u4e00\u4e01\u0301\u017f\u212a\u02b0,!-<>_é\u0e01|[x]"


def check(tok: pretok.PreTokenizer, random: Random, rounds: int) -> None:
    """Check the parts of the pre-tokens of random texts."""
    holding = Holding(tok.preset.stages, tok.unicode)
    for _ in range(rounds):
        text = "".join(random.choices([*random.choices(LETTERS, k=3), *LETTERS], k=12))
        for pre_token in tok.split(text):
            start = random.randrange(len(pre_token))
            part = pre_token[start : random.randint(start + 1, len(pre_token))]
            assert holding.may_hold(part), (text, pre_token, part)
            at = random.randrange(len(part))
            some: list[Place] = [ANY, frozenset(part[at] + random.choice(LETTERS))]
            place = random.choice(some)
            assert holding.may_hold([*part[:at], place, *part[at + 1 :]]), (text, part, place)


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_presets(name: str) -> None:
    tok = pretok.get(name)
    if not tok.preset.drops_text:
        check(tok, seeded(f"holding of {name}"), 4 * max_examples(30))


@settings(max_examples=max_examples(30))
@given(any_rules, st.integers(0, 1 << 30))
def test_any_rules(rules: list[tuple[pretok.Rule, str]], seed: int) -> None:
    preset = pretok.Preset("any", stages=[Stage(tuple(rule for rule, _ in rules))])
    check(pretok.PreTokenizer(preset), Random(seed), 40)


def test_known_texts() -> None:
    def held(name: str, *texts: str) -> list[bool]:
        tok = pretok.get(name)
        holding = Holding(tok.preset.stages, tok.unicode)
        return [holding.may_hold(text) for text in texts]

    assert held("gpt2", "don", "n't", "'t", "t ", " a", "  a", "a1", "11", "\n ") == [
        True, False, True, False, True, False, False, True, True,
    ]  # fmt: skip
    assert held("cl100k", "1234", "123", " 1", "\n ", " \n", ".\n\n", "\n.") == [
        False, True, False, True, True, True, False,
    ]  # fmt: skip
    assert held("o200k", "aB", "Ba", "a'", "a'Ll", "'Lla", "/\n") == [
        False, True, True, True, True, True,
    ]  # fmt: skip
