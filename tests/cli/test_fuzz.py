"""The command `pretok fuzz`: what it prints, and its exit status."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

import pretok
from bpe.cli import main
from command_line import LONGEST, environment, running
from pretok import Preset, Run
from pretok.charsets import LETTER, NUMBER
from pretok.cli import fuzz as fuzz_cli
from pretok.fuzz import Mismatch
from pretok.fuzz.engines import engine
from pretok.machine.backend import BackendName
from pretok.presets import QWEN2
from pretok.rules import Rule
from support import changed

Fuzz = Callable[..., tuple[int, str, str]]


@pytest.fixture
def fuzz(capsys: pytest.CaptureFixture[str]) -> Fuzz:
    """Run `pretok fuzz` with arguments; return its exit status, output and errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["fuzz", *arguments])
        return status, *capsys.readouterr()

    return run


def test_the_command_reports_cases_preset_by_preset(fuzz: Fuzz) -> None:
    status, output, _ = fuzz("--against", "regex", "--seconds", "0.06", "--seed", "7")
    assert status == 0
    lines = output.splitlines()
    assert lines[0].startswith(f"pretok ({pretok.backend()}) against regex ")
    assert lines[0].endswith(", seed 7")
    names = [preset.name for preset in pretok.presets()]
    assert {line.split()[0] for line in lines[1:-1]} == set(names)
    tried = [line for line in lines[1:-1] if "skipped: " not in line]
    able = [
        name for name in names if not engine("regex").unsupported_reason(pretok.get(name).preset)
    ]
    assert [line.split()[0] for line in tried] == able
    cases = [int(line.split()[3]) for line in tried]
    assert min(cases) > 0
    assert lines[-1] == f"no mismatch in {sum(cases)} cases"


def test_aliases_of_one_preset_are_fuzzed_once(fuzz: Fuzz) -> None:
    status, output, _ = fuzz(
        "--preset", "qwen3", "--preset", "qwen2", "--against", "regex", "--seconds", "0.01"
    )
    assert status == 0
    assert [line.split()[0] for line in output.splitlines()[1:-1]] == ["qwen2"]


def test_presets_that_an_engine_cannot_express_are_named_once(fuzz: Fuzz) -> None:
    status, output, _ = fuzz("--against", "hf", "--seconds", "0.06")
    assert status == 0
    left_out = [line.split()[0] for line in output.splitlines() if "skipped: " in line]
    assert left_out == ["r50k", "cl100k"]
    tried = [line.split()[0] for line in output.splitlines() if " cases  no mismatch" in line]
    names = [preset.name for preset in pretok.presets()]
    assert tried == [name for name in names if name not in ("r50k", "cl100k")]


def test_the_command_shows_a_mismatch_and_exits_with_1(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch, backend: BackendName
) -> None:
    two = Run(NUMBER, at_most=2)
    rules = (two if rule == Run(NUMBER, at_most=1) else rule for rule in QWEN2.rules)
    wrong = changed(QWEN2, rules)
    monkeypatch.setattr(fuzz_cli, "find_preset", lambda name: wrong)
    status, output, _ = fuzz(
        "--preset", "wrong", "--against", "regex", "--seconds", "60", "--backend", backend
    )
    assert status == 1
    assert output.splitlines()[-6:] == [
        "  compared  split",
        "  text      '11'",
        "  pretok    ['11']",
        "  regex     ['1', '1']",
        "  rule      Run(NUMBER, at_most=2), \\p{N}{1,2} made '11'",
        "1 mismatch in 512 cases",
    ]


@pytest.mark.parametrize(
    ("ours", "rule", "line"),
    [
        (["a"], Run(LETTER), r"Run(LETTER), \p{L}+ made 'a'"),
        (["a"], None, "none matched 'a'"),
        ([], Run(LETTER), "none: pretok returned only 0 results, the engine more"),
    ],
)
def test_a_mismatch_names_the_rule(ours: list[str], rule: Rule | None, line: str) -> None:
    mismatch = Mismatch("split", "ab", ours, ["b"], 0, rule)
    assert fuzz_cli.rule_of(mismatch) == line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preset", "qwen22", "--against", "regex"), "unknown preset 'qwen22'"),
        (("--against", "python", "--backend", "python"), "compared with itself|not built"),
        (("--against", "onig"), "'onig' is not one of 'regex', 'tiktoken', 'hf', 'python'"),
        (("--against", "regex", "--seconds", "0"), "0.0 is not in the range x>0"),
    ],
)
def test_a_wrong_call_is_an_error_with_status_2(
    fuzz: Fuzz, arguments: tuple[str, ...], message: str
) -> None:
    status, _, error = fuzz(*arguments)
    assert status == 2
    assert error.startswith("pretok: error: ")
    assert error.count("\n") == 1
    assert any(part in error for part in message.split("|"))


def test_no_preset_that_the_engine_can_express_is_an_error(
    fuzz: Fuzz,
) -> None:
    status, output, error = fuzz("--preset", "cl100k", "--against", "hf")
    assert status == 2
    assert "cl100k  skipped: " in output
    assert "hf cannot express any of these presets" in error


def test_a_preset_without_a_pattern_is_an_error(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_cli, "find_preset", lambda name: Preset("mine", rules=(Run(LETTER),)))
    status, _, error = fuzz("--preset", "mine", "--against", "regex")
    assert status == 2
    assert "preset 'mine' has no pattern" in error


@pytest.mark.parametrize(
    ("name", "module"), [("regex", "regex"), ("tiktoken", "tiktoken"), ("hf", "tokenizers")]
)
def test_a_missing_extra_is_an_error_that_says_what_to_install(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    engine.cache_clear()
    assert fuzz("--against", name) == (
        2,
        "",
        f"pretok: error: comparing with {name} needs the package {module}; "
        f"install it with `pip install {module}`\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")
def test_ctrl_c_prints_the_count_so_far_and_exits_with_130() -> None:
    given = ("fuzz", "--preset", "gpt2", "--seconds", "300")
    flushed = environment(PYTHONUNBUFFERED="1")
    with running(*given, env=flushed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(b"pretok (")
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=LONGEST)
    assert child.returncode == 130
    assert output.startswith(b"interrupted: no mismatch in ")
    assert errors == b""
