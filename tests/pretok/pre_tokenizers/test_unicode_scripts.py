"""UnicodeScripts and its table: every code point has the script of Hugging Face's tokenizers."""

from __future__ import annotations

from functools import cache

import pytest

import pretok
from paths import ROOT, generator
from pretok.machine.backend import BackendName
from pretok.pre_tokenizers import UnicodeScripts, scripts
from pretok.unicode import CODE_POINTS
from support import FULL, scalar_values

tokenizers = pytest.importorskip("tokenizers")
GENERATOR = generator("script_table")
PRESET = pretok.Preset("scripts", stages=(UnicodeScripts(),))
needs_the_release = pytest.mark.skipif(
    tokenizers.__version__ != GENERATOR.RELEASE,
    reason=f"needs tokenizers {GENERATOR.RELEASE}, from which the table was made",
)


@needs_the_release
@pytest.mark.skipif(not FULL, reason="asks about every code point; set PRETOK_FULL=1")
def test_the_table_equals_that_of_hugging_face() -> None:
    assert GENERATOR.TABLE.relative_to(ROOT).as_posix() == ("pretok/pre_tokenizers/script_table.py")
    assert GENERATOR.main(["--check"]) == 0


@cache
def every_code_point(step: int) -> str:
    """Return each of support.scalar_values once, in steps of `step` that wrap around at the end.

    `step` and the number of values must have no common divisor.
    """
    every = "".join(map(chr, scalar_values()))
    text = "".join([every[i % len(every)] for i in range(0, len(every) * step, step)])
    assert len(set(text)) == len(every)
    return text


@cache
def pieces(step: int) -> list[tuple[str, tuple[int, int]]]:
    return UnicodeScripts().pre_tokenize_str(every_code_point(step))


# Step 1 is the order of the code points; the other steps mix the scripts.
STEPS = (1, 617, 99_991) if FULL else (1, 617)


@needs_the_release
@pytest.mark.parametrize("step", STEPS)
def test_every_code_point_beside_another(step: int) -> None:
    text = every_code_point(step)
    wanted = tokenizers.pre_tokenizers.UnicodeScripts().pre_tokenize_str(text)
    assert pieces(step) == wanted


@pytest.mark.parametrize("step", STEPS)
def test_stages_cut_every_code_point_alike(step: int, backend: BackendName) -> None:
    text = every_code_point(step)
    found = pretok.PreTokenizer(PRESET, backend=backend).spans(text)
    assert list(found) == [span for _, span in pieces(step)]


def test_no_two_scripts_are_in_the_same_groups() -> None:
    _, *stages = UnicodeScripts().stages()
    first: dict[int, int] = {}
    for code_point in range(CODE_POINTS):
        first.setdefault(int(scripts.script_numbers()[code_point]), code_point)
    assert sorted(first) == list(range(136))
    groups = [
        [number for stage in stages for number, rule in enumerate(stage.rules)
         if rule.sets()[0].mask_at(code_point)]
        for script, code_point in first.items() if script != scripts.JOINER
    ]  # fmt: skip
    assert all(len(of_one) == 2 for of_one in groups)
    assert len({tuple(of_one) for of_one in groups}) == 135


def test_a_lone_surrogate_has_no_script() -> None:
    text = "\ud800a\udfffα"
    assert UnicodeScripts().pre_tokenize_str(text) == [("a\udfff", (1, 3)), ("α", (3, 4))]
    assert pretok.PreTokenizer(PRESET, backend="python").split(text) == ["a\udfff", "α"]
