"""Any preset that can be made splits alike in Python and C++, by each way that C++ has."""

from __future__ import annotations

import os
import random

import pretok
from pretok import CasedWord, CharSet, Contraction, Preset, PreTokenizer, Rule, Run, Spaces, Through
from pretok.errors import InvalidRuleError
from pretok.pretokenizer import BackendName
from strategies import NAMED

ROUNDS = int(os.environ.get("PRETOK_MAX_EXAMPLES") or 300)
SETS = [
    *NAMED.values(),
    *map(pretok.code_points, ("a-f", "/", "'", "-", "\u00c0-\u017f")),
    pretok.code_points((0x4E00, 0x9FA5)),
]
SUFFIXES = ["s", "t", "re", "ll", "k", "d", "est"]
LETTERS = (
    "aAbzZgG\u017fKk'sStTeErRlLd  \n\n\r\t\u3000\u00a0\x85/!.-_1\u0663\u00bd\u2167\u4e2d\u3005"
    "\u3007\u0301\u02b0\u01c5\u00e9\u00c9\U0001f600\u200b\x00\u029512'"
)


def _set(source: random.Random) -> CharSet:
    chars = source.choice(SETS)
    for _ in range(source.randint(0, 2)):
        other = source.choice(SETS)
        chars = source.choice([chars | other, chars & other, chars - other, ~chars])
    return chars


def _rule(source: random.Random) -> Rule:
    contraction = Contraction(
        *source.sample(SUFFIXES, source.randint(1, 4)), ignore_case=source.random() < 0.5
    )
    kind = source.randint(0, 9)
    if kind == 0:
        return contraction
    if kind < 6:
        return Run(
            _set(source),
            lead=source.choice([None, _set(source), pretok.SPACE]),
            at_most=source.choice([None, None, 1, 2, 3]),
            tail=source.choice([None, None, _set(source), pretok.NEWLINE]),
        )
    if kind < 8:
        shared = pretok.CASELESS | pretok.MARK
        return CasedWord(
            source.choice([pretok.UPPER | shared, _set(source)]),
            source.choice([pretok.LOWER | shared, _set(source)]),
            lead=source.choice([None, _set(source)]),
            suffix=source.choice([None, contraction]),
        )
    return Spaces(source.choice(list(Through)))


def _preset(source: random.Random) -> Preset:
    """A preset of rules at random, of those that are not refused."""
    rules: list[Rule] = []
    wanted = source.randint(1, 7)
    while len(rules) < wanted:
        try:
            rules.append(_rule(source))
        except InvalidRuleError:
            continue
    return Preset("random", tuple(rules))


def test_random_presets_split_alike(native: BackendName) -> None:
    tried = 0
    for seed in range(ROUNDS):
        source = random.Random(seed)
        preset = _preset(source)
        try:
            plain = PreTokenizer(preset, backend="python")
        except InvalidRuleError as error:
            if "classes of code points apart; at most" not in str(error):
                raise
            continue
        fast = PreTokenizer(preset, backend=native)
        for size in (3, 8, 20, 20, 70, 200, source.choice([10, 1500])):
            text = "".join(source.choices(LETTERS, k=size))
            wanted = plain.split(text)
            hint = f"seed {seed}, rules {preset.rules}, text {text!a}"
            assert "".join(wanted) == text, hint
            assert fast.split(text) == wanted, hint
            assert fast.split_bytes(text.encode()) == [part.encode() for part in wanted], hint
            assert [step.text for step in fast.explain(text)] == wanted, hint
            assert fast.explain(text) == plain.explain(text), hint
            tried += 1
    assert tried > ROUNDS
