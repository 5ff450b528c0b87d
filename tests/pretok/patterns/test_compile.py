"""from_pattern compiles patterns: results equal tokenizers and tiktoken; errors give a reason."""

from __future__ import annotations

import contextlib
import pickle
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from compiled_patterns import (
    all_strings,
    compiled,
    first_difference,
    first_match_difference,
    representatives,
)
from pattern_variations import variations
from pretok import UnknownPatternError, from_huggingface, from_pattern
from pretok.charsets import DIGIT, LETTER, NUMBER, SPACE, WHITE_SPACE, code_points
from pretok.machine.backend import BackendName, backend
from pretok.patterns.ast import Alternatives, Group, Lookahead, Node, Repeat
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError, compile_pattern
from pretok.patterns.lookup import PATTERN_BEHAVIORS
from pretok.patterns.parser import read
from pretok.preset import ENGINES, Engine
from pretok.presets import CL100K, LLAMA3
from pretok.rules import Contraction, Literal, Rule, Run
from support import FULL, max_examples, sample, seeded
from telling_strings import telling_strings

CI = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BOTH = ENGINES

# Patterns that compile, and the engines for which they compile.
ACCEPTED: list[tuple[str, tuple[Engine, ...]]] = [
    (r"\p{L}+|\d+|.", BOTH),
    (r"\p{L}+|\d+", BOTH),
    (r"[a-c]{2,3}|[a-c]", BOTH),
    (r"[a-c]{2}+|b", ("tiktoken",)),
    (r"[a-c]{1,2}+|b", BOTH),
    (r"[a-c]+?|.", BOTH),
    (r"[ab]+?c*|.", BOTH),
    (r"x?[ab]+c*|.", BOTH),
    (r"[xa]?[ab]+|.", BOTH),
    (r"x??[ab]+|.", BOTH),
    (r"[ab]{2}c?|.", BOTH),
    (r"[ab]{2,}c{0,2}|.", BOTH),
    (r"[ab][ab]+[ab]?|.", BOTH),
    (r"c(?:[ab]{1,2}){0,3}|(?:[ab]{1,2})+|.", BOTH),
    (r"(?:[ab]{2}){2}|.", BOTH),
    (r"(?:\p{L}\p{M}*)+|.", BOTH),
    (r"(?:a+|b)+|.", BOTH),
    (r"(?:ab|a)(?:c|d)|a|.", BOTH),
    (r"a(?:b|bc)d|.", BOTH),
    (r"a(?:bc)?d?|.", BOTH),
    (r"a(?:bc)??|.", BOTH),
    (r"[^\s\S]|a", BOTH),
    (r"(?:foo|foob|fo)|.", BOTH),
    (r"(?:a|b|c)d|.", BOTH),
    (rf"{CI}|\p{{L}}+|.", BOTH),
    (r"'[sS]|'ll|\p{L}+|.", BOTH),
    (rf"x?\p{{L}}+{CI}?|.", BOTH),
    (r"[\p{L}1]?\p{L}+(?:'s|'t)?|.", BOTH),
    (r"[\p{M}']?[\p{Lu}\p{M}]*[\p{Ll}\p{M}]+|[\p{M}']?[\p{Lu}\p{M}]+[\p{Ll}\p{M}]*|.", BOTH),
    (r"[\p{Lu}\p{M}]*[\p{Ll}\p{M}]++(?:'s)?|[\p{Lu}\p{M}]++[\p{Ll}\p{M}]*+(?:'s)?|.", BOTH),
    (r"-?+[ab]*[bc]+|-??[ab]+[bc]*+|[^a]", BOTH),
    (r"x?\p{Lu}++(?:'s|'t)?|.", BOTH),
    (r"\p{Lu}\p{Ll}*|\p{Ll}+|.", BOTH),
    (r"\p{Lt}|\p{Zs}+|\p{Cc}|.", BOTH),
    (r"((?=[\p{L}])([^a-z]))+|.", BOTH),
    (r"(?=[ab])[bc]|.", BOTH),
    (r"\s+(?!\S)|\s+|\S", BOTH),
    (r"\s+(?=\s|\z)|\s|\S", BOTH),
    (r"\s+(?=\s|$)|\s|\S", BOTH),
    (r"\s++(?!\S)|\s|\S", BOTH),
    (r"\s+?(?!\S)|\s|\S", BOTH),
    (r"\s{2,3}(?!\S)|\s|\S", BOTH),
    (r"\s{2}+(?!\S)|\s|\S", ("tiktoken",)),
    (r"\s+\z|\s|\S", BOTH),
    (r"\s+?\z|\s|\S", BOTH),
    (r"\s++$|\s|\S", BOTH),
    (r"\s+$|\s|\S", ("tiktoken",)),
    (r"[ab]+(?![^ab])|.", BOTH),
    (r"[ab]+\z|.", BOTH),
    (r"[ab]+(?![ab])|.", BOTH),
    (r"\s*[\r\n]+|\s+(?!\S)|\s+|\S", BOTH),
    (r"\s*\n|\s+(?!\S)|\s+|\S", BOTH),
    (r" +(?!\S)|\s|\S", BOTH),
    (r"[^\S\n]+(?=\s|\z)|\s+|\S", BOTH),
    (r"[^\S\r\n]+(?!\S)|\s*[\r\n]+|\s+(?!\S)|\s+|\S", BOTH),
    (r"[ab]*b+|a|.", BOTH),
    (r"[ab]*b{1,2}b*|a|.", BOTH),
    (r"[ ab]*[ab]|\s+|.", BOTH),
    (r"<[a-b]+>|.", BOTH),
    (r"<[ab<]{1,3}>|.", BOTH),
    (r"<[ab]*>|.", BOTH),
    (r"\d{1,3}(?=(?:\d{3})*(?!\d))|\D", BOTH),
    (r"\d{1,2}(?=(?:\d{2})*\b)|.", BOTH),
    (r"[ab]{2,3}(?=(?:[ab]{3})*(?![ab1]))|.", BOTH),
    (r"x?(?:a\p{M}*(?: a\p{M}*)*)+|.", BOTH),
    (r"[ab]+(?:-[ab]+)*|.", BOTH),
    (r"(?i:ab|k)|.", BOTH),
    (r"[a-f&&[^bc]]+|[^\S\n]+|.", BOTH),
    (r"(?:\p{N}{1,4})|[^\d]{1,2}", BOTH),
]

REFUSED: list[tuple[str, Engine, str, int, str]] = [
    (r"x|\p{L}+a|.", "hf", r"\p{L}+", 2, "give back code points of a that the next part needs"),
    (r"\p{L}+\.|.", "hf", r"\.", 6, "would scan the rest of the run again at each code point"),
    (r"a|(?<=a)b", "hf", "(?<=a)", 2, "may look at the text before the match"),
    (r"a\bb", "tiktoken", r"\b", 1, "may look at the text before the match"),
    (r"b|a*", "hf", "a*", 2, "can match the empty text"),
    (r"b|(?:a|b?)", "hf", "b?", 7, "can match the empty text"),
    (r"(?:ab)+|.", "hf", "(?:ab)+", 0, "no rule can express this repeated group"),
    (r"(?:ab){2,3}|.", "hf", "(?:ab){2,3}", 0, "counts repetitions of a group"),
    (r"\p{Greek}+", "hf", r"\p{Greek}+", 0, "no table of the property 'Greek'"),
    (r"x|\p{L}+(?=a)", "hf", "(?=a)", 8, "a rule can only require that the text ends or"),
    (r"x|\p{L}+(?=ab)", "hf", "(?=ab)", 8, "at one code point after its match, not at more"),
    (r"\s+$|.", "hf", "$", 3, "a rule can only require that the text ends or"),
    (r"\s+(?=\S)|.", "hf", r"(?=\S)", 3, "a rule can only require that the text ends or"),
    (r"[ab]{1,2}b|.", "hf", "[ab]{1,2}", 0, "matching would need backtracking"),
    (r"a?b?\p{N}+|.", "hf", r"\p{N}+", 4, "at most one lead before its run"),
    (r"x*y*\p{N}+|.", "hf", r"\p{N}+", 4, "scan the rest of the run again"),
    (r"a+(?:b|cd)", "hf", "(?:b|cd)", 2, "no rule has alternatives after a run"),
    (r"[ab]{4097}", "hf", "[ab]{4097}", 0, "expected 1 to 4096"),
    (r"[ab]*+[bc]+|[ab]+[bc]*|.", "hf", "[bc]+", 6, "requires a part after a run"),
    (r"\s*\n|[ab]*a|.", "hf", r"\s*", 0, "must have the same space and newline"),
]


@pytest.mark.parametrize(
    ("pattern", "engine"), [(p, engine) for p, engines in ACCEPTED for engine in engines]
)
def test_all_strings_are_split_as_the_engine_does(
    pattern: str, engine: Engine, backend: BackendName
) -> None:
    preset = compiled(pattern, engine)
    is_complete = FULL or backend == "native"
    texts = all_strings(representatives(preset), 6, 60_000 if is_complete else 500)
    assert not is_complete or len(texts[-1]) == 6
    assert first_difference(preset, texts, backend) is None


@pytest.mark.parametrize(("pattern", "engine", "construct", "position", "reason"), REFUSED)
def test_an_error_names_the_construct_its_position_and_the_reason(
    pattern: str, engine: Engine, construct: str, position: int, reason: str
) -> None:
    with pytest.raises(UnknownPatternError) as raised:
        from_pattern(pattern, engine)
    error = raised.value
    assert (error.construct, error.position) == (construct, position)
    assert pattern[position:].startswith(construct)
    assert reason in error.reason
    assert f"it does not compile: {construct} at index {position}: {error.reason}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.construct, again.position, again.reason) == (construct, position, error.reason)


SHARDS = 4


@pytest.mark.parametrize("shard", range(SHARDS))
def test_variations_of_published_patterns(shard: int) -> None:
    every = list(variations())
    assert len(every) > 1000
    accepted = refused = 0
    rng = seeded(shard)
    for pattern, engine in sample(every[shard::SHARDS], 20):
        preset = _compiled_or_refused(pattern, engine)
        if preset is None:
            refused += 1
            continue
        letters = representatives(preset)
        random = ["".join(rng.choices(f"{letters}  \n'sS", k=9)) for _ in range(400)]
        texts = [*all_strings(letters, 6, 8_000 if FULL else 800), *random]
        assert first_difference(preset, texts, "python") is None, pattern
        if backend() == "native":
            # 300,000 are all strings of up to six characters of eight classes.
            texts = [*all_strings(letters, 6, 300_000 if FULL else 3000), *random]
            assert first_difference(preset, texts, "native") is None, pattern
        # These show the matches in all strings of up to six characters of any number of classes.
        matching = compiled(pattern, engine, drops_text=True)
        telling = telling_strings(matching)
        if telling is not None:
            texts = list(telling.up_to(6 if FULL else 4))
            assert first_match_difference(matching, texts, backend()) is None, pattern
        tokenizer = pretok.get(preset)
        for text in random[:3]:
            steps = [step for step in tokenizer.explain(text) if step.rule or not preset.drops_text]
            assert [step.text for step in steps] == tokenizer.split(text)
        accepted += 1
    assert accepted > refused > 0


@pytest.mark.parametrize(("pattern", "engines"), sample(ACCEPTED, 25))
def test_telling_strings_have_the_first_matches_of_all_strings(
    pattern: str, engines: tuple[Engine, ...]
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    if "hf" not in engines:
        pytest.skip("tiktoken does not show spans")
    preset = compiled(pattern, "hf", drops_text=True)
    telling = telling_strings(preset)
    if telling is None:
        assert r"\b" in pattern
        return
    only_matches = PATTERN_BEHAVIORS["tiktoken"]
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), *only_matches)

    def first_match(text: str) -> int | None:
        """Return the length of the engine's match at the start of `text`, or None."""
        spans = [span for _, span in split.pre_tokenize_str(text)]
        return spans[0][1] if spans and spans[0][0] == 0 else None

    listed = frozenset(telling.up_to(5))
    texts = all_strings(representatives(preset), 5, 60_000 if FULL else 4000)
    assert len(listed.intersection(texts)) < len(texts)
    for text in texts:
        like = telling.like(text)
        assert like in listed
        assert first_match(like) == first_match(text), (text, like)


def _compiled_or_refused(pattern: str, engine: Engine) -> pretok.Preset | None:
    """Return the preset of the compiled `pattern`, or None if it is refused with a reason.

    The test fails if the error has no reason, or does not show the construct at its position.
    """
    try:
        return compiled(pattern, engine)
    except UnreadablePatternError as unread:
        return None if str(unread) else pytest.fail(pattern)
    except NotCompiledError as error:
        is_shown = pattern[error.position :].startswith(error.construct)
        has_all = is_shown and error.construct and error.reason
        return None if has_all else pytest.fail(pattern)


@pytest.mark.parametrize("preset", pretok.presets(), ids=lambda preset: preset.name)
def test_presets_compile_to_their_own_rules(preset: pretok.Preset) -> None:
    for stage in preset.stages:
        if stage.pattern in ("", r"\s+$"):  # A stage of blocks has no pattern.
            # `\s+$` relies on an earlier stage: alone it would need backtracking in Oniguruma.
            continue
        rules = compile_pattern(stage.pattern, preset.engine)
        assert list(map(_unordered, rules)) == list(map(_unordered, stage.rules))


def _unordered(rule: Rule) -> object:
    """Return `rule`, but the unordered suffixes of a Contraction, whose order does not matter."""
    return (rule.ignore_case, {*rule.suffixes}) if isinstance(rule, Contraction) else rule


SETS = ("a", "b", "[ab]", "[bc]", "[^a]", r"\s", r"\S", " ", r"[\r\n]", r"\n", r"\p{L}",
        ".", r"\p{Lu}", r"[\p{L}\p{M}]", "'", "(?:a|b)", "(?:ab|b)", "(?i:'s)",
        r"[^\s\p{L}]")  # fmt: skip
MARKS = ("", "", "+", "*", "?", "{2}", "{1,2}", "++", "*+", "?+", "+?", "*?", "??", "{1,2}+")
ENDS = ("", "", "", r"(?!\S)", r"(?!a)", r"(?=\s|\z)", r"\z", "$", "(?:'s|'t)?", "(?:'s)??")
TERMS = st.tuples(st.sampled_from(SETS), st.sampled_from(MARKS)).map("".join)
SEQUENCES = st.tuples(
    st.lists(TERMS, min_size=1, max_size=3).map("".join), st.sampled_from(ENDS)
).map("".join)
GROUPED = st.tuples(
    st.sampled_from(("", *SETS)), st.just("(?:"), SEQUENCES, st.just("|"), SEQUENCES, st.just(")"),
    st.sampled_from(("", "?", "+", "*", "{2}")), st.sampled_from(("", *SETS)),
).map("".join)  # fmt: skip
PATTERNS = st.lists(SEQUENCES | SEQUENCES | GROUPED, min_size=1, max_size=3).map("|".join)
TEXTS = st.lists(st.text("abc1 \n\r\t'sStA\u01c5\u0301\u4e2d\u00a0.", max_size=12), max_size=30)


@given(pattern=PATTERNS, engine=st.sampled_from(ENGINES), texts=TEXTS)
@settings(max_examples=max_examples(150))
def test_random_patterns_are_refused_or_equal(
    pattern: str, engine: Engine, texts: list[str]
) -> None:
    try:
        preset = compiled(pattern, engine)
    except (NotCompiledError, UnreadablePatternError):
        return
    texts = [*texts, *all_strings(representatives(preset), 6, 300)]
    assert first_difference(preset, texts, "python") is None


def test_the_preset_of_a_compiled_pattern() -> None:
    tokenizer = from_pattern(r"\p{L}+|\d+|\s", "hf")
    preset = tokenizer.preset
    assert preset.rules == (Run(LETTER), Run(DIGIT), pretok.Spaces(pretok.ALL, at_most=1))
    assert preset.name.startswith("pattern-")
    assert (preset.engine, preset.source) == ("hf", "compiled from its pattern")
    assert from_pattern(r"\p{L}+|\d+|\s", "tiktoken").preset.name != preset.name
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    steps = [(step.text, str(step.rule)) for step in tokenizer.explain("a1.")]
    assert steps == [("a", r"\p{L}+"), ("1", r"\p{Nd}+"), (".", "None")]
    chunks = tokenizer.stream()
    assert [*chunks.feed("ab"), *chunks.feed("c1"), *chunks.finish()] == ["abc", "1"]


def test_engines_read_some_patterns_differently() -> None:
    assert from_pattern(CL100K.pattern, "tiktoken").preset is CL100K
    assert from_pattern(CL100K.pattern, "hf").split("12345") == ["12345"]
    assert compile_pattern(r"\p{N}{1,3}+", "tiktoken") == (Run(NUMBER, at_most=3),)
    assert from_pattern(r"a", "hf").split("ab") == ["a", "b"]
    assert from_pattern(r"a", "tiktoken").split("ab") == ["a"]
    assert not from_pattern(r"a+|[^a]", "tiktoken").preset.drops_text


def test_a_known_preset_with_the_same_rules_wins() -> None:
    spelt = LLAMA3.pattern.replace(r"\p{N}{1,3}", r"(?:\p{N}\p{N}{0,2})")
    assert from_pattern(spelt).preset is LLAMA3


def test_compiled_rules() -> None:
    literal = (Literal("ab", "c", "d"),)
    assert compile_pattern("ab|[cd]x?|a", "hf") != literal
    assert compile_pattern("ab|c|d", "hf") == literal
    assert compile_pattern("'s|'t", "hf") == (Contraction("s", "t"),)
    assert compile_pattern(r" ?\w", "tiktoken")[0].sets()[1] == SPACE
    assert compile_pattern(r"\s{2,}", "hf") == (Run(WHITE_SPACE, at_least=2),)
    assert compile_pattern("[\u4e00-\u9fa5]", "hf")[0].sets() == [code_points("\u4e00-\u9fa5")]


def test_the_spans_of_nodes_are_their_texts() -> None:
    def check(alternatives: Alternatives, engine: Engine) -> None:
        for sequence in alternatives:
            for node in sequence:
                text = pattern[node.start : node.end]
                if "(?i:" not in pattern:
                    assert read(text, engine) == ((node,),), (pattern, text)
                check(_inside(node), engine)

    compared = 0
    for pattern, engine in islice(variations(), 0, None, 7):
        try:
            alternatives = read(pattern, engine)
        except UnreadablePatternError:
            continue
        check(alternatives, engine)
        compared += 1
    assert compared > 100


def _inside(node: Node) -> Alternatives:
    while isinstance(node, Repeat):
        node = node.node
    return node.alternatives if isinstance(node, (Group, Lookahead)) else ()


def test_the_examples_of_the_documentation() -> None:
    page = (Path(pretok.__file__).parent / "presets" / "README.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Other patterns")
    compiles, _, refused = section.partition("UnknownPatternError")
    for examples, is_accepted in ((compiles, True), (refused, False)):
        patterns = re.findall("`(.*?)`", examples.partition("\n- ")[2])
        assert len(patterns) > 6
        for pattern in patterns:
            preset = _compiled_or_refused(pattern, "hf")
            assert (preset is not None) == is_accepted, pattern


def test_hostile_sizes() -> None:
    for pattern in (
        "|".join(f"x{number}" for number in range(100_000)),
        "(?:" * 5000 + "a" + ")" * 5000,
        "(?:a|b){8}" * 800,
        "(?:" * 30 + "ab" + "){8}" * 30,
        "(?:a?b?c?)" * 600,
        "(?:ab|c)?" * 900 + "d",
        "a{2}" * 2000,
        "|".join(f"[{chr(0x4E00 + 2 * number)}]+" for number in range(1500)),
        "[" + "".join(chr(0x4E00 + 2 * number) for number in range(4000)) + "]+|a|b+|c+",
    ):
        with contextlib.suppress(UnknownPatternError):
            from_pattern(pattern)


def test_a_tokenizer_json_with_an_unknown_pattern() -> None:
    split = {
        "type": "Split",
        "pattern": {"Regex": r"\p{L}+|\d+|."},
        "behavior": "Isolated",
        "invert": False,
    }
    tokenizer = from_huggingface({"pre_tokenizer": split})
    assert tokenizer.split("a1 b") == ["a", "1", " ", "b"]
    assert tokenizer.preset.name == from_pattern(r"\p{L}+|\d+|.").preset.name
    assert tokenizer.preset.source == (
        "a tokenizer.json, with pre_tokenizer.pattern.Regex compiled"
    )
