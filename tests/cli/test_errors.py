"""The command line: errors, the version and help."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pretok
from command_line import Call
from pretok.cli import input as cli_input


def errors_of(call: Call, *arguments: str, stdin: bytes = b"") -> str:
    status, output, errors = call(*arguments, stdin=stdin)
    assert (status, output) == (2, "")
    assert errors.startswith("pretok: error: ")
    assert errors.index("\n") == len(errors) - 1
    return errors


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["split", "-p", "qwen4", "-t", "x"], "unknown preset 'qwen4'; did you mean 'qwen"),
        (["split", "-p", "qwen4", "-t", "x"], "'pretok presets' lists them all"),
        (["split", "-p", "#", "-t", "x"], "unknown preset '#'; 'pretok presets' lists them all"),
        (["presets", "llama3.9"], "did you mean 'llama3"),
        (["diff", "gpt2", "gpt3", "-t", "x"], "unknown preset 'gpt3'; did you mean 'gpt"),
        (["split", "-t", "x"], "missing option '--preset' / '-p'; see 'pretok split --help'"),
        (["split", "-p", "qwen2", "-t", ""], "--text is empty; expected some text"),
        (["split", "-p", "qwen2"], "standard input is empty; expected some text"),
        (["explain", "-p", "qwen2", "-f", "json"], "standard input is empty; expected some text"),
        (
            ["split", "-p", "qwen2", "--unicode", "13.0", "-t", "x"],
            "unknown Unicode version '13.0'",
        ),
        (["split", "-p", "qwen2", "--unicode", "13.0", "-t", "x"], "'15.0', '15.1', '16.0'"),
        (["split", "-p", "qwen2", "-t", "x", "file"], "got both FILE and --text"),
        (
            ["split", "-p", "qwen2", "-t", "x", "--unit", "byte"],
            "--unit needs --format offsets",
        ),
        (["split", "-p", "qwen2", "-t", "x", "--backend", "gpu"], "'native', 'python'"),
        (["split", "-p", "qwen2", "-f", "xml"], "'text', 'json', 'offsets'"),
        (["split", "-p", "qwen2", "a", "b"], "see 'pretok split --help'"),
        (["split", "--\x1b[2J\n"], "\\x1b[2J"),
        (["splat"], "no such command 'splat'"),
        (["--wrong"], "no such option"),
        (["bench", "--nothing"], "see 'pretok bench --help'"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(
    call: Call, arguments: list[str], expected: str
) -> None:
    assert expected in errors_of(call, *arguments)


def test_files_that_cannot_be_read(call: Call, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    hint = "; pass a readable file, '-' for standard input, or the text itself with --text"
    for path, expected in (
        (tmp_path / "missing", "No such file or directory" + hint),
        (tmp_path, "directory" if sys.platform != "win32" else "denied"),
        (empty, "is empty; expected some text"),
        (tmp_path / "a\nb\x1b", "a\\nb\\x1b'"),
        (tmp_path / ("long" * 999), "..."),
    ):
        errors = errors_of(call, "split", "-p", "qwen2", str(path))
        assert expected in errors
        assert len(errors) < 400


def test_a_nonblocking_input_is_an_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoWait:
        def read(self, _: int) -> None: ...

    monkeypatch.setattr(cli_input, "_standard_input", lambda _: NoWait())
    assert "O_NONBLOCK" in errors_of(call, "split", "-p", "qwen2")


def test_version_and_help(call: Call) -> None:
    shown = f"pretok {pretok.__version__} ({pretok.backend()} backend)\n"
    assert call("--version") == (0, shown, "")
    status, output, _ = call("--help")
    assert status == 0
    for command in ("split", "explain", "presets", "diff", "encode", "decode", "count", "train",
                    "inspect", "fetch", "fuzz", "bench"):  # fmt: skip
        assert f"\n  {command} " in output
        status, shown, errors = call(command, "-h")
        assert (status, errors) == (0, "")
        assert shown.startswith(f"Usage: pretok {command} ")
    assert call()[:2] == (0, output)
