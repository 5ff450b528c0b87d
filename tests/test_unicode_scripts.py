"""UnicodeScripts and its table: every code point has the script that tokenizers gives it."""

from __future__ import annotations

import pytest

from pretok.errors import InvalidRuleError
from pretok.pre_tokenizers import UnicodeScripts
from pretok.unicode import CODE_POINTS
from support import REPOSITORY, repository_module

tokenizers = pytest.importorskip("tokenizers")
GENERATOR = repository_module("pretok", "pre_tokenizers", "generate.py")
needs_the_release = pytest.mark.skipif(
    tokenizers.__version__ != GENERATOR.RELEASE,
    reason=f"the table is that of tokenizers {GENERATOR.RELEASE}",
)


@needs_the_release
def test_the_table_is_what_tokenizers_has() -> None:
    assert GENERATOR.TABLE.relative_to(REPOSITORY).as_posix() == (
        "pretok/pre_tokenizers/script_table.py"
    )
    assert GENERATOR.main(["--check"]) == 0


@needs_the_release
@pytest.mark.parametrize("step", [1, 617, 99_991])
def test_every_code_point_beside_another(step: int) -> None:
    # In the order of their numbers, and in two others.
    every = [chr(c) for c in range(CODE_POINTS) if not 0xD800 <= c < 0xE000]
    text = "".join(every[i * step % len(every)] for i in range(len(every)))
    assert len(set(text)) == len(every)
    wanted = tokenizers.pre_tokenizers.UnicodeScripts().pre_tokenize_str(text)
    assert UnicodeScripts().pre_tokenize_str(text) == wanted


def test_a_lone_surrogate_has_no_script() -> None:
    assert UnicodeScripts().pre_tokenize_str("\ud800a\udfffα") == [
        ("a\udfff", (1, 3)),
        ("α", (3, 4)),
    ]


def test_it_is_no_stage() -> None:
    with pytest.raises(InvalidRuleError, match="136 kinds of code points apart, more than"):
        UnicodeScripts().stages()
