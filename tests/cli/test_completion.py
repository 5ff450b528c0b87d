"""Completion of command lines in a shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import COMMAND, Call, environment
from pretok.cli.completion import SHELLS
from pretok.presets import BUILT_IN

Complete = Callable[..., list[str]]


@pytest.fixture
def complete(call: Call, monkeypatch: pytest.MonkeyPatch) -> Complete:
    """Return a function from the words of a command line to the completions of its last word."""

    def completions(*words: str) -> list[str]:
        monkeypatch.setenv("_PRETOK_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["pretok", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        status, out, err = call()
        assert (status, err) == (0, "")
        return out.splitlines()

    return completions


def plain(*names: str) -> list[str]:
    return [f"plain,{name}" for name in names]


def test_words_of_a_command_line(
    complete: Complete, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.json").touch()
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    (tmp_path / "hub" / "models--org--model").mkdir(parents=True)
    assert complete("co") == plain("compare", "convert", "corpus-info", "count")
    assert complete("split", "--pres") == plain("--preset")
    assert complete("split", "--preset", "llama3") == plain(
        "llama3", "llama3.1", "llama3.2", "llama3.3"
    )
    assert complete("diff", "gpt2", "qwen3.") == plain("qwen3.5")
    assert complete("encode", "-p", "tekk") == plain("tekken")
    assert complete("encode", "--vocab", "o200k_") == plain("o200k_base", "o200k_harmony")
    assert complete("encode", "--vocab", "mi") == plain("mine")
    assert complete("inspect", "or") == plain("org/model")
    assert complete("compare", "gpt2", "cl") == plain("cl100k_base")
    assert complete("bench", "-v", "r50") == plain("r50k_base")
    assert complete("fetch", "p50k") == plain("p50k_base", "p50k_edit")
    assert complete("bench", "--peer", "tik") == plain("tiktoken")
    assert complete("encode", "--special", "a") == plain("allow")
    for words in (("split", "REA"), ("encode", "-v", "folder/na"), ("train", "te"), ("count", "")):
        assert complete(*words) == [f"file,{words[-1]}"]


def test_every_preset_is_completed(complete: Complete) -> None:
    names = {line.partition(",")[2] for line in complete("split", "-p", "")}
    assert {preset.name for preset in BUILT_IN} <= names
    assert {alias for preset in BUILT_IN for alias in preset.aliases} <= names


@pytest.mark.parametrize("shell", SHELLS)
def test_the_code_for_a_shell(call: Call, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_PRETOK_COMPLETE", f"{shell}_source")
    status, out, err = call()
    assert (status, err) == (0, "")
    assert f"_PRETOK_COMPLETE={shell}_complete" in out


@pytest.mark.parametrize("request_", ["", "tcsh_source", "bash_other", "bash"])
def test_an_unknown_request(call: Call, monkeypatch: pytest.MonkeyPatch, request_: str) -> None:
    monkeypatch.setenv("_PRETOK_COMPLETE", request_)
    status, out, err = call()
    assert (status, out) == (2, "")
    assert err == (
        "pretok: error: expected bash_source, fish_source, zsh_source in _PRETOK_COMPLETE, got "
        f"{request_!r}\n"
    )


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="needs bash")
def test_bash_completes_with_the_code_of_the_documentation(tmp_path: Path) -> None:
    (tmp_path / "pretok").write_text(
        f'#!/bin/sh\nexec {" ".join(map(str, COMMAND))} "$@"\n', encoding="utf-8"
    )
    (tmp_path / "pretok").chmod(0o755)
    script = """
        PATH=$1:$PATH
        eval "$(_PRETOK_COMPLETE=bash_source pretok)"
        COMP_WORDS=(pretok split --preset deepseek-v) COMP_CWORD=3
        _pretok_completion pretok 2>&1
        echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", str(tmp_path)], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("deepseek-v3\n", "")
