"""Text in the output of commands: escapes and columns."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from command_line import unescaped
from pretok.cli.output import EXACTNESS, Escaper, pad
from pretok.preset import EXACTNESSES
from support import scalar_values


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\\nxu"))))
def test_escapes_can_be_undone(texts: list[str]) -> None:
    lines = Escaper("16.0").lines(texts)
    assert lines.count("\n") == len(texts)
    assert [unescaped(line) for line in lines.split("\n")[:-1]] == texts
    assert Escaper("16.0").each(texts) == lines.split("\n")[:-1]


def test_characters_that_python_does_not_print_are_escaped() -> None:
    chars = [*map(chr, scalar_values()), *map(chr, range(0xD801, 0xE000))]
    shown = dict(zip(chars, Escaper("18.0").each(chars), strict=True))
    known = [char for char in chars if unicodedata.category(char) != "Cn"]
    assert len(known) > 80_000
    wrong = [
        char for char in known if (shown[char] == char) != (char.isprintable() and char != "\\")
    ]
    assert wrong == []
    assert len(set(shown.values())) == len(chars)


def test_escapes_depend_on_the_unicode_version_only() -> None:
    assert Escaper("15.0").each(["\u1c89"]) == ["\\u1c89"]
    assert Escaper("16.0").each(["\u1c89"]) == ["\u1c89"]


def test_many_different_escapes_in_one_text() -> None:
    text = "".join(map(chr, range(0xE000, 0xE800))) + "\\\n a"
    assert unescaped(Escaper("16.0").each([text, "b"])[0]) == text


def test_columns_allow_for_wide_and_combining_characters() -> None:
    assert pad("ab", 4) == "ab  "
    assert pad("\u4e2d", 4) == "\u4e2d  "
    assert pad("x\u0301", 4) == "x\u0301   "
    assert pad("abcdef", 4) == "abcdef"


def test_each_exactness_has_a_description() -> None:
    assert set(EXACTNESS) == set(EXACTNESSES)
