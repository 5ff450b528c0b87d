"""The fuzzer finds differences from an engine, minimizes them, and names presets it cannot test."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

import pretok
from pretok import ALL, END_OF_TEXT, CasedWord, Contraction, Preset, Rule, Run, Spaces
from pretok.charsets import CASELESS, LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER
from pretok.fuzz import engines as fuzz_engines
from pretok.fuzz import fuzz, minimize
from pretok.fuzz.dialect import constructs, with_text_anchors
from pretok.fuzz.engines import ComparedSplits, EngineError, RegexEngine, engine
from pretok.fuzz.text import LONE_SURROGATES, WHITE_SPACE, TextMaker, changed_runs
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.presets import CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K
from pretok.unicode import VERSIONS, table
from pretok.unicode.atoms import Atom
from support import CORE_NAMES, FULL, changed

CASES = 5000


def with_rule(preset: Preset, old: Rule, *new: Rule) -> Preset:
    """Return `preset` with other rules in place of the rule `old`, but with the same pattern."""
    at = preset.rules.index(old)
    return changed(preset, (*preset.rules[:at], *new, *preset.rules[at + 1 :]))


def rule_of(preset: Preset, kind: type[Rule]) -> Rule:
    return next(rule for rule in preset.rules if isinstance(rule, kind))


WORD = rule_of(O200K, CasedWord)
CONTRACTION = rule_of(LLAMA3, Contraction)
assert isinstance(WORD, CasedWord)
assert isinstance(CONTRACTION, Contraction)
LEAD = ~(NEWLINE | LETTER | NUMBER)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (with_rule(QWEN2, Run(NUMBER, at_most=1), Run(NUMBER, at_most=2)), "11"),
        (with_rule(LLAMA3, Run(NUMBER, at_most=3), Run(NUMBER, at_most=4)), "1111"),
        (with_rule(LLAMA3, Run(NUMBER, at_most=3), Run(NUMBER)), "1111"),
        (with_rule(GPT2, Run(LETTER, lead=SPACE), Run(LETTER)), " a"),
        (with_rule(GPT2, Run(LETTER, lead=SPACE), Run(LETTER | MARK, lead=SPACE)), None),
        (with_rule(LLAMA3, Run(LETTER, lead=LEAD), Run(LETTER, lead=SPACE)), "!a"),
        (with_rule(LLAMA3, Run(LETTER, lead=LEAD), Run(LETTER, lead=LEAD | NEWLINE)), "\na"),
        (with_rule(LLAMA3, Run(OTHER, lead=SPACE, tail=NEWLINE), Run(OTHER, lead=SPACE)), "!\n"),
        (with_rule(R50K, Spaces(END_OF_TEXT), Spaces(pretok.LAST_NEWLINE)), None),
        (with_rule(LLAMA3, CONTRACTION, Contraction(*CONTRACTION.suffixes)), None),
        (with_rule(O200K, WORD, replace(WORD, suffix=None)), None),
        (with_rule(O200K, WORD, replace(WORD, upper=WORD.upper | LOWER)), None),
        (
            with_rule(O200K, WORD, replace(WORD, upper=UPPER | CASELESS, lower=LOWER | CASELESS)),
            None,
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Preset) else ascii(value),
)
def test_a_wrong_rule_is_found_and_its_text_minimized(wrong: Preset, text: str | None) -> None:
    result = fuzz(wrong, engine("regex"), cases=CASES)
    found = result.mismatch
    assert found is not None
    assert len(found.text) <= 4
    assert text is None or found.text == text
    assert found.ours == PreTokenizer(wrong, result.unicode).split(found.text)
    assert found.theirs != found.ours
    assert "".join(found.theirs) == found.text


def test_a_mismatch_names_the_rule_that_made_the_first_difference() -> None:
    wrong = with_rule(QWEN2, Run(NUMBER, at_most=1), Run(NUMBER, at_most=2))
    found = fuzz(wrong, engine("regex"), cases=CASES).mismatch
    assert found is not None
    assert (found.comparison, found.ours, found.theirs, found.at) == (
        "split",
        ["11"],
        ["1", "1"],
        0,
    )
    assert found.rule == Run(NUMBER, at_most=2)


# Removing one of these rules changes no split. Another rule, or none, then makes the pre-token:
# - `\s++$` of r50k. The next rule, `\s+(?!\S)`, takes the same white space. In other presets, a
#   rule for line breaks comes between these two.
# - The last `\s+`, which takes only single code points. A code point that no rule matches is also a
#   pre-token.
NEEDLESS = {("r50k", Spaces(END_OF_TEXT)), *((name, Spaces(ALL)) for name in CORE_NAMES)}


def test_removing_any_other_rule_is_a_mismatch() -> None:
    unnoticed = set()
    for preset in (pretok.get(name).preset for name in CORE_NAMES):
        for rule in preset.rules:
            without = changed(preset, (r for r in preset.rules if r != rule))
            if fuzz(without, engine("regex"), cases=CASES).mismatch is None:
                unnoticed.add((preset.name, rule))
    assert unnoticed == NEEDLESS


@pytest.mark.parametrize("name", ["regex", "tiktoken", "hf"])
def test_every_engine_finds_a_wrong_rule(name: str, backend: BackendName) -> None:
    wrong = with_rule(QWEN2, Run(NUMBER, at_most=1), Run(NUMBER, at_most=2))
    found = fuzz(wrong, engine(name), cases=CASES, backend=backend).mismatch
    assert found is not None
    assert (found.text, found.ours, found.theirs) == ("11", ["11"], ["1", "1"])


@pytest.mark.parametrize("name", ["regex", "hf"])
def test_text_that_no_rule_matches_is_kept_like_the_engine_keeps_it(
    name: str, backend: BackendName
) -> None:
    letters = Preset("letters", rules=(Run(LETTER),), pattern=r"\p{L}+")
    assert fuzz(letters, engine(name), cases=CASES, backend=backend).mismatch is None


def test_tiktoken_drops_text_that_no_rule_matches_and_that_is_a_mismatch() -> None:
    letters = Preset("letters", rules=(Run(LETTER),), pattern=r"\p{L}+", engine="tiktoken")
    found = fuzz(letters, engine("tiktoken"), cases=CASES).mismatch
    assert found is not None
    assert (found.text, found.ours, found.theirs, found.rule) == ("1", ["1"], [], None)


class WrongNative(fuzz_engines.PythonEngine):
    """Imitates a faulty native backend.

    Compares the native backend with a wrong preset to the Python backend with the right preset.
    """

    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        wrong = with_rule(QWEN2, Run(NUMBER, at_most=1), Run(NUMBER, at_most=2))
        ours = super().comparisons(PreTokenizer(wrong, tokenizer.unicode, "native"))
        theirs = super().comparisons(tokenizer)
        return [
            ComparedSplits(one.name, one.ours, other.theirs)
            for one, other in zip(ours, theirs, strict=True)
        ]


def test_each_comparison_with_the_python_backend_finds_a_faulty_native_backend(
    native: BackendName,
) -> None:
    tokenizer = pretok.get("qwen2", backend=native)
    texts = TextMaker(0, "16.0").batch(500)
    for what, ours, theirs in WrongNative().comparisons(tokenizer):
        assert ours(texts) != theirs(texts), what


class SmallBatches(fuzz_engines.PythonEngine):
    """Compares batches of 64 texts instead of 512, to save time.

    The script .ci/nightly runs `pretok fuzz --against python` with whole batches.
    """

    batch = 64


@pytest.mark.parametrize("name", [preset.name for preset in pretok.presets()])
def test_python_and_native_agree(name: str, native: BackendName) -> None:
    cases = (512 if name in CORE_NAMES else 128) // (1 if FULL else 2)
    result = fuzz(pretok.get(name).preset, SmallBatches(), cases=cases, backend=native)
    assert result.mismatch is None, result.mismatch


def test_a_limit_of_no_cases_is_one_batch(native: BackendName) -> None:
    assert fuzz(QWEN2, SmallBatches(), cases=0, backend=native).cases == 64


def test_the_python_backend_is_not_compared_with_itself() -> None:
    with pytest.raises(pretok.PretokError, match=r"Python backend|not built"):
        fuzz(QWEN2, engine("python"), cases=1, backend="python")


def test_an_exception_is_a_mismatch_with_its_text() -> None:
    class Fragile(RegexEngine):
        def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
            def ask(texts: Sequence[str]) -> list[list[str]]:
                if any("\u3000" in text for text in texts):
                    raise OverflowError("ideographic space")
                return [tokenizer.split(text) for text in texts]

            return [ComparedSplits("split", tokenizer.split_batch, ask)]

    found = fuzz(GPT2, Fragile(), cases=CASES).mismatch
    assert found is not None
    assert found.text == "\u3000"
    assert found.theirs == ["raised OverflowError: ideographic space"]


def test_minimize_keeps_needed_characters_and_simplifies_them() -> None:
    def differs(text: str) -> bool:
        return text.count("z") >= 2 and any(char.isupper() for char in text)

    assert minimize("foo ZzZ bar quz" * 20, differs) in {"Azz", "zAz", "zzA"}


@pytest.mark.parametrize("name", ["regex", "tiktoken", "hf"])
def test_an_engine_has_one_of_our_unicode_versions(name: str) -> None:
    assert engine(name).unicode(GPT2) in VERSIONS


def test_an_unknown_unicode_version_is_an_error_that_names_code_points() -> None:
    odd = next(chr(first) for (first, _), _ in changed_runs() if first > 0x1000)

    class Future(RegexEngine):
        def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
            (split,) = super().comparisons(tokenizer)

            def theirs(texts: Sequence[str]) -> list[list[str]]:
                changed = split.theirs([text.replace(odd, "B") for text in texts])
                return [[pre_token.replace("B", odd) for pre_token in row] for row in changed]

            return [ComparedSplits(split.name, split.ours, theirs)]

    with pytest.raises(EngineError, match=f"one of the Unicode versions.*U\\+{ord(odd):04X}$"):
        fuzz(GPT2, Future(), cases=1)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}$^]++", set()),
        (r"\p{N}{1,3}+", {"a counted possessive quantifier"}),
        (r"\s+$", {"a line or text anchor"}),
        (r"[\w.]|\W", {"a word class"}),
        (r"^x|\$\^", {"a line or text anchor"}),
        (r"\$\^\[[a^$]", set()),
        (r"[\p{L}&&[^\p{Han}]]", {"a class within a class", "&& in a class"}),
        (r"a&&b", set()),
        (r"\w{1,3}|\p{L}{2}", {"a word class"}),
        (r"\d{1,3}+", {"a counted possessive quantifier"}),
    ],
)
def test_constructs_that_engines_read_differently(pattern: str, found: set[str]) -> None:
    assert constructs(pattern) == found


def test_a_dollar_sign_is_the_end_of_the_text_for_regex() -> None:
    assert with_text_anchors(r"\s+$|\$|[$]") == r"\s+\Z|\$|[$]"
    preset = Preset(
        "ends", rules=(Spaces(END_OF_TEXT), Run(~SPACE)), pattern=r"\s++$|[^ ]+", engine="tiktoken"
    )
    assert not engine("regex").unsupported_reason(preset)


@pytest.mark.parametrize(
    ("name", "pattern", "dialect", "refused"),
    [
        ("hf", CL100K.pattern, "tiktoken", "counted possessive"),
        ("hf", R50K.pattern, "tiktoken", "anchor"),
        ("hf", O200K.pattern, "tiktoken", ""),
        ("hf", CL100K.pattern, "hf", ""),
        ("tiktoken", CL100K.pattern, "hf", "counted possessive"),
        ("tiktoken", CL100K.pattern, "tiktoken", ""),
        ("regex", CL100K.pattern, "tiktoken", ""),
        ("regex", CL100K.pattern, "hf", "counted possessive"),
        ("regex", r"[\p{L}&&[^\p{Han}]]+", "tiktoken", "&& in a class"),
        ("tiktoken", r"[\p{L}&&[^\p{Han}]]+", "tiktoken", ""),
    ],
)
def test_an_engine_refuses_patterns_that_it_reads_differently(
    name: str, pattern: str, dialect: pretok.preset.Engine, refused: str
) -> None:
    preset = Preset("any", rules=(Run(LETTER),), pattern=pattern, engine=dialect)
    refusal = engine(name).unsupported_reason(preset)
    assert refused in refusal
    assert bool(refused) == bool(refusal)
    if refused:
        with pytest.raises(EngineError, match="cannot express preset 'any'"):
            fuzz(preset, engine(name), cases=1)


@pytest.mark.parametrize("name", ["regex", "tiktoken", "hf"])
def test_a_pattern_that_does_not_compile_is_an_error(name: str) -> None:
    broken = Preset("broken", rules=(Run(LETTER | ~LETTER),), pattern="(a")
    with pytest.raises(EngineError, match="cannot compile the pattern of preset 'broken'"):
        fuzz(broken, engine(name), cases=1)


def test_a_limit_is_required() -> None:
    with pytest.raises(ValueError, match="expected a limit, got none; pass seconds or cases"):
        fuzz(GPT2, engine("regex"))


def test_one_batch_is_tried_with_any_time_limit() -> None:
    assert fuzz(GPT2, engine("regex"), seconds=1e-9).cases > 0


def test_texts_depend_on_the_seed_only() -> None:
    one, same, other = (TextMaker(seed, "16.0").batch(50) for seed in (1, 1, 2))
    assert one == same != other


def test_texts_keep_the_limits_of_an_engine() -> None:
    texts = TextMaker(0, "16.0", longest=24, surrogates=False).batch(CASES)
    assert max(map(len, texts)) == 24
    "".join(texts).encode()
    assert set(LONE_SURROGATES) <= set("".join(TextMaker(0, "16.0").batch(CASES)))


def test_texts_hold_every_atom_next_to_every_atom_and_all_white_space() -> None:
    maker = TextMaker(0, "16.0")
    texts = [text for _ in range(20) for text in maker.batch(1000)]
    firsts, atoms = table("16.0")
    seen: set[tuple[int, int]] = set()
    for text in texts:
        points = [ord(char) for char in text]
        row = atoms[firsts.searchsorted(points, "right") - 1].tolist()
        seen.update(pairwise(row))
    assert len(seen) == len(Atom) ** 2
    white = {Atom.NEWLINE, Atom.SPACE, Atom.OTHER_SPACE}
    bounds = [*firsts.tolist(), 0x110000]
    runs = zip(bounds, bounds[1:], atoms.tolist(), strict=False)
    expected = {chr(c) for first, end, atom in runs if atom in white for c in range(first, end)}
    assert set(WHITE_SPACE) == expected <= set("".join(texts))


def test_changed_runs_are_those_whose_atom_changed() -> None:
    runs = changed_runs(("16.0", "18.0"))
    assert ((0x295, 0x295), (Atom.LOWER, Atom.CASELESS)) in runs
    for (first, last), (old, new) in runs:
        assert old != new
        for point in (first, last, random.Random(first).randint(first, last)):
            for version, atom in (("16.0", old), ("18.0", new)):
                firsts, atoms = table(version)
                assert atoms[firsts.searchsorted(point, "right") - 1] == atom
    assert changed_runs(("16.0",)) == ()
