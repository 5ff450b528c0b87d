"""Random presets split alike in Python and C++, with every method that splits."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pretok
from pretok import (
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Preset,
    PreTokenizer,
    Rule,
    Run,
    Spaces,
    Stage,
    Through,
)
from pretok.behaviors import BEHAVIORS
from pretok.charsets import CharSet
from pretok.errors import DefinitionError
from pretok.machine.backend import BackendName
from pretok.machine.stream import Step
from strategies import NAMED
from support import max_examples, seeded

ROUNDS = max_examples(300)
SETS = [
    *NAMED.values(),
    *map(pretok.charsets.code_points, ("a-f", "/", "'", "-", "\u00c0-\u017f")),
    pretok.charsets.code_points((0x4E00, 0x9FA5)),
]
LITERALS = ["a", "Aa", "  ", "\n\n", "1.", "'s", "\u4e2d"]
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
    kind = source.randint(0, 13)
    if kind == 0:
        return contraction
    if kind < 6:
        return Run(
            _set(source),
            lead=source.choice([None, _set(source), pretok.charsets.SPACE]),
            at_most=source.choice([None, None, 1, 2, 3]),
            tail=source.choice([None, None, _set(source), pretok.charsets.NEWLINE]),
            at_least=source.choice([1, 1, 1, 2]),
            lead_required=source.random() < 0.1,
            tail_at_most=source.choice([None, None, None, 1]),
        )
    if kind < 8:
        shared = pretok.charsets.CASELESS | pretok.charsets.MARK
        return CasedWord(
            source.choice([pretok.charsets.UPPER | shared, _set(source)]),
            source.choice([pretok.charsets.LOWER | shared, _set(source)]),
            lead=source.choice([None, _set(source)]),
            suffix=source.choice([None, contraction]),
        )
    if kind == 8:
        return Literal(*source.choices(LITERALS, k=source.randint(1, 3)))
    if kind == 9:
        before, after = source.choices(LITERALS, k=2)
        return Enclosed(before, _set(source), after, source.choice([None, 2]))
    if kind == 10:
        return Groups(_set(source), 3, source.choice([1, 3]), source.choice([None, _set(source)]))
    if kind == 11:
        return Phrase(
            pretok.charsets.LETTER,
            source.choice([pretok.charsets.MARK, _set(source)]),
            source.choice([pretok.charsets.SPACE, _set(source)]),
            source.choice([None, _set(source)]),
        )
    through = source.choice(list(Through))
    at_most = source.choice([1, 3]) if through.name in ("ALL_BUT_LAST", "ALL") else None
    return Spaces(through, source.choice([None, at_most]))


def _preset(source: random.Random) -> Preset:
    """Return a random preset of one to three stages."""
    stages: list[Stage] = []
    wanted = source.choice([1, 1, 2, 3])
    while len(stages) < wanted:
        behavior = source.choice(["isolated", "isolated", *BEHAVIORS])
        try:
            stages.append(Stage(_rules(source), "", behavior, source.random() < 0.1))
        except DefinitionError as error:
            if "at most one Groups rule" not in str(error):
                raise
    return Preset("random", stages=stages)


def _rules(source: random.Random) -> tuple[Rule, ...]:
    """Return one to seven random rules. Draws again if a rule is invalid."""
    rules: list[Rule] = []
    wanted = source.randint(1, 7)
    while len(rules) < wanted:
        try:
            rules.append(_rule(source))
        except DefinitionError:
            continue
    return tuple(rules)


def _stream_steps(tokenizer: PreTokenizer, chunks: Sequence[str]) -> list[Step]:
    stream = tokenizer.stream()
    steps = [step for chunk in chunks for step in stream.feed_steps(chunk)]
    return steps + stream.finish_steps()


def _stream_split(tokenizer: PreTokenizer, chunks: Sequence[str]) -> list[str]:
    stream = tokenizer.stream()
    return [part for chunk in chunks for part in stream.feed(chunk)] + stream.finish()


def _check(preset: Preset, plain: PreTokenizer, fast: PreTokenizer, text: str) -> None:
    """Compare every way to split `text` with `plain.split`."""
    wanted = plain.split(text)
    steps = plain.explain(text)
    assert [step.text for step in steps] == wanted
    assert preset.drops_text or "".join(wanted) == text
    half, third = len(text) // 2, len(text) // 3
    for tokenizer in (plain, fast):
        assert _stream_split(tokenizer, [text[:half], text[half:]]) == wanted
        assert _stream_steps(tokenizer, [text[:third], "", text[third:]]) == steps
    assert fast.explain(text) == steps
    assert fast.split(text) == wanted
    assert fast.split_bytes(text.encode()) == [part.encode() for part in wanted]
    assert [text[start:end] for start, end in fast.spans(text)] == wanted
    assert fast.count(text) == len(wanted)


def test_random_presets_split_alike(native: BackendName) -> None:
    tried = 0
    for seed in range(ROUNDS):
        source = seeded(seed)
        preset = _preset(source)
        try:
            plain = PreTokenizer(preset, backend="python")
        except DefinitionError as error:
            if "classes of code points; expected 31 at most" not in str(error):
                raise
            continue
        fast = PreTokenizer(preset, backend=native)
        for size in (3, 8, 20, 20, 70, 200, source.choice([10, 1500])):
            text = "".join(source.choices(LETTERS, k=size))
            try:
                _check(preset, plain, fast, text)
            except AssertionError as error:
                hint = f"seed {seed}, {preset.stages}, text {text!a}"
                raise AssertionError(hint) from error
            tried += 1
    assert tried > ROUNDS
