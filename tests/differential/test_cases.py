"""Every backend and every engine gives the pre-tokens of cases/*.toml and regressions.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pretok
from case_files import cases_by_preset, load
from paths import CASES, REGRESSIONS
from pretok.machine.backend import BackendName
from pretok.presets import BUILT_IN
from pretok.registry import find
from support import CORE_NAMES, engine_splits, regex_split, stable

CASES_OF = cases_by_preset()
# One test checks all cases of a preset: thousands of tests take longer to collect than to run.
each_preset = pytest.mark.parametrize("preset", CASES_OF)


@each_preset
def test_backends_split_as_the_cases_say(preset: str, backend: BackendName) -> None:
    tok = pretok.get(preset, backend=backend)
    wrong: dict[str, Any] = {}
    for name, case in CASES_OF[preset].items():
        wanted, data = list(case.pre_tokens), case.text.encode()
        answers = {
            "split": (tok.split(case.text), wanted),
            "explain": ([step.text for step in tok.explain(case.text)], wanted),
            "count": (tok.count(case.text), len(wanted)),
            "split_bytes": (tok.split_bytes(data), [part.encode() for part in wanted]),
        }
        differ = {what: pair for what, pair in answers.items() if pair[0] != pair[1]}
        if differ:
            wrong[name] = differ
    assert wrong == {}, "each pair has our answer, then that of the case"


@each_preset
def test_engines_split_as_the_cases_say(preset: str) -> None:
    cases = {name: case for name, case in CASES_OF[preset].items() if stable(case.text)}
    assert len(cases) > len(CASES_OF[preset]) * 0.9, "too many depend on the Unicode version"
    texts = [case.text for case in cases.values()]
    found: dict[str, list[list[str]]] = {find(preset).engine: engine_splits(find(preset), texts)}
    if preset in CORE_NAMES:
        found["regex"] = [regex_split(find(preset).pattern, text) for text in texts]
    wrong = {
        (engine, name): (split, case.pre_tokens)
        for engine, splits in found.items()
        for (name, case), split in zip(cases.items(), splits, strict=True)
        if split != list(case.pre_tokens)
    }
    assert wrong == {}, "each pair has the answer of the engine, then that of the case"


def test_core_presets_have_cases_in_every_file_and_other_presets_in_some_file() -> None:
    everywhere = set()
    for path in CASES.glob("*.toml"):
        covered = {preset for case in load(path) for preset in case.presets}
        everywhere |= covered
        assert path.name == "catalogue.toml" or covered >= set(CORE_NAMES), path.name
    assert everywhere == {preset.name for preset in BUILT_IN if not preset.drops_text}


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
        ("[[case]]\n" + GOOD.replace('["ab"]', '["a"]'), "differ from the text"),
        ("[[case]]\n" + GOOD.replace('["ab"]', '["ab", ""]'), "a pre-token is empty"),
        (("[[case]]\n" + GOOD) * 2, r"case 2: \('n', 'gpt2'\) occurs twice"),
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
