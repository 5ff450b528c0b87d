"""The rule machine: both backends agree on pre-tokens, gaps, and what a prefix of a text decides.

A gap is text that no rule matches. The Python backend reads long texts in windows: parts of a text
that grow if a pre-token does not end in them.
"""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import Contraction, Preset, Run
from pretok.charsets import LETTER, NUMBER, SPACE, code_points
from pretok.charsets.classified_text import UNLIMITED
from pretok.machine.backend import BackendName
from pretok.machine.machine import Backend, Machine
from pretok.machine.program import compile_rules, serialize_stages
from pretok.presets import BUILT_IN
from pretok.rules import Rule
from pretok.stage import Stage
from rule_specs import SPECS, Spec
from strategies import RULE_LETTERS, any_rules
from support import CORE_NAMES, FULL, max_examples, sample, seeded

ALL_SPECS = [
    *SPECS,
    *[Spec(preset.name, preset.rules, preset.pattern, "aA1 '\n!s/\u0301\u4e2d", 4)
      for preset in BUILT_IN if len(preset.stages) == 1],
]  # fmt: skip
each_spec = pytest.mark.parametrize("spec", ALL_SPECS, ids=[spec.name for spec in ALL_SPECS])


def backend_of(rules: tuple[Rule, ...], name: BackendName) -> Backend:
    """Return the backend object that PreTokenizer and Stream use for the rules."""
    if name == "python":
        return Machine(compile_rules(rules), "16.0")
    from pretok import _core

    return _core.Machine(serialize_stages([Stage(rules)]), "16.0")


def strings(alphabet: str, longest: int) -> list[str]:
    """Return all strings of up to `longest` characters of `alphabet`."""
    return ["".join(s) for n in range(longest + 1) for s in product(alphabet, repeat=n)]


@each_spec
def test_both_backends_decide_the_same_pre_tokens_of_a_prefix(
    native: BackendName, spec: Spec
) -> None:
    python, cpp = backend_of(spec.rules, "python"), backend_of(spec.rules, native)
    for text in strings(spec.alphabet, 3):
        for partial, in_gap in product((False, True), repeat=2):
            assert tuple(cpp.advance(text, partial, in_gap)) == tuple(
                python.advance(text, partial, in_gap)
            ), (text, partial, in_gap)


@given(any_rules, st.text(RULE_LETTERS, max_size=30))
@settings(max_examples=max_examples(200))
def test_both_backends_do_the_same_with_any_rules(
    native: BackendName, made: list[tuple[Rule, str]], text: str
) -> None:
    rules = tuple(rule for rule, _ in made)
    python, cpp = backend_of(rules, "python"), backend_of(rules, native)
    for end in range(len(text) + 1):
        part = text[:end]
        assert tuple(cpp.advance(part, True, False)) == tuple(python.advance(part, True, False))
    steps = [(*backend.steps(text),) for backend in (python, cpp)]
    python_steps, cpp_steps = ([(x.dtype, x.tolist()) for x in found] for found in steps)
    assert cpp_steps == python_steps
    data = text.encode()
    assert cpp.split_bytes(data) == python.split_bytes(data)
    assert cpp.count(text) == cpp.count(data) == python.count(text) == python.count(data)


@each_spec
def test_decided_pre_tokens_of_a_prefix_are_those_of_the_text(
    backend: BackendName, spec: Spec
) -> None:
    machine = backend_of(spec.rules, backend)
    rng = seeded(spec.name)
    for _ in range(max_examples(200)):
        text = "".join(rng.choices(spec.alphabet, k=rng.randrange(12)))
        _, whole, rules = (found.tolist() for found in machine.steps(text))
        for end in range(len(text) + 1):
            ends, made_by, resume, in_gap, *_ = machine.advance(text[:end], True, False)
            assert ends == whole[: len(ends)]
            assert made_by == rules[: len(ends)]
            last = ends[-1] if ends else 0
            assert last <= resume <= end
            assert in_gap == (resume > last)


@each_spec
def test_an_open_run_decides_nothing_while_it_goes_on(backend: BackendName, spec: Spec) -> None:
    machine = backend_of(spec.rules, backend)
    rng = seeded(spec.name)
    tried = 0
    for _ in range(3 * max_examples(150)):
        text = "".join(rng.choices(spec.alphabet, k=rng.randrange(1, 7)))
        before = machine.advance(text, True, False)
        if not before[-1]:
            continue
        # Advance has pending_limit and pending_mask last: nothing more is decided while fewer than
        # `room` code points follow, all of classes in `mask`.
        *decided, room, mask = before
        inside = [char for char in spec.alphabet if machine.run_length(char, mask) == 1]
        count = rng.randrange(1, 4)
        if inside and count < room:
            more = text + "".join(rng.choices(inside, k=count))
            left = room if room == UNLIMITED else room - count
            assert list(machine.advance(more, True, False)) == [*decided, left, mask]
            tried += 1
    found = [machine.advance(text, True, False) for text in strings(spec.alphabet, 3)]
    assert tried or not any(mask and room > 1 for *_, room, mask in found)


def test_run_length_counts_the_classes_of_a_mask(backend: BackendName) -> None:
    rules = (Run(LETTER), Run(NUMBER, lead=SPACE))
    alphabet = compile_rules(rules).alphabet
    machine = backend_of(rules, backend)
    assert machine.run_length("ab\u4e2d1 ", alphabet.mask(LETTER)) == 3
    assert machine.run_length("12\u00bd ", alphabet.mask(NUMBER)) == 3
    assert machine.run_length("1a", alphabet.mask(LETTER)) == 0
    assert machine.run_length("", alphabet.mask(LETTER)) == 0


GAPS = Preset(
    "gaps", rules=(Run(NUMBER, at_most=2, lead=code_points("#")), Contraction("s")), pattern=""
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("abc", [("abc", None)]),
        ("123", [("12", 0), ("3", 0)]),
        ("ab12cd", [("ab", None), ("12", 0), ("cd", None)]),
        ("ab#1##2", [("ab", None), ("#1", 0), ("#", None), ("#2", 0)]),
        ("#", [("#", None)]),
        ("a's'", [("a", None), ("'s", 1), ("'", None)]),
        ("''s''", [("'", None), ("'s", 1), ("''", None)]),
        ("\ud800 \u4e2d1", [("\ud800 \u4e2d", None), ("1", 0)]),
        ("#\n#x", [("#\n#x", None)]),
    ],
)
def test_text_that_no_rule_matches_is_kept(
    backend: BackendName, text: str, found: list[tuple[str, int | None]]
) -> None:
    tok = pretok.get(GAPS, backend=backend)
    assert tok.split(text) == [part for part, _ in found]
    assert tok.count(text) == len(found)
    assert [(step.text, step.rule) for step in tok.explain(text)] == [
        (part, None if rule is None else GAPS.rules[rule]) for part, rule in found
    ]
    assert all(step.text == text[step.start : step.end] for step in tok.explain(text))
    stream = tok.stream()
    streamed = [step for char in text for step in stream.feed_steps(char)]
    streamed += stream.finish_steps()
    assert streamed == tok.explain(text)


@pytest.mark.parametrize("name", CORE_NAMES)
def test_presets_of_the_core_leave_no_gap(backend: BackendName, name: str) -> None:
    tok = pretok.get(name, backend=backend)
    alphabet = "aA1 \n!'\u0301\u4e2d\u3000\x00\ud800\U0010ffff"
    for text in strings(alphabet, 3):
        assert None not in [step.rule for step in tok.explain(text)], text


@each_spec
def test_windows_do_not_change_results(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(compile_rules(spec.rules), "16.0")
    rng = seeded(spec.name)
    texts = [
        "".join(rng.choices(spec.alphabet, k=rng.randrange(40))) for _ in range(12 if FULL else 6)
    ]
    texts += [char * 20 for char in sample(spec.alphabet, 4)]

    def results() -> list[object]:
        return [
            (
                machine.split(text),
                machine.count(text),
                [part.tolist() for part in machine.steps(text)],
                [machine.offsets(text, unit).tolist() for unit in ("char", "byte", "utf16")],
                machine.split_bytes(text.encode()),
                machine.offsets(text.encode(), "utf16").tolist(),
            )
            for text in texts
        ]

    whole = results()
    for window in (1, 2, 5) if FULL else (1, 3):
        monkeypatch.setattr("pretok.machine.machine.WINDOW", window)
        assert results() == whole, window


def test_a_window_grows_with_a_pre_token_and_shrinks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(compile_rules((Run(LETTER), Run(NUMBER))), "16.0")
    seen: list[int] = []
    advance = machine.advance

    def spy(chars: str, partial: bool, in_gap: bool = False) -> object:
        seen.append(len(chars))
        return advance(chars, partial, in_gap)

    monkeypatch.setattr("pretok.machine.machine.WINDOW", 10)
    monkeypatch.setattr(machine, "advance", spy)
    text = "a" * 100 + "1a" * 50
    assert machine.split(text) == ["a" * 100, *["1", "a"] * 50]
    assert max(seen) <= 200
    assert seen[-1] <= 10
    assert sum(seen) < 6 * len(text)


def test_a_gap_longer_than_a_window_is_one_pre_token(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(compile_rules((Run(NUMBER),)), "16.0")
    monkeypatch.setattr("pretok.machine.machine.WINDOW", 4)
    assert machine.split("abc" * 10 + "1" + "x" * 9) == ["abc" * 10, "1", "x" * 9]
    assert machine.count("abc" * 10) == 1


def test_only_rules_that_can_begin_with_a_class_are_tried(backend: BackendName) -> None:
    # A rule is also tried if its lead has the class of the first character, and its body has not.
    rules = (Run(LETTER, lead=SPACE), Run(NUMBER, lead=code_points("'")), Contraction("s"))
    tok = pretok.get(Preset("leads", rules=rules), backend=backend)
    assert tok.split(" a'1's' 1") == [" a", "'1", "'s", "' ", "1"]
    assert [step.rule for step in tok.explain(" a'1")] == [rules[0], rules[1]]
    assert all(a.end == b.start for a, b in pairwise(tok.explain(" a'1's' 1")))
