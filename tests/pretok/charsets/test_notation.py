"""The two notations of a set: a Python expression that makes it, and a regex class."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings

from pretok.charsets import sets
from pretok.charsets.notation import set_name, set_regex
from pretok.charsets.sets import ANY, HAN, LETTER, MARK, NOTHING, CharSet, code_points
from pretok.preset import Preset
from pretok.presets import BUILT_IN
from strategies import NAMED, char_sets
from support import max_examples, members, stable

SAMPLE = [c for c in (*range(0x3100), *range(0x4DF0, 0x4E10), *range(0x1F5F0, 0x1F610), 0x10FFFF)
          if stable(chr(c))]  # fmt: skip


@given(char_sets)
@settings(max_examples=max_examples(200))
def test_a_name_is_an_expression_that_makes_the_set(chars: CharSet) -> None:
    assert eval(set_name(chars), dict(vars(sets))) == chars
    assert repr(chars) == set_name(chars)


@pytest.mark.parametrize(
    ("chars", "name", "pattern"),
    [
        (sets.LETTER, "LETTER", r"\p{L}"),
        (sets.OTHER, "OTHER", r"[^\s\p{L}\p{N}]"),
        (sets.UPPER | sets.LOWER, "UPPER | LOWER", r"[\p{Lu}\p{Lt}\p{Ll}]"),
        (~sets.WHITE_SPACE, None, r"[^\s]"),
        (~(sets.NEWLINE | sets.LETTER), "~(LETTER | NEWLINE)", r"[^\r\n\p{L}]"),
        (code_points("a-f"), "code_points((0x61, 0x66))", "[a-f]"),
        (code_points("/"), "code_points('/')", "/"),
        (code_points("-"), "code_points('-')", r"[\-]"),
        (code_points("]", "^", "\\"), None, r"[\\-\^]"),
        (code_points((0x4E00, 0x9FA5)), "code_points((0x4e00, 0x9fa5))", r"[\x{4E00}-\x{9FA5}]"),
        (NOTHING, "NOTHING", None),
        (sets.WORD, "WORD", r"\w"),
        (~(sets.WORD | sets.WHITE_SPACE), "~(WORD | WHITE_SPACE)", r"[^\s\w]"),
        (~sets.ONIGURUMA_WORD, "~ONIGURUMA_WORD", "[~ONIGURUMA_WORD]"),
        (sets.HF_PUNCTUATION, "HF_PUNCTUATION", "[HF_PUNCTUATION]"),
        (sets.ANY, "ANY", r"[\s\S]"),
        (sets.UPPER | MARK - HAN, "(MARK | UPPER) - HAN", r"[\p{M}\p{Lu}\p{Lt}&&[^\p{Han}]]"),
        (LETTER - HAN, "LETTER - HAN", r"[\p{L}&&[^\p{Han}]]"),
    ],
)
def test_names_and_regex_classes(chars: CharSet, name: str | None, pattern: str | None) -> None:
    if name is not None:
        assert set_name(chars) == name
    if pattern is not None:
        assert set_regex(chars) == pattern


def is_regex(chars: CharSet) -> bool:
    """Return whether set_regex(chars) is free of Python names, which `regex` cannot read."""
    return not any(name in set_regex(chars) for name in (*NAMED, "NOTHING", "CharSet", "code_p"))


PRESET_SETS = {chars for preset in BUILT_IN for rule in preset.rules for chars in rule.sets()}
NAMED_SETS = {*NAMED.values()}
EXTRA_SETS = {code_points("-", "]", "^"), code_points((0x4E00, 0x9FA5)), MARK | LETTER, ~HAN}


@pytest.mark.parametrize(
    "chars",
    sorted(
        {*PRESET_SETS, *NAMED_SETS, *EXTRA_SETS, *[~chars for chars in NAMED_SETS if chars != ANY]},
        key=repr,
    ),
    ids=set_name,
)
def test_a_regex_class_has_the_members_of_the_set(chars: CharSet) -> None:
    if not is_regex(chars):
        # Sets that mix classes and code points are shown by their Python name.
        assert set_name(chars) in set_regex(chars)
        return
    _same_members(chars)


@given(char_sets)
@settings(max_examples=max_examples(60))
def test_a_regex_class_has_the_members_of_any_set(chars: CharSet) -> None:
    if chars and is_regex(chars):
        _same_members(chars)


@pytest.mark.parametrize("preset", BUILT_IN, ids=lambda preset: preset.name)
def test_the_rules_of_presets_are_shown_as_regexes(preset: Preset) -> None:
    for rule in preset.rules:
        assert "CharSet(" not in str(rule)


def readable(pattern: str) -> str:
    """Return `pattern` in the syntax of the library regex, which does not have \\x{...}."""
    return str(regex.sub(r"\\x\{(\w+)\}", lambda found: rf"\U{int(found[1], 16):08x}", pattern))


def _same_members(chars: CharSet) -> None:
    # VERSION1 has intersections of classes.
    match = regex.compile(readable(set_regex(chars)), regex.VERSION1).fullmatch
    inside = members(chars)
    wrong = [hex(c) for c in SAMPLE if bool(match(chr(c))) != inside[c]]
    assert not wrong, f"{set_regex(chars)}: {wrong[:10]}"
