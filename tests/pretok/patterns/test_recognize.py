"""from_pattern: recognized patterns, and the errors for unknown ones."""

from __future__ import annotations

import pickle
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pretok
from pretok import UnknownPatternError, UnknownPresetError, from_gguf_pre, from_pattern
from pretok.charsets import ANY, NUMBER
from pretok.machine.backend import BackendName
from pretok.patterns.differences import difference_of
from pretok.preset import ENGINES, Engine
from pretok.presets import CL100K, GPT2, LLAMA3, O200K, QWEN2, R50K
from support import engine_split, engine_splits, max_examples, stable

CI = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PARTED = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"

# Spellings of the pattern of a preset: from other sources, or as a person might write them.
SPELLINGS: list[tuple[str, str, tuple[Engine, ...]]] = [
    *[(preset.pattern, preset.name, ENGINES) for preset in (GPT2, R50K, LLAMA3, QWEN2, O200K)],
    (CL100K.pattern, "cl100k", ("tiktoken",)),
    (GPT2.pattern.replace(r"\p{L}+|", r"[\p{L}]+|", 1), "gpt2", ENGINES),
    (f"(?:{GPT2.pattern})", "gpt2", ENGINES),
    (f"({QWEN2.pattern})", "qwen2", ENGINES),
    (LLAMA3.pattern.replace(r"\r\n", "\r\n"), "llama3", ENGINES),
    (LLAMA3.pattern.replace(r"\r\n", r"\n\r"), "llama3", ENGINES),
    (LLAMA3.pattern.replace(r"\p{L}\p{N}", r"\p{N}\p{L}"), "llama3", ENGINES),
    (LLAMA3.pattern.replace(CI, "'(?i:[sdmt]|ll|ve|re)"), "llama3", ENGINES),
    (LLAMA3.pattern.replace(CI, CI[1:-1].replace("?i:", "(?i:") + ")"), "llama3", ENGINES),
    (LLAMA3.pattern.replace(CI, PARTED.replace("[sS]", "[sS\u017f]")), "llama3", ENGINES),
    (QWEN2.pattern.replace(r"|\p{N}|", r"|\p{N}{1}|"), "qwen2", ENGINES),
    (QWEN2.pattern.replace("]?", "]?+").replace("]+[", "]++["), "qwen2", ENGINES),
    (O200K.pattern.replace(r"\p{Lm}\p{Lo}", r"\p{Lo}\p{Lm}"), "o200k", ENGINES),
    (O200K.pattern.replace(CI, "(?:'(?i:s|t|re|ve|m|ll|d))"), "o200k", ENGINES),
    (CL100K.pattern.replace("{1,3}+", "{1,3}"), "cl100k", ENGINES),
    (CL100K.pattern.replace(r"\s++$", r"\s+$"), "cl100k", ("tiktoken",)),
]  # fmt: skip

ALPHABET = " \n\ta1'sS!\u017f\u0301"
CHARS = st.sampled_from(ALPHABET + "ldeRrvV2\r") | st.characters(exclude_categories=["Cs"])
TEXTS = ["".join(text) for size in range(1, 4) for text in product(ALPHABET, repeat=size)]
LONGER = ("a\n  ", "  \n \n  ", "12345 1234", "don't DON'T 'tis l'\u00e9t\u00e9", "camelCase can'T",
          "!!\r\n/ x\u3000\u3000y", "\u0301A \u0301Ab HTTPx", "'ll'LL'l \u01c5a")  # fmt: skip


def _cases() -> list[tuple[str, str, Engine]]:
    return [(pattern, name, engine) for pattern, name, engines in SPELLINGS for engine in engines]


def _spelt(pattern: str, engine: Engine) -> pretok.Preset:
    return pretok.Preset("spelt", GPT2.rules, engine=engine, pattern=pattern)


@pytest.mark.parametrize(("pattern", "name", "engine"), _cases())
def test_recognized_patterns_split_like_their_engine(
    pattern: str, name: str, engine: Engine, backend: BackendName
) -> None:
    tokenizer = from_pattern(pattern, engine, backend=backend)
    assert (tokenizer.preset.name, tokenizer.backend) == (name, backend)
    texts = [*TEXTS, *LONGER]
    theirs = engine_splits(_spelt(pattern, engine), texts)
    for text, split in zip(texts, theirs, strict=True):
        assert tokenizer.split(text) == split, text


@pytest.mark.parametrize(("pattern", "name"), sorted({(case[0], case[1]) for case in _cases()}))
@given(text=st.text(CHARS, max_size=20).filter(stable))
@settings(max_examples=max_examples(40))
def test_any_text_is_split_as_hugging_face_does(pattern: str, name: str, text: str) -> None:
    if pattern == CL100K.pattern or r"\s+$" in pattern:  # Hugging Face reads these differently
        return
    assert from_pattern(pattern, "hf").split(text) == engine_split(_spelt(pattern, "hf"), text)


def test_arguments() -> None:
    tokenizer = from_pattern(QWEN2.pattern, "tiktoken", unicode="18.0", backend="python")
    assert (tokenizer.unicode, tokenizer.backend) == ("18.0", "python")
    with pytest.raises(ValueError, match="engine='onig'; expected one of"):
        from_pattern(QWEN2.pattern, "onig")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a pattern as str, got bytes"):
        from_pattern(b"a")  # type: ignore[arg-type]
    with pytest.raises(pretok.UnknownUnicodeVersionError):
        from_pattern(QWEN2.pattern, unicode="1.0")


def test_a_similar_pattern_is_shown_beside_the_nearest() -> None:
    pattern = LLAMA3.pattern.replace("{1,3}", "{1,4}x").replace("+|\\s+(?!\\S)|", "+|")
    with pytest.raises(UnknownPatternError) as raised:
        from_pattern(pattern)
    error = raised.value
    assert (error.pattern, error.engine, error.nearest) == (pattern, "hf", "llama3")
    expected = [
        "  (?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"  [^\r\n\p{L}\p{N}]?\p{L}+",
        r"- \p{N}{1,3}",
        r"+ \p{N}{1,4}x",
        "          ^",
        r"   ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"  \s*[\r\n]+",
        r"- \s+(?!\S)",
        r"  \s+",
    ]
    assert error.difference.splitlines() == expected
    assert str(error) == (
        "no preset is equivalent to this pattern in Hugging Face tokenizers, and it does not "
        f"compile: x at index 64: {error.reason}; the nearest is 'llama3' (-), which differs "
        f"from this pattern (+):\n{error.difference}"
    )
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.difference) == (str(error), error.difference)


def test_engines_may_split_by_the_same_pattern_differently(own_registry: None) -> None:
    pattern = r"\p{N}{2,3}+|[\s\S]"
    rules = (pretok.Run(NUMBER, at_most=3, at_least=2), pretok.Run(ANY, at_most=1))
    pretok.register(pretok.Preset("pairs", rules, engine="tiktoken", pattern=pattern))
    assert from_pattern(pattern, "tiktoken").preset.name == "pairs"
    with pytest.raises(UnknownPatternError) as raised:
        from_pattern(pattern, "hf")
    assert raised.value.nearest == "pairs"
    lines = str(raised.value).splitlines()
    assert lines[0].endswith("; as tiktoken reads it, it is 'pairs':")
    assert [line for line in lines if line[0] in "-+"] == [
        r"- \p{N}{2,3}+  as tiktoken reads it",
        r"+ \p{N}{2,3}+  as Hugging Face tokenizers reads it",
    ]
    # In Hugging Face's engine, the pattern has no limit of three digits.
    assert engine_split(_spelt(pattern, "hf"), "12345") == ["12345"]


def test_the_long_s_is_shown() -> None:
    with pytest.raises(UnknownPatternError) as raised:
        from_pattern(LLAMA3.pattern.replace(CI, PARTED) + "|(?<=a)b")
    assert raised.value.difference.splitlines()[:4] == [
        f"- {CI}",
        f"+ {PARTED}",
        "    ^",
        '  only the - line matches "\'\\u017f"',
    ]
    assert engine_split(_spelt(f"{PARTED}|.", "hf"), "'\u017f") == ["'", "\u017f"]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (LLAMA3.pattern + "|(", ": empty alternative at"),
        ("(?x)" + LLAMA3.pattern, ": the group at index 0 begins with '(?x'; expected"),
        ("a[b", ": the class at index 1 is not closed"),
        ("a[]b]", r": the class at index 1 begins with ']'; write '\]'"),
        ("[a--b]", ": the class at index 0 has '--', which pretok does not read"),
        ("(?i:fi)", ": (?i:...) has a repeat, or adjacent letters such as 'ss'"),
        (r"\p{Nothing}", "; no preset has a similar pattern"),
        ("(?:ab)+", "; no preset has a similar pattern"),
        ("", ": empty alternative at index 0; no preset has a similar"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_unknown_patterns(pattern: str, wanted: str, engine: Engine) -> None:
    with pytest.raises(UnknownPatternError, match=r".") as raised:
        from_pattern(pattern, engine)
    assert wanted in str(raised.value)


def test_tiktoken_drops_what_nothing_matches(own_registry: None) -> None:
    words = pretok.Preset("words", (pretok.Run(pretok.charsets.LETTER),), pattern=r"\p{L}+")
    pretok.register(words)
    assert from_pattern(r"\p{L}+", "hf").split("a b") == ["a", " ", "b"]
    assert from_pattern(r"\p{L}+", "tiktoken").split("a b") == ["a", "b"]
    twice = pretok.Preset("twice", (pretok.Literal("abab", "ab"),), pattern=r"(?:ab)+")
    pretok.register(twice)
    with pytest.raises(
        UnknownPatternError,
        match="it is 'twice'; the engines treat the text that the pattern does not match",
    ):
        from_pattern(r"(?:ab)+", "tiktoken")


def test_equivalent_patterns_have_no_difference() -> None:
    assert difference_of(LLAMA3.pattern, "hf", LLAMA3.pattern.replace("]?", "]?+"), "hf") == ""


@pytest.mark.parametrize(
    ("name", "preset"),
    [("llama-bpe", "llama3"), ("gpt-2", "gpt2"), ("qwen2", "qwen2"), ("gpt-4o", "o200k"),
     ("deepseek-r1-qwen", "qwen2"), ("starcoder", "starcoder"), ("default", "default")],
)  # fmt: skip
def test_names_of_gguf_files(name: str, preset: str, backend: BackendName) -> None:
    tokenizer = from_gguf_pre(name, unicode="17.0", backend=backend)
    assert tokenizer == pretok.get(preset, "17.0")
    assert tokenizer.backend == backend


def test_unknown_names_of_gguf_files(own_registry: None) -> None:
    with pytest.raises(UnknownPresetError, match="did you mean 'llama3'"):
        from_gguf_pre("lama3")
    with pytest.raises(UnknownPresetError, match=r"'gpt2@llama\.cpp'"):
        from_gguf_pre("gpt-2", variant="llama.cpp")
    theirs = pretok.register(pretok.Preset("gpt2@llama.cpp", GPT2.rules[:-1]))
    assert from_gguf_pre("gpt-2", variant="llama.cpp").preset is theirs
    assert from_gguf_pre("gpt-2").preset == GPT2
