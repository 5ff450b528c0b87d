"""The cases of cases/*.toml and regressions.toml, on every backend and on the engines."""

from __future__ import annotations

from pathlib import Path

import pytest

import pretok
from case_files import CASES, REGRESSIONS, Case, all_cases, load
from pretok.presets import BUILT_IN
from pretok.pretokenizer import BackendName
from pretok.registry import find
from support import CORE_NAMES, engine_split, regex_split, stable

ANSWERS = list(all_cases())
each_answer = pytest.mark.parametrize(
    ("case", "preset"),
    [
        pytest.param(case, preset, id=f"{file}: {case.name}: {preset}")
        for file, case, preset in ANSWERS
    ],
)


@each_answer
def test_backends_split_as_the_case_says(case: Case, preset: str, backend: BackendName) -> None:
    tok = pretok.get(preset, backend=backend)
    wanted = list(case.pre_tokens)
    assert tok.split(case.text) == wanted
    assert [step.text for step in tok.explain(case.text)] == wanted
    assert tok.count(case.text) == len(wanted)
    assert tok.split_bytes(case.text.encode()) == [part.encode() for part in wanted]


STABLE = [
    pytest.param(case, preset, id=f"{file}: {case.name}: {preset}")
    for file, case, preset in ANSWERS
    if stable(case.text)
]


@pytest.mark.parametrize(("case", "preset"), STABLE)
def test_engines_split_as_the_case_says(case: Case, preset: str) -> None:
    wanted = list(case.pre_tokens)
    if preset in CORE_NAMES:
        assert regex_split(find(preset).pattern, case.text) == wanted, "regex"
    assert engine_split(find(preset), case.text) == wanted, find(preset).engine


def test_few_cases_depend_on_the_unicode_version() -> None:
    assert len(STABLE) > len(ANSWERS) * 0.95


def test_every_preset_of_the_core_has_cases_in_every_file_and_every_other_somewhere() -> None:
    everywhere = set()
    for path in CASES.glob("*.toml"):
        covered = {preset for case in load(path) for preset in case.presets}
        everywhere |= covered
        assert path.name == "catalogue.toml" or covered >= set(CORE_NAMES), path.name
    assert everywhere == {preset.name for preset in BUILT_IN if not preset.removes}


def test_the_files_are_there() -> None:
    assert len(list(CASES.glob("*.toml"))) >= 6
    assert REGRESSIONS.is_file()


GOOD = 'name = "n"\ntext = "ab"\npresets = ["gpt2"]\npre_tokens = ["ab"]\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[case]]\n" + GOOD.replace('"n"', "n"), "Invalid"),
        ("[[regression]]\n" + GOOD, r"\['regression'\]; expected only \[\[case\]\]"),
        ("[case]\n" + GOOD, "expected only"),
        ("[[case]]\n" + GOOD + 'why = "?"\n', "case 1: has .*'why'.*; expected"),
        ("[[case]]\n" + GOOD.replace("text", "txt"), "case 1: has .*'txt'"),
        ("[[case]]\n" + GOOD.replace('["ab"]', '"ab"'), "case 1: pre_tokens='ab'"),
        ("[[case]]\n" + GOOD.replace('["gpt2"]', "[2]"), r"case 1: presets=\[2\]"),
        ("[[case]]\n" + GOOD.replace('["gpt2"]', "[]"), "no presets"),
        ("[[case]]\n" + GOOD.replace('["ab"]', '["a"]'), "are not the text"),
        ("[[case]]\n" + GOOD.replace('["ab"]', '["ab", ""]'), "one is empty"),
        (("[[case]]\n" + GOOD) * 2, r"case 2: \('n', 'gpt2'\) is there twice"),
    ],
)
def test_a_malformed_case_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"some.toml.*{message}"):
        load(path)


def test_a_regression_says_why(tmp_path: Path) -> None:
    path = tmp_path / REGRESSIONS.name
    path.write_text("[[regression]]\n" + GOOD)
    with pytest.raises(ValueError, match=r"regression 1: has .*; expected .*'why'"):
        load(path)
    path.write_text("[[regression]]\n" + GOOD + 'why = "because"\n')
    assert [case.why for case in load(path)] == ["because"]
