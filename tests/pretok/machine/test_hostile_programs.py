"""Malicious rules are refused alike in Python and C++, or take linear time."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pretok
from pretok import (
    ALL,
    ALL_BUT_LAST,
    CasedWord,
    Contraction,
    DefinitionError,
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
    Step,
)
from pretok.charsets import LETTER, MARK, SPACE, WHITE_SPACE, code_points
from pretok.machine.backend import BackendName
from pretok.machine.program import compile_rules, serialize_stages
from pretok.presets import BUILT_IN
from pretok.rules.base import MAX_LOOK_AHEAD
from strategies import RULE_LETTERS, any_rules
from support import TOO_MUCH, growth, max_examples

A, DIGIT, X = map(code_points, ("a", "0-9", "x"))


def native_machine(words: list[int]) -> pretok._core.Machine:
    from pretok import _core

    return _core.Machine(words, "16.0")


@pytest.mark.parametrize(
    ("rule", "ahead"),
    [
        (Run(LETTER), 1),
        (Run(LETTER, at_most=1 << 30, at_least=7), 7),
        (Spaces(ALL, 9, 5), 5),
        (Literal("ab", "c"), 3),
        (Contraction("s", "ll"), 4),
        (CasedWord(LETTER, LETTER, suffix=Contraction("s")), 3),
        (Groups(DIGIT, 1 << 30), 1),
        (Phrase(LETTER, MARK, SPACE), 1),
        (Enclosed("<a", DIGIT, ">", at_least=1 << 30), 3),
        (Enclosed("1", DIGIT, ">", at_most=9), 11),
    ],
    ids=str,
)
def test_look_ahead_is_limited_alike(native: BackendName, rule: Rule, ahead: int) -> None:
    assert rule.look_ahead == ahead
    filler = Run(A, at_least=MAX_LOOK_AHEAD - ahead)
    good = [Stage((rule, filler))]
    native_machine(serialize_stages(good))
    assert Preset("good", stages=good).stages == tuple(good)
    two = [Stage((rule,)), Stage((filler,)), Stage((Run(LETTER),))]
    with pytest.raises(DefinitionError, match=r"rules look 4,097 code points ahead in total"):
        Preset("two", stages=two)
    with pytest.raises(ValueError, match="brings the look-ahead of all rules above 4096"):
        native_machine(serialize_stages(two))
    with pytest.raises(DefinitionError, match=r"expected 4,096 at most.* that of a Run, 4,\d+"):
        Stage((rule, filler, Run(LETTER)))


def test_presets_are_far_from_the_limit() -> None:
    assert max(sum(rule.look_ahead for rule in preset.rules) for preset in BUILT_IN) <= 1024 + 64


def test_a_literal_has_thousands_of_texts(native: BackendName) -> None:
    texts = [f"{number:02x}" for number in range(256)] * 7
    rules = (Literal(*texts), Run(LETTER))
    text = "00ff zz 7f7 a"
    backends: tuple[BackendName, ...] = ("python", native)
    for backend in backends:
        tok = pretok.get(Preset("texts", rules), backend=backend)
        assert tok.split(text) == ["00", "ff", " ", "zz", " ", "7f", "7 ", "a"]
    with pytest.raises(
        DefinitionError,
        match=r"4,098 code points ahead in total; expected 4,096 at most\..* of a Literal, 4,098:",
    ):
        Stage((Literal(*texts, *texts[:256], "ab"),))


# In a former version, a Spaces rule used what a Spaces rule with other classes had remembered of a
# run of white space, and wrote past the stack.
def test_white_space_of_two_kinds_is_refused(native: BackendName) -> None:
    stage = Stage((Spaces(ALL), Spaces(ALL, 1), Literal("acq"), Run(~WHITE_SPACE)))
    words = serialize_stages([stage])
    alphabet = compile_rules(stage.rules).alphabet
    for rule in stage.rules[:2]:
        record = rule.serialize(alphabet)
        at = next(i for i in range(len(words)) if words[i : i + len(record)] == record)
        for first in (1, 2):  # clear both masks, or only the mask of line breaks
            changed = words.copy()
            changed[at + first : at + 3] = [0] * (3 - first)
            with pytest.raises(
                ValueError, match="stage 1 has Spaces rules with different white space"
            ):
                native_machine(changed)


def test_a_rule_that_does_not_exist_cannot_be_first(native: BackendName) -> None:
    machine = native_machine(serialize_stages([Stage((Run(LETTER),))]))
    assert machine.advance("ab", True, False, 0)[0] == []
    for rule in (-2, 1, 1 << 20):
        with pytest.raises(ValueError, match="expected -1 or the index of a rule, below 1; got"):
            machine.advance("ab", True, False, rule)


# (rules, unit, end). In a text of repeated units and the end, the first rule fails often.
RESCANNED: dict[str, tuple[tuple[Rule, ...], str, str]] = {
    "run": ((Run(A, at_least=64), Run(A | X, at_most=1)), "a" * 63 + "x", ""),
    "lead": ((Run(X, lead=A, lead_required=True), Run(A, at_most=1)), "a", "x"),
    "spaces": ((Spaces(ALL_BUT_LAST, 64, 64), Spaces(ALL, 1)), " " * 63 + "x", ""),
    "literal": ((Literal("a" * 63 + "x"), Run(A, at_most=1)), "a", ""),
    "enclosed": ((Enclosed("a", A, "x", at_most=64), Run(A, at_most=1)), "a", ""),
    "long body": ((Enclosed("x", A, "1"), Run(A, at_most=1)), "xa", "a" * 999),
    "groups": ((Groups(A, 1, unless_before=X), Run(A, at_most=1)), "a", "x"),
    "cased": ((CasedWord(A, X), Run(A, at_most=1)), "a", "xa"),
    "phrase": ((Phrase(X, X, A, lead=SPACE), Run(A, at_most=1)), "xa", "a"),
}


@pytest.mark.parametrize("name", RESCANNED)
def test_failed_matches_take_linear_time(backend: BackendName, name: str) -> None:
    rules, unit, end = RESCANNED[name]
    tok = pretok.get(Preset("rescanned", rules), backend=backend)
    size = 10_000 if backend == "native" else 2_000
    assert growth(lambda n: tok.count(unit * (n // len(unit)) + end), size) < TOO_MUCH


@pytest.mark.parametrize("unit", ["a ", "a", "ab\u0301 "])
def test_a_phrase_word_by_word_takes_linear_time(backend: BackendName, unit: str) -> None:
    tok = pretok.get(Preset("phrases", (Phrase(LETTER, MARK, SPACE),)), backend=backend)

    def feed(size: int) -> None:
        stream = tok.stream()
        text = unit * (size // len(unit))
        assert not [found for char in text for found in stream.feed(char)]
        # The last space joins no words, so it may be a pre-token of its own.
        assert "".join(stream.finish()) == text

    assert growth(feed, 4_000) < TOO_MUCH


def streamed(tok: PreTokenizer, text: str, sizes: list[int]) -> list[Step]:
    """Return the steps of a text that is streamed in chunks of `sizes`."""
    stream, found, at = tok.stream(), [], 0
    for size in sizes:
        found += stream.feed_steps(text[at : at + size])
        at += size
    return [*found, *stream.feed_steps(text[at:]), *stream.finish_steps()]


@given(
    rules=any_rules,
    words=st.text(RULE_LETTERS, min_size=1, max_size=4),
    ends=st.tuples(*[st.text(RULE_LETTERS, max_size=3)] * 2),
    seed=st.integers(0, 1 << 32),
)
@example(  # the gap, text that no rule matches, ends only after a possible cut
    rules=[(Groups(DIGIT | code_points("e"), 1, 1, X), ""), (Run(DIGIT, at_most=1), "")],
    words="1", ends=("ge", "x"), seed=0,
)  # fmt: skip
@settings(max_examples=max_examples(150))
def test_long_texts_split_alike(
    native: BackendName,
    rules: list[tuple[Rule, str]],
    words: str,
    ends: tuple[str, str],
    seed: int,
) -> None:
    # Seven of eight texts are long enough for several parts of the fast path, and longer than the
    # 1024 bytes at the end that safe_cut searches first.
    text = words.join(ends) if seed % 8 == 0 else ends[0] + words * 1100 + ends[1]
    preset = Preset("any", tuple(rule for rule, _ in rules))
    plain, fast = PreTokenizer(preset, backend="python"), PreTokenizer(preset, backend=native)
    wanted = plain.explain(text)
    assert fast.explain(text) == wanted
    parts = [step.text for step in wanted]
    assert fast.split(text) == parts
    assert fast.count(text) == len(parts)
    rng = random.Random(seed)
    sizes = [rng.choice([1, 1, 2, 3, 1000]) for _ in range(12)]
    for tok in (plain, fast):
        assert streamed(tok, text, sizes) == wanted
    check_safe_cut(fast, text, rng)


def check_safe_cut(tok: PreTokenizer, text: str, rng: random.Random) -> None:
    """Check that both parts of a text, divided at a safe cut, have the pre-tokens of the text."""
    from pretok import _core

    machine = native_machine(serialize_stages(tok.preset.stages))
    data = text.encode()
    for known in (len(data), len(data) - 1, rng.randrange(len(data) + 1)):
        cut = _core.safe_cut(machine, data[: max(known, 0)])
        apart = machine.split_bytes(data[:cut]) + machine.split_bytes(data[cut:])
        assert apart == machine.split_bytes(data), known


@pytest.mark.parametrize("second", [Run(DIGIT, at_most=1), Run(DIGIT, lead=SPACE, at_most=1)])
def test_groups_of_one_digit_are_cut_where_their_run_ends(
    native: BackendName, second: Rule
) -> None:
    body = DIGIT | code_points("e")
    rules = (Groups(body, 1, unless_before=X), second, Run(X))
    tok = pretok.get(Preset("groups", rules), backend=native)
    for count in (2, 999, 1024, 3000, 20_000):
        for tail in ("x", "x g", " ", "xx"):
            check_safe_cut(tok, "ge" + "1" * count + tail, random.Random(count))
