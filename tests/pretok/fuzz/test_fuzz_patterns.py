"""The fuzzer of patterns: from_pattern never fails, and failures would be found and minimized."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pretok
from bpe.cli import main
from pretok import UnknownPatternError
from pretok.fuzz import patterns as fuzz_patterns_module
from pretok.fuzz.patterns import PatternMaker, fuzz_patterns
from pretok.patterns.parser import MAX_PATTERN_LENGTH
from pretok.patterns.recognize import from_pattern
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine
from pretok.presets import QWEN2
from support import max_examples

FromPattern = Callable[[str, Engine], PreTokenizer]


def test_no_pattern_fails() -> None:
    sizes: list[int] = []
    result = fuzz_patterns(seed=16, cases=max_examples(1000), on_batch=sizes.append)
    assert result.failure is None
    assert result.cases == max_examples(1000) == sum(sizes)
    assert result.cases > result.recognized >= result.compared > 0


def test_patterns_depend_on_the_seed_only() -> None:
    patterns = PatternMaker(1).batch(500)
    assert patterns == PatternMaker(1).batch(500)
    assert patterns != PatternMaker(2).batch(500)
    assert len({pattern for pattern, _ in patterns}) > 400
    assert {engine for _, engine in patterns} == {"hf", "tiktoken"}
    more = PatternMaker(1).batch(5000)
    assert any(len(pattern) > MAX_PATTERN_LENGTH for pattern, _ in more)
    assert any(MAX_PATTERN_LENGTH // 2 < len(pattern) <= MAX_PATTERN_LENGTH for pattern, _ in more)


def _raises(error: Exception, wanted: str) -> FromPattern:
    """Return a from_pattern that raises `error` for patterns that contain `wanted`."""

    def wrong(pattern: str, engine: Engine) -> PreTokenizer:
        if wanted in pattern:
            raise error
        return from_pattern(pattern, engine)

    return wrong


def _unknown(message: str) -> UnknownPatternError:
    return UnknownPatternError(message, "", "hf", "", "")


def _as_qwen2(pattern: str, engine: Engine) -> PreTokenizer:
    """A from_pattern that takes the pattern of llama3 for that of qwen2."""
    found = from_pattern(pattern, engine)
    return pretok.get(QWEN2) if found.preset.name == "llama3" else found


@pytest.mark.parametrize(
    ("wrong", "what", "small"),
    [
        (_raises(ValueError("int"), "+|"), "raises ValueError", "+|"),
        (_raises(RecursionError(), "(?"), "raises RecursionError", "(?"),
        (_raises(_unknown("a" * 10_001), "+|"), "raises an error of 10001 characters", "+|"),
        (_raises(_unknown("\ud800"), "+|"), "raises an error with unprintable characters", "+|"),
        (_as_qwen2, "does not split as 'qwen2' does", r"\p{N}{1,3}"),
    ],
)
def test_a_failure_is_found_and_minimized(
    wrong: FromPattern, what: str, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_patterns_module, "from_pattern", wrong)
    failure = fuzz_patterns(seed=1, cases=20_000).failure
    assert failure is not None
    assert failure.problem == what
    assert small in failure.pattern
    assert len(failure.pattern) <= max(len(small), len(pretok.presets()[3].pattern))


@pytest.mark.parametrize("engine", ["hf", "tiktoken"])
def test_errors_of_regex_are_no_failures(engine: Engine) -> None:
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    pattern = r"[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\S\p{N}]+[\r\n]*|\s+(?!\S)|\s+"
    assert fuzz_patterns_module._Check().problem(pattern, engine) == ""


def test_a_slow_pattern_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_patterns_module, "MAX_SECONDS", -1.0)
    failure = fuzz_patterns(cases=1).failure
    assert failure is not None
    assert failure.problem == "takes too long"


def test_a_limit_is_needed() -> None:
    with pytest.raises(ValueError, match="expected a limit, got none"):
        fuzz_patterns()
    assert fuzz_patterns(seconds=1e-9).cases == fuzz_patterns_module.BATCH


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["fuzz", "--patterns", "--cases", "300", "--seed", "5", "--seconds", "60"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == "patterns, seed 5"
    assert last.startswith("no failure in 300 cases, of which ")
    monkeypatch.setattr(fuzz_patterns_module, "from_pattern", _raises(KeyError(), "\\"))
    assert main(["fuzz", "--patterns", "--cases", "300", "--seed", "5", "--seconds", "60"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:3] == ["  failure   raises KeyError", "  pattern   '\\\\'"]
    assert out[-1].startswith("1 failure in ")


def test_cases_limit_the_fuzzing_of_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--preset", "gpt2", "--cases", "100", "--seconds", "60"]) == 0
    assert capsys.readouterr().out.endswith("no mismatch in 512 cases\n")
