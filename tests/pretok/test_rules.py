"""Each rule kind: errors, matches, and the equivalent regex."""

from __future__ import annotations

import pickle
import random
import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import (
    ALL,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    DefinitionError,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Preset,
    Rule,
    Run,
    Spaces,
    Through,
)
from pretok.charsets import (
    CASELESS,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    SPACE,
    UPPER,
    code_points,
)
from pretok.charsets.sets import NOTHING
from pretok.fuzz.engines import engine
from pretok.machine.backend import BackendName
from pretok.presets import BUILT_IN
from rule_specs import SPECS, Spec
from strategies import RULE_LETTERS, any_rules
from support import FULL, TOO_MUCH, growth, max_examples, regex_split, seeded, strings

# Presets with one stage whose pattern `regex` can express.
ONE_STAGE = [
    preset
    for preset in BUILT_IN
    if len(preset.stages) == 1 and not engine("regex").unsupported_reason(preset)
]
each_spec = pytest.mark.parametrize("spec", SPECS, ids=[spec.name for spec in SPECS])


@each_spec
def test_rules_split_as_their_regex(spec: Spec, backend: BackendName) -> None:
    texts = [
        text for length in range(spec.longest + 1) for text in strings(spec.alphabet, length, 1_000)
    ]
    tok = pretok.get(spec.preset, backend=backend)
    found = tok.split_batch(texts)
    splits = [regex_split(spec.pattern, text) for text in texts]
    wrong = [
        (text, ours, theirs)
        for text, ours, theirs in zip(texts, found, splits, strict=True)
        if ours != theirs
    ]
    assert not wrong, f"{len(wrong)} of {len(texts)} differ; the first: {wrong[0]!r}"
    if backend == "native":  # it splits UTF-8 without decoding it
        for text, parts in zip(texts, found, strict=True):
            assert tok.split_bytes(text.encode()) == [part.encode() for part in parts], text


@each_spec
def test_rules_split_long_texts_as_their_regex(spec: Spec, backend: BackendName) -> None:
    tok = pretok.get(spec.preset, backend=backend)
    rng = seeded(spec.name)
    for _ in range(4 if FULL else 2):
        runs = [rng.choice(spec.alphabet) * rng.choice((1, 1, 2, 3, 70)) for _ in range(300)]
        text = "".join(runs)
        wanted = regex_split(spec.pattern, text)
        assert tok.split(text) == wanted
        assert tok.split_bytes(text.encode()) == [part.encode() for part in wanted]


@given(any_rules, st.text(RULE_LETTERS, max_size=12), st.integers(0, 1 << 32))
@settings(max_examples=max_examples(300))
def test_any_rules_split_as_their_regex(
    backend: BackendName, made: list[tuple[Rule, str]], text: str, seed: int
) -> None:
    pattern = "|".join(pattern for _, pattern in made)
    tok = pretok.get(Preset("any", tuple(rule for rule, _ in made)), backend=backend)
    rng = random.Random(seed)
    for each in (text, *["".join(rng.choices(RULE_LETTERS, k=n)) for n in (8, 20, 20, 200)]):
        wanted = regex_split(pattern, each)
        assert tok.split(each) == wanted
        assert tok.split_bytes(each.encode()) == [part.encode() for part in wanted]
        stream = tok.stream()
        streamed = [part for char in each for part in stream.feed(char)]
        assert streamed + stream.finish() == wanted


@pytest.mark.parametrize("through", [LAST_NEWLINE, END_OF_TEXT])
def test_a_long_run_of_white_space_is_scanned_once(through: Through, backend: BackendName) -> None:
    # The rule matches nowhere in the run, and must read to the end of the run to decide that. If it
    # forgot the end, it would read the rest of the run again at each space.
    tok = pretok.get(Preset("spaces", rules=(Spaces(through),)), backend=backend)
    size = 10_000 if backend == "native" else 40_000
    assert growth(lambda n: tok.count(" " * n + "x"), size) < TOO_MUCH


@each_spec
def test_a_rule_that_fails_on_a_long_run_takes_linear_time(
    spec: Spec, backend: BackendName
) -> None:
    tok = pretok.get(spec.preset, backend=backend)
    size = 10_000 if backend == "native" else 1_000
    for char in spec.alphabet[:4]:

        def work(count: int, char: str = char) -> None:
            tok.count(char * count + "x")

        assert growth(work, size) < TOO_MUCH, char


@each_spec
def test_explain_names_the_rule_that_matches(spec: Spec, backend: BackendName) -> None:
    rng = seeded(spec.name)
    text = "".join(rng.choices(spec.alphabet, k=100))
    alone = [pretok.get(Preset("one", rules=(rule,)), backend=backend) for rule in spec.rules]
    for step in pretok.get(spec.preset, backend=backend).explain(text):
        rest = text[step.start :]
        matched = [
            rule for rule, tok in zip(spec.rules, alone, strict=True) if tok.explain(rest)[0].rule
        ]
        assert step.rule == (matched[0] if matched else None)
        assert step.text == text[step.start : step.end]


@pytest.mark.parametrize("preset", ONE_STAGE, ids=lambda preset: preset.name)
def test_the_patterns_of_the_rules_split_as_the_published_one(preset: Preset) -> None:
    rng = seeded(preset.name)
    joined = "|".join(rule.pattern for rule in preset.rules)
    alphabet = "aAsStreveml'' '  \n\r\t!/.1\u00bd23\u0301\u4e2d\u02b0\u017f\u3000\u00e9\u200b"
    for _ in range(3000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(12)))
        assert regex_split(joined, text) == regex_split(preset.pattern, text)


@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        (Contraction("s", "re"), "'s|'re"),
        (Contraction("s", "re", ignore_case=True), "(?i:'s|'re)"),
        (Run(NUMBER), r"\p{N}+"),
        (Run(NUMBER, at_most=1), r"\p{N}"),
        (Run(NUMBER, at_most=3, lead=SPACE, tail=NEWLINE), r" ?\p{N}{1,3}[\r\n]*"),
        (Run(code_points("a-f")), "[a-f]+"),
        (CasedWord(UPPER, LOWER), r"[\p{Lu}\p{Lt}]*\p{Ll}+|[\p{Lu}\p{Lt}]+\p{Ll}*"),
        (
            CasedWord(UPPER, LOWER, lead=SPACE, suffix=Contraction("s")),
            r" ?[\p{Lu}\p{Lt}]*\p{Ll}+(?:'s)?| ?[\p{Lu}\p{Lt}]+\p{Ll}*(?:'s)?",
        ),
        (Spaces(through=ALL), r"\s+"),
    ],
)
def test_the_pattern_of_a_rule(rule: Rule, pattern: str) -> None:
    assert rule.pattern == str(rule) == pattern


BACKTRACKING = "so matching would need backtracking; make them disjoint"
ONE = "code_points('1')"
THROUGH = "expected one of END_OF_TEXT, LAST_NEWLINE, ALL_BUT_LAST, ALL, BEFORE_NEWLINE"
REFUSED: list[tuple[Any, tuple[object, ...], dict[str, object], str]] = [
    (Contraction, (), {}, "Contraction: no suffixes; expected at least one"),
    (Contraction, ("",), {}, "Contraction: suffix ''; expected ASCII letters"),
    (Contraction, ("s", "'s"), {}, 'suffix "\'s"; expected ASCII letters'),
    (Contraction, ("s1",), {}, "suffix 's1'"),
    (Contraction, ("\u017f",), {}, "suffix '\u017f'"),
    (Contraction, (3,), {}, "suffix 3; expected ASCII letters"),
    (Contraction, (("s", "t"),), {}, r"suffix ('s', 't')"),
    (Contraction, ("S",), {"ignore_case": True}, "suffix 'S'; expected lowercase ASCII letters"),
    (Contraction, ("s" * 256,), {}, "sss' (256 characters); expected at most 255 letters"),
    (Run, (NOTHING,), {}, "Run: body=NOTHING; expected a non-empty CharSet"),
    (Run, (None,), {}, "Run: body=None; expected a non-empty CharSet"),
    (Run, ("a-z",), {}, "Run: body='a-z'; expected a non-empty CharSet"),
    (Run, (LETTER,), {"lead": NOTHING}, "Run: lead=NOTHING; expected None or a non-empty CharSet"),
    (Run, (LETTER,), {"tail": "x"}, "Run: tail='x'; expected None or a non-empty CharSet"),
    (Run, (LETTER, LETTER, 2), {}, f"Run: lead and body share LETTER, {BACKTRACKING}"),
    (Run, (LETTER, ~NUMBER), {"at_least": 2}, "lead and body share LETTER"),
    (Run, (LETTER, LETTER), {"lead_required": True}, "lead and body share LETTER"),
    (Run, (LETTER, code_points("a-z"), 1), {}, "share code_points((0x61, 0x7a))"),
    (Run, (NUMBER,), {"at_least": 0}, "Run: at_least=0; expected 1 to 4096"),
    (Run, (NUMBER,), {"at_least": 4097}, "Run: at_least=4097; expected 1 to 4096"),
    (Run, (NUMBER,), {"at_least": 10**5000}, "Run: at_least=a number of 16,610 bits; expected 1"),
    (Run, (NUMBER,), {"at_least": 3, "at_most": 2}, "Run: at_least=3 is more than at_most=2"),
    (Run, (NUMBER,), {"lead_required": True}, "Run: lead_required without a lead"),
    (Run, (NUMBER,), {"tail_at_most": 1}, "Run: tail_at_most without a tail"),
    (Run, (NUMBER,), {"tail": SPACE, "tail_at_most": 0}, "Run: tail_at_most=0; expected None or"),
    (Run, (NUMBER,), {"at_most": 0}, "Run: at_most=0; expected None or 1 to 2**31-1"),
    (Run, (NUMBER,), {"at_most": -1}, "at_most=-1"),
    (Run, (NUMBER,), {"at_most": 1 << 31}, "at_most=2147483648"),
    (Run, (NUMBER,), {"at_most": 2.0}, "at_most=2.0"),
    (Run, (NUMBER,), {"at_most": "3"}, "at_most='3'"),
    (CasedWord, (NOTHING, LOWER), {}, "CasedWord: upper=NOTHING"),
    (CasedWord, (UPPER, None), {}, "CasedWord: lower=None"),
    (CasedWord, (UPPER, LOWER), {"lead": 0}, "CasedWord: lead=0; expected None or a non-empty"),
    (CasedWord, (UPPER, LOWER, UPPER), {}, "CasedWord: lead and the cased letters share UPPER"),
    (CasedWord, (UPPER | CASELESS, LOWER, CASELESS), {}, "share CASELESS"),
    (CasedWord, (UPPER | code_points("'"), LOWER), {}, "the apostrophe and the word share"),
    (CasedWord, (UPPER, LOWER), {"suffix": "s"}, "CasedWord: suffix='s'; expected a Contraction"),
    (Spaces, ("all",), {}, f"Spaces: through='all'; {THROUGH}"),
    (Spaces, (3,), {}, f"Spaces: through=3; {THROUGH}"),
    (
        Spaces,
        (LAST_NEWLINE,),
        {"at_most": 2},
        "at_least and at_most need through=ALL_BUT_LAST or through=ALL, got through=LAST_NEWLINE",
    ),
    (
        Spaces,
        (ALL,),
        {"at_least": 2},
        "at_least=2 with at_most=None; expected at_least <= at_most",
    ),
    (Spaces, (ALL,), {"at_least": 3, "at_most": 2}, "at_least=3 with at_most=2"),
    (Spaces, (ALL, 9000, 5000), {}, "Spaces: at_least=5000; expected 1 to 4096"),
    (Literal, (), {}, "Literal: no texts; expected at least one"),
    (Literal, ("a", ""), {}, "Literal: text ''; expected a str of 1 to 255 code points"),
    (Literal, (b"a",), {}, "Literal: text b'a'; expected a str"),
    (Literal, ("a" * 256,), {}, "expected a str of 1 to 255 code points"),
    (Enclosed, ("", NUMBER, ">"), {}, "Enclosed: before ''; expected a str"),
    (Enclosed, ("<", NUMBER, 3), {}, "Enclosed: after 3; expected a str"),
    (Enclosed, ("<", NOTHING, ">"), {}, "Enclosed: body=NOTHING; expected a non-empty CharSet"),
    (
        Enclosed,
        ("1", NUMBER, ">", 256),
        {},
        f"the first code point of before, {ONE}, is in body; matching would not take linear time",
    ),
    (Enclosed, ("<", NUMBER, "1>"), {}, f"the start of after and body share {ONE}, "),
    (Enclosed, ("<", NUMBER, ">", 2, 3), {}, "Enclosed: at_least=3 is more than at_most=2"),
    (Groups, (NOTHING,), {}, "Groups: body=NOTHING; expected a non-empty CharSet"),
    (Groups, (NUMBER, 0), {}, "Groups: size=0; expected 1 to 2**31-1"),
    (Groups, (NUMBER, 2, 3), {}, "Groups: at_least=3 is more than size=2"),
    (
        Groups,
        (NUMBER,),
        {"unless_before": 1},
        "Groups: unless_before=1; expected None or a non-empty CharSet",
    ),
    (Phrase, (LETTER, MARK, None), {}, "Phrase: joint=None; expected a non-empty CharSet"),
    (Phrase, (LETTER, MARK, UPPER), {}, "Phrase: joint and the words share UPPER, "),
    (Phrase, (LETTER, MARK, SPACE, LOWER), {}, "Phrase: lead and start share LOWER"),
]


@pytest.mark.parametrize(
    ("kind", "given", "named", "message"), REFUSED, ids=[case[-1] for case in REFUSED]
)
def test_wrong_rules_are_refused(
    kind: Any, given: tuple[object, ...], named: dict[str, object], message: str
) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        kind(*given, **named)


@each_spec
def test_rules_are_values(spec: Spec) -> None:
    for rule in spec.rules:
        for copied in (
            pickle.loads(pickle.dumps(rule)),
            deepcopy(rule),
            eval(repr(rule), {**vars(pretok), **vars(pretok.charsets)}),
        ):
            assert copied == rule
            assert hash(copied) == hash(rule)
            assert copied.pattern == rule.pattern


def test_rules_cannot_be_changed() -> None:
    run, contraction = Run(LETTER), Contraction("s")
    with pytest.raises(AttributeError):
        run.body = NUMBER  # type: ignore[misc]
    with pytest.raises(AttributeError):
        contraction.suffixes = ("t",)  # type: ignore[misc]


def test_rules_of_different_kinds_or_fields_differ() -> None:
    rules = [rule for spec in SPECS for rule in spec.rules]
    written = {repr(rule) for rule in rules}
    assert len(set(rules)) == len(written) > 40


def test_the_largest_at_most(backend: BackendName) -> None:
    preset = Preset("large", rules=(Run(NUMBER, at_most=(1 << 31) - 1),))
    assert pretok.get(preset, backend=backend).split("1" * 1000 + "a1") == ["1" * 1000, "a", "1"]


def test_a_contraction_takes_hundreds_of_letters(backend: BackendName) -> None:
    suffix = "ab" * 100
    preset = Preset("long", rules=(Contraction(suffix),))
    tok = pretok.get(preset, backend=backend)
    assert tok.split(f"'{suffix}a'{suffix[:-1]}") == [f"'{suffix}", f"a'{suffix[:-1]}"]
