"""Published patterns are found as presets in each engine, and split as the engines do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pytest

import pretok
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.patterns.compile import compile_pattern
from pretok.patterns.lookup import WHOLE, find, pattern_for
from pretok.preset import ENGINES, Engine
from pretok.presets import BUILT_IN, CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K
from pretok.unicode import DEFAULT_VERSION
from support import engine_split, engine_splits

_CI = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_MINBPE_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_MINBPE_GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_BAILING = _MINBPE_GPT4.replace("{1,3}", "")
_WHISPER = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

SPELLINGS: list[tuple[Engine, str, Preset]] = [
    *[(engine, _MINBPE_GPT2, GPT2) for engine in ("hf", "tiktoken")],
    *[(engine, _MINBPE_GPT4, LLAMA3) for engine in ("hf", "tiktoken")],
    *[(engine, _BAILING, QWEN2) for engine in ("hf", "tiktoken")],
    *[(engine, _WHISPER, GPT2) for engine in ("hf", "tiktoken")],
    *[(engine, LLAMA3.pattern.replace(r"\r\n", "\r\n"), LLAMA3) for engine in ("hf", "tiktoken")],
    *[(engine, LLAMA3.pattern[:-1], LLAMA3) for engine in ("hf", "tiktoken")],
    ("hf", CL100K.pattern.replace("{1,3}+", "{1,3}"), CL100K),
    ("hf", CL100K.pattern.replace("{1,3}+", "{1,3}")[:-2] + r"\s+", CL100K),
    ("hf", R50K.pattern, R50K),
    ("hf", O200K.pattern, O200K),
    ("tiktoken", QWEN2.pattern, QWEN2),
    ("hf", WHOLE.pattern, WHOLE),
]  # fmt: skip

LETTERS = " \n\ta1'sS!\u017f\u0301"
"""Characters that the patterns distinguish; the tests try every string of up to three of them."""


def _strings(longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        yield from map("".join, product(LETTERS, repeat=length))


def _hf_split(pattern: str) -> Callable[[str], list[str]]:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")

    def ask(text: str) -> list[str]:
        return [text[start:end] for _, (start, end) in split.pre_tokenize_str(text)]

    return ask


LONGER = ("a\n  ", "  \n \n  ", "12345 1234", "don't DON'T 'tis l'\u00e9t\u00e9", "camelCase",
           "HTTPx", "!!\r\n/ x\u3000\u3000y", "\x1cword \u200bx", "\u0301A \u0301Ab",
           "'ll'LL'l")  # fmt: skip


def _with_pattern(engine: Engine) -> list[Preset]:
    known = [preset for preset in (*BUILT_IN, WHOLE) if preset.unicode == DEFAULT_VERSION]
    return [preset for preset in known if pattern_for(preset, engine) is not None]


def test_most_presets_have_a_pattern_for_each_engine() -> None:
    for engine in ENGINES:
        able = _with_pattern(engine)
        assert {GPT2, R50K, CL100K, LLAMA3, QWEN2, O200K, WHOLE} <= set(able)
    # These presets keep text that no alternative matches, but tiktoken drops such text. So no
    # pattern splits in tiktoken as they do.
    unable = {preset.name for preset in BUILT_IN if preset.pattern} - {one.name for one in able}
    assert unable == {"bloom", "whitespace", "superbpe-extend"}


@pytest.mark.parametrize("preset", _with_pattern("hf"), ids=lambda preset: preset.name)
def test_hf_pattern_is_the_split_of_the_preset(preset: Preset) -> None:
    pattern = pattern_for(preset, "hf")
    assert pattern is not None
    ask, split = _hf_split(pattern), pretok.get(preset).split
    for text in (*_strings(3), *LONGER):
        assert ask(text) == split(text), text


@pytest.mark.parametrize("preset", _with_pattern("tiktoken"), ids=lambda preset: preset.name)
def test_tiktoken_pattern_is_the_split_of_the_preset(preset: Preset) -> None:
    pattern = pattern_for(preset, "tiktoken")
    assert pattern is not None
    there = Preset("there", preset.rules, engine="tiktoken", pattern=pattern)
    texts = [*list(_strings(3))[::17], *LONGER]
    assert engine_splits(there, texts) == [pretok.get(preset).split(text) for text in texts]


@pytest.mark.parametrize(("engine", "pattern", "preset"), SPELLINGS)
def test_other_spellings(engine: Engine, pattern: str, preset: Preset) -> None:
    assert find(pattern, engine) == preset
    split = pretok.get(preset).split
    if engine == "hf":
        ask = _hf_split(pattern)
        for text in (*_strings(3), *LONGER):
            assert ask(text) == split(text), text
    else:
        there = Preset("there", preset.rules, engine="tiktoken", pattern=pattern)
        texts = [*list(_strings(3))[::17], *LONGER]
        assert engine_splits(there, texts) == list(map(split, texts))


@pytest.mark.parametrize("engine", ENGINES)
def test_presets_are_found_by_their_patterns(engine: Engine) -> None:
    for preset in _with_pattern(engine):
        found = find(pattern_for(preset, engine) or "", engine)
        assert found is not None
        assert found.stages == preset.stages or found == preset


def test_a_counted_possessive_quantifier_splits_differently_in_hf() -> None:
    assert find(CL100K.pattern, "tiktoken") == CL100K
    assert find(CL100K.pattern, "hf") is None
    # In Hugging Face's engine, the pattern has no limit of three digits.
    assert _hf_split(CL100K.pattern)("12345") == ["12345"] != pretok.get(CL100K).split("12345")


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "|",
        "a|",
        "(",
        ")(",
        "[a",
        "a\\",
        "a\\\n",
        r"\p{L}+",
        LLAMA3.pattern.replace("{1,3}", "{1,4}"),
        LLAMA3.pattern.replace("{1,3}", "{1,3}?"),
        LLAMA3.pattern.replace(_CI, "(?i:'s|'t)"),
        # llama.cpp's spelling, which does not match U+017F
        LLAMA3.pattern.replace(
            _CI, "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
        ),
        LLAMA3.pattern.replace(" ?", r"\s?"),
        LLAMA3.pattern.removesuffix(r"|\s+"),
        LLAMA3.pattern + r"|\s+",
        "|".join(reversed(QWEN2.pattern.split("|"))),
        r"(?m)" + QWEN2.pattern,
        QWEN2.pattern.replace(r"\p{N}", r"\d"),
        QWEN2.pattern.replace(r"\p{N}", r"\p{Nd}"),
        O200K.pattern.replace(r"\p{M}", r"\p{M}&&[^\p{Han}]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["hf", "tiktoken"])
def test_other_patterns_are_not_found(pattern: str, engine: Engine) -> None:
    assert find(pattern, engine) is None


@pytest.mark.parametrize(
    "pattern",
    [r"a+|\S+|\s", r"(?:a|b)?+c|[\s\S]", r"[^a\n]{2,3}|[\s\S]", f"{_CI}?x|.|\\s"],
)
def test_a_pattern_that_both_engines_read_alike_is_used_for_both(pattern: str) -> None:
    preset = Preset("mine", (Run(LETTER),), engine="hf", pattern=pattern)
    assert pattern_for(preset, "tiktoken") == pattern
    preset = Preset("mine", (Run(LETTER),), engine="tiktoken", pattern=pattern)
    assert pattern_for(preset, "hf") == pattern


@pytest.mark.parametrize("pattern", [r"^a", r"a$", r"[[:punct:]]", r"\w+", r"a{2}+b", r"a{,2}", ""])
def test_a_pattern_that_they_may_read_differently_is_used_for_its_engine_only(pattern: str) -> None:
    preset = Preset("mine", (Run(LETTER),), engine="tiktoken", pattern=pattern)
    assert pattern_for(preset, "hf") is None
    assert pattern_for(preset, "tiktoken") == (pattern or None)


def test_tiktoken_drops_what_no_alternative_matches() -> None:
    words = Preset("words", (Run(LETTER),), engine="hf", pattern=r"\p{L}+")
    assert pretok.get(words).split("a b") == ["a", " ", "b"] == _hf_split(words.pattern)("a b")
    assert "".join(engine_split(replace(words, engine="tiktoken"), "a b")) == "ab"
    assert pattern_for(words, "tiktoken") is None


def test_line_breaks_are_escaped_in_the_pattern_of_another_engine() -> None:
    pattern = "[\r\n]{1,2}+|\\\\|."
    preset = Preset(
        "mine", compile_pattern(pattern, "tiktoken"), engine="tiktoken", pattern=pattern
    )
    assert pattern_for(preset, "hf") == r"[\r\n]{1,2}|\\|."


def test_registered_presets_are_found(own_registry: None) -> None:
    pattern = r"\p{L}+|[^\p{L}]+"
    mine = Preset("mine", (Run(LETTER), Run(~LETTER)), pattern=pattern, engine="tiktoken")
    pretok.register(mine)
    for engine in ("hf", "tiktoken"):
        assert find(pattern, engine) == mine
        assert find(r"\p{L}++|\P{L}++", engine) == mine
    newer = Preset("newer", (Run(LETTER),), pattern=r"\p{L}", unicode="18.0")
    pretok.register(newer)
    assert find(r"\p{L}", "hf") is None, "no engine splits by that version"


def test_the_preset_whole_never_splits() -> None:
    assert pretok.get(WHOLE).split(" a\n\u0301 1") == [" a\n\u0301 1"]
