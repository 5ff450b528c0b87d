"""The WebAssembly module splits as Python does, with every preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import pretok
from javascript import Calls, JsError, call, invalid_texts, preset, texts
from pretok.fuzz.text import changed_runs
from pretok.pre_tokenizer import native_machine
from pretok.unicode import VERSIONS
from support import PRESET_NAMES, SOME_NAMES

UNITS = {"codepoint": "char", "byte": "byte", "utf16": "utf16"}
ALL_NAMES = [listed.name for listed in pretok.presets()]
NO_RULE = -1


def _check_offsets(names: list[str], samples: Sequence[str | bytes], units: list[str]) -> None:
    calls = Calls(samples)
    for name in names:
        for unit in units:
            calls.each(preset(name), "offsets", unit)
    answers = iter(calls.answers())
    for name in names:
        tok = pretok.get(name)
        for unit in units:
            for text, bounds in zip(samples, next(answers), strict=True):
                expected = tok.offsets(text, unit=UNITS[unit])  # type: ignore[arg-type]
                assert bounds == expected.tolist(), (name, unit, text)


def test_offsets_equal_those_of_python() -> None:
    samples = texts(500)
    _check_offsets(PRESET_NAMES, samples, ["utf16"])
    _check_offsets(SOME_NAMES, samples, ["codepoint", "byte"])


def test_offsets_of_invalid_bytes_equal_those_of_python() -> None:
    samples = invalid_texts(100)
    _check_offsets(PRESET_NAMES, samples, ["byte"])
    _check_offsets(SOME_NAMES, samples, ["codepoint", "utf16"])


def test_spans_and_rules_equal_those_of_python() -> None:
    samples = texts(100)
    calls = Calls(samples)
    for name in ALL_NAMES:
        calls.each(preset(name), "splitWithRules", "codepoint")
    for name, answers in zip(ALL_NAMES, calls.answers(), strict=True):
        machine = native_machine(pretok.get(name))
        for text, answer in zip(samples, answers, strict=True):
            starts, ends, rules = machine.steps(text)
            expected = {"starts": [*starts], "ends": [*ends], "rules": [*rules]}
            assert answer == expected, (name, text)


def test_pre_tokens_and_counts_equal_those_of_python() -> None:
    # Without line breaks, controls and lone surrogates; the offsets above are tested with them.
    samples = [text for text in texts(60) if text.isprintable()]
    invalid = invalid_texts(30)
    names = ["cl100k", "deepseek-v3", "clip"]  # clip drops text
    of_str, of_bytes = Calls(samples), Calls(invalid)
    for name in names:
        of_str.each(preset(name), "split")
        of_bytes.each(preset(name), "split")
        of_bytes.each(preset(name), "count")
    str_answers, byte_answers = of_str.answers(), iter(of_bytes.answers())
    for name, pieces in zip(names, str_answers, strict=True):
        tok = pretok.get(name)
        assert pieces == [*map(tok.split, samples)], name
        assert next(byte_answers) == [*map(tok.split_bytes, invalid)], name
        assert next(byte_answers) == [*map(tok.count, invalid)], name


@pytest.mark.parametrize("name", ["cl100k", "deepseek-v3"])
def test_a_megabyte_splits_as_in_python(name: str) -> None:
    text = "".join(texts(400)).encode("utf-8", "replace").decode() * 150
    assert len(text.encode()) > 1 << 20
    bounds = call(preset(name), "offsets", text, "codepoint")
    assert bounds == pretok.get(name).offsets(text).tolist()


def test_every_unicode_version_has_its_own_classes() -> None:
    # The ends of the runs of code points whose class differs between Unicode versions.
    ends = {code for run, _ in changed_runs() for code in run}
    samples = ["".join(f"a{chr(code)}1{chr(code)} " for code in sorted(ends))]
    calls = Calls(samples)
    for version in VERSIONS:
        calls.each(preset("o200k", version), "offsets", "codepoint")
    answers = [answer for (answer,) in calls.answers()]
    assert len({str(answer) for answer in answers}) == len(VERSIONS)
    for version, bounds in zip(VERSIONS, answers, strict=True):
        assert bounds == pretok.get("o200k", unicode=version).offsets(samples[0]).tolist()


def test_the_module_lists_its_presets_and_versions() -> None:
    calls = Calls()
    for name in ("version", "unicodeVersion", "unicodeVersions", "presets"):
        calls.add(None, name)
    alias = "qwen3"  # of the preset qwen2
    calls.add(preset(alias), "preset")
    calls.add(preset(alias), "rules")
    version, unicode, versions, presets, qwen2, rules = calls.answers()
    assert version == pretok.__version__
    assert unicode == pretok.get("gpt2").unicode
    assert versions == list(VERSIONS)
    assert [listed["name"] for listed in presets] == ALL_NAMES
    assert qwen2["name"] == "qwen2"
    assert [rule["pattern"] for rule in rules] == [*map(str, pretok.get(alias).preset.rules)]


def _explained(name: str, text: str) -> list[Any]:
    """Return the answer of `explain` for each position of `text`: a list of stages."""
    calls = Calls()
    for position in range(len(text)):
        calls.add(preset(name), "explain", text, position, "codepoint")
    answers: list[Any] = calls.answers()
    return answers


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "deepseek-v3", "falcon"])
def test_explain_ends_with_the_pre_token_and_its_rule(name: str) -> None:
    text = "I'm 1234 años\n\n  old、日本 (x86_64) \U0001f600\U0001f600!"
    tok = pretok.get(name)
    steps = {at: step for step in tok.explain(text) for at in range(step.start, step.end)}
    for position, stages in enumerate(_explained(name, text)):
        step = steps[position]
        assert (stages[-1]["partStart"], stages[-1]["partEnd"]) == (step.start, step.end)
        rules = [stage["rule"] for stage in stages if stage["rule"] != NO_RULE]
        assert step.rule == (tok.preset.rules[rules[-1]] if rules else None)
        for stage in stages:
            *failed, last = stage["tried"]
            assert all(tried["end"] is None for tried in failed)
            matched = last["end"] is not None
            assert matched == (stage["rule"] != NO_RULE)
            if matched:
                assert last == {"rule": stage["rule"], "end": stage["partEnd"]}
                assert stage["start"] == stage["partStart"]


def test_explain_shows_the_rules_before_the_one_that_matches() -> None:
    (stage,) = call(preset("gpt2"), "explain", "I'm 25", 3)
    assert [tried["end"] for tried in stage["tried"]] == [None, None, 6]
    assert stage["rule"] == 2
    (dropped,) = call(preset("clip"), "explain", "a b", 1)
    assert dropped["isDropped"]


def test_errors_say_what_was_expected() -> None:
    calls = Calls()
    calls.add(preset("nosuch"), "split", "a")
    calls.add(preset("gpt2", "1.0"), "split", "a")
    calls.add(preset("gpt2"), "offsets", "a", "word")
    calls.add(preset("gpt2"), "split", 7)
    calls.add(preset("gpt2"), "explain", "abc", 3)
    calls.add(preset("gpt2"), "explain", "abc", -1)
    calls.add(preset("clip"), "offsets", "a b")
    calls.add(preset("r50k"), "free")
    calls.add(preset("r50k"), "split", "a")
    answers: list[JsError] = calls.answers()
    answers.pop(-2)  # of "free", the only call without an error; the next call uses a freed object
    codes = ["UNKNOWN_NAME"] * 2 + ["INVALID_ARGUMENT"] * 4 + ["REMOVES_TEXT", "INVALID_ARGUMENT"]
    assert [answer.code for answer in answers] == codes
    assert answers[1].message == (
        f"unknown Unicode version 1.0; expected one of {', '.join(VERSIONS)}"
    )
