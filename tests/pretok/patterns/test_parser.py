"""Patterns as each engine reads them: character sets, and errors."""

from __future__ import annotations

from functools import cache

import pytest

from pretok.patterns.alternatives import alternatives_of
from pretok.patterns.ast import Chars, EndAnchor, EngineSpecific, Group, Repeat
from pretok.patterns.char_sets import OTHER_PROPERTIES, UnreadablePatternError
from pretok.patterns.parser import read
from pretok.preset import ENGINES, Engine
from pretok.unicode import DEFAULT_VERSION, table
from support import members

# The first and last code point of each run of one atom (pretok/unicode/atoms.py lists the atoms),
# all code points below U+3100, and every 97th code point.
_FIRSTS = table(DEFAULT_VERSION)[0].tolist()
_CODES = {*range(0x3100), *range(0, 0x110000, 97), *_FIRSTS, *(c - 1 for c in _FIRSTS[1:])}
EVERY = "".join(chr(code) for code in sorted(_CODES) if not 0xD800 <= code < 0xE000)


@cache
def _hf(pattern: str) -> frozenset[str]:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    return frozenset(EVERY[start:end] for _, (start, end) in split.pre_tokenize_str(EVERY))


@cache
def _tiktoken(pattern: str) -> frozenset[str]:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    encoding = tiktoken.Encoding(
        "probe",
        pat_str=pattern,
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    return frozenset(encoding.decode(encoding.encode_ordinary(EVERY)))


SETS = [
    r"\p{L}", r"\P{L}", r"\p{Ll}", r"\p{M}", r"\p{N}", r"\p{Nd}", r"\p{P}", r"\p{S}", r"\p{C}",
    r"\p{Han}", r"[\p{Lu}\p{Lt}]", r"[\p{Lm}\p{Lo}]", r"[\p{Nl}\p{No}]", r"\s", r"\S", r"\d",
    r"\D", r"[^\s\p{L}\p{N}]", r"[\s\S]", ".", r"\.", r"\x41", r"\x{4e00}", r"\u4e00", r"[a-fx]",
    r"[\u4E00-\u9FA5\u3040-\u309F]", r"[!-/:-@\[-`{-~]", r"[-a]", r"[a-]", r"[a\-z]", r"\$", r"\/",
    r"\t|\n|\r|\f|\v|\a|\e", r"[^(\s|[.,!?])]", r"[a[^\s]]", r"[\p{L}&&[^\p{Han}]]",
    r"[^\p{L}&&\p{Han}]", r"[\p{Lu}\p{Lt}\p{M}&&[^\p{Han}]]", r"[a-z&&[^aeiou]]", r"(?i:s)",
    r"(?i:K)", r"(?i:[sdmt])", r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]", r"[\d_]", r"\w",
    r"\W", r"[^\w\s]", r"[\w]", r"[\W]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SETS)
@pytest.mark.parametrize("engine", ENGINES)
def test_sets_are_those_of_the_engine(pattern: str, engine: Engine) -> None:
    found: set[str] = set()
    for sequence in read(pattern, engine):
        (node,) = sequence
        if not isinstance(node, Chars):  # (?i:...)
            ((node,),) = node.alternatives  # type: ignore[union-attr]
        assert isinstance(node, Chars)
        assert node.charset is not None
        inside = members(node.charset, DEFAULT_VERSION)
        found |= {char for char in EVERY if inside[ord(char)]}
    assert found == (_hf if engine == "hf" else _tiktoken)(pattern)


@pytest.mark.parametrize("name", sorted(OTHER_PROPERTIES))
def test_properties_have_the_same_members_in_both_engines(name: str) -> None:
    assert _hf(rf"\p{{{name}}}") == _tiktoken(rf"\p{{{name}}}")


@pytest.mark.parametrize("pattern", [r"\w", r"[[:punct:]]"])
def test_some_sets_differ_between_the_engines(pattern: str) -> None:
    assert _hf(pattern) != _tiktoken(pattern)


def test_word_characters_depend_on_the_engine() -> None:
    assert read(r"\w", "hf") != read(r"\w", "tiktoken")
    assert read(r"[\w]", "hf") != read(r"\w", "hf")


def test_dialects() -> None:
    digits = read(r"\p{N}", "hf")[0][0]
    assert read(r"\p{N}{1,3}+", "hf") == read(r"(?:\p{N}{1,3})+", "hf")
    assert read(r"(?:\p{N}{1,3})+", "hf") == (
        (Repeat(Group(((Repeat(digits, 1, 3),),)), 1, None),),
    )
    assert read(r"\p{N}{1,3}+", "tiktoken") == ((Repeat(digits, 1, 3, "possessive"),),)
    assert read(r"\s$", "hf")[0][1] == EndAnchor("line")
    assert read(r"\s$", "tiktoken")[0][1] == EndAnchor("text")
    for text in (r"\b", r"\G", "(?<=a)", "(?>a|b)"):
        assert read(text, "hf") == ((EngineSpecific("hf", text),),)


@pytest.mark.parametrize(
    "pattern",
    ["", "|", "a|", "(", ")", ")(", "a)", "(a", "[a", "[", "[]", "[]a]", "[^]a]", "[^]", "a\\",
     "\\\n", "*a", "?", "^a", "]", "}", "{1}", "a{", "a{x}", "a{,2}", "a{2,1}", "a{1}?", "a{1,3}++",
     "a**", "a+++", "a++?", "a{1}{2}", "a{\u0662}", "(?x)a", "(?i)s", "(?m:a)", "(?<n>a)", "(?#a)",
     "(?=a)+", "$?", r"\b*", r"\1", r"\k<n>", r"\h", r"\R", r"\X", r"\K", r"\<", r"\q", r"\pL",
     r"\p{", r"\p{^L}", r"\p{}", r"\p{sc=Han}", r"\x", r"\x4", r"\x{", r"\x{}", r"\x{110000}",
     r"\xE9", r"\u4e0", r"\u+e00", "[[:alpha:]]", "[a--b]", "[a~~b]", "[a&&]", "[&&a]", "[z-a]",
     r"[a-\d]", r"[\p{Lu}&&a]", r"[\b]",
     "(?i:ss)", "(?i:st)", "(?i:fi)", "(?i:s)+", "(?i:s+)", "(?i:(?:a|f)l)",
     r"(?i:\p{L})", "(?i:[a-z]-[a-z0-9])", "(?i:\u00e9)", "(" * 50 + "a" + ")" * 50,
     "[" * 50 + "a" + "]" * 50, "(" * 100_000, "[" * 100_000],
)  # fmt: skip
@pytest.mark.parametrize("engine", ENGINES)
def test_unsupported_patterns_are_refused(pattern: str, engine: Engine) -> None:
    with pytest.raises(UnreadablePatternError, match=r"."):
        read(pattern, engine)


def test_texts_of_alternatives() -> None:
    assert alternatives_of("a|(b|c)|[|]|\\||[[|]|]") == ("a", "(b|c)", "[|]", "\\|", "[[|]|]")
    assert alternatives_of("") == ("",)
    assert alternatives_of("a)|b\\") in (("a)|b\\",), ("a)", "b\\"))
