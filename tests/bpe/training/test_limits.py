"""Training holds only part of a text in memory.

A pre-token, a line or an indivisible text above its limit is an error that names the file.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bpe
import pretok
from bpe.errors import TextFileError
from bpe.text_files import blocks_of_file
from command_line import Call, environment
from pretok.machine.backend import BackendName
from pretok.stage import Stage
from support import need_native

WORD = "a" * 5000
SMALL: dict[str, Any] = {"vocab_size": 258, "max_pre_token": 1000, "max_text": 4000}


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def row(text: str) -> str:
    return json.dumps({"text": text}) + "\n"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("preset", ["cl100k", "gpt2", "deepseek-v3"])
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_a_long_pre_token_in_a_file(
    suffix: str, preset: str, threads: int, backend: BackendName, tmp_path: Path
) -> None:
    few = write(tmp_path / "few.txt", "some words " * 50 + "b" * 999)
    long = write(tmp_path / f"long{suffix}", f"some words {WORD} and more")
    how = SMALL | {"preset": preset, "backend": backend, "threads": threads}
    bpe.train([few], **how)
    for files in ([few, long], [long, few], [long]):
        with pytest.raises(TextFileError, match=rf"long{suffix}: .*more than 1000 bytes") as error:
            bpe.train(files, **how)
        assert "max_pre_token=" in str(error.value)
    bpe.train([few, long], **how | {"max_pre_token": 5001})


def test_a_long_pre_token_in_a_text(backend: BackendName) -> None:
    for text in (f"a {WORD} b", f"a {WORD} b".encode(), "é" * 600, "\U0001f600" * 300):
        with pytest.raises(ValueError, match=r"^a pre-token has more than 1000 bytes") as error:
            bpe.train(["few", text, "few"], backend=backend, **SMALL)
        assert not isinstance(error.value, TextFileError)
    bpe.train(["few words", "é" * 500], backend=backend, **SMALL)


def test_reading_stops_when_a_pre_token_is_too_long(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpe.training.corpus, "BLOCK", 1000)
    path = write(tmp_path / "a.txt", WORD * 100)
    given = 0

    def counted(name: str, size: int) -> Iterator[bytes]:
        nonlocal given
        for block in blocks_of_file(name, size):
            given += 1
            yield block

    monkeypatch.setattr(bpe.training.corpus, "blocks_of_file", counted)
    with pytest.raises(TextFileError, match=r"a\.txt: a pre-token has more than 1000 bytes"):
        bpe.train(path, backend=backend, **SMALL)
    assert given < 10


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_a_long_line(suffix: str, backend: BackendName, tmp_path: Path) -> None:
    good = row("a " * 1990)
    assert len(good) <= 4001
    path = write(tmp_path / f"a{suffix}", good + "\n" + good + row("a " * 2500) + good)
    with pytest.raises(
        TextFileError, match=rf"a{suffix}, line 4: the line has more than 4000 bytes"
    ):
        bpe.train(path, backend=backend, **SMALL)
    bpe.train(path, backend=backend, **SMALL | {"max_text": 5100})
    last = write(tmp_path / f"last{suffix}", row("x") + row("a " * 2500).strip())
    with pytest.raises(TextFileError, match=rf"last{suffix}, line 2: the line has more than"):
        bpe.train(last, backend=backend, **SMALL)


def test_a_long_pre_token_in_a_line_names_the_file(backend: BackendName, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", row("few") + row("b" * 1500))
    with pytest.raises(TextFileError, match=r"a\.jsonl: a pre-token has more than 1000 bytes"):
        bpe.train(path, backend=backend, **SMALL)


class Words:
    """A pre-tokenizer object, as a user may write it: it needs a text in one piece."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        ends = [at for at, char in enumerate(text) if char == " " and at]
        return np.array([0, *ends, len(text)] if text else [0])


def test_a_long_text_that_cannot_be_divided(backend: BackendName, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "few words " * 600)
    how = SMALL | {"preset": Words(), "backend": backend}
    with pytest.raises(TextFileError, match=r"a\.txt: .*needs the whole text.*4000 bytes"):
        bpe.train(path, **how)
    bpe.train(path, **how | {"max_text": 6000})


def test_a_preset_without_safe_cuts_is_streamed(backend: BackendName, tmp_path: Path) -> None:
    stage = Stage(pretok.get("gpt2").preset.stages[0].rules, "merged_with_next")
    preset = pretok.Preset("joined", stages=(stage,))
    path = write(tmp_path / "a.txt", "few words, and more\n" * 600)
    trained = bpe.train(path, preset=preset, backend=backend, vocab_size=270, max_text=100)
    whole = bpe.train([path.read_bytes()], preset=preset, backend=backend, vocab_size=270)
    assert trained.merges == whole.merges


@pytest.mark.parametrize("name", ["max_pre_token", "max_text"])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "9", True])
def test_impossible_limits_are_refused(name: str, wrong: Any) -> None:
    limits = {name: wrong}
    with pytest.raises(ValueError, match=rf"{name}=.*expected None or an int of at least 1"):
        bpe.train(["a"], vocab_size=257, **limits)


# The command line.


def test_the_error_of_the_command_names_the_file(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", f"some {WORD}")
    lines = write(tmp_path / "a.jsonl", row("few") + row("a " * 3000))
    out = tmp_path / "out.json"
    given = ["train", "-n", "260", "-o", str(out), "--max-pre-token", "1000", "--max-text", "4000"]
    for file, says in ((path, "--max-pre-token"), (lines, "line 2: ")):
        status, _, errors = call(*given, str(file))
        assert status == 2
        assert errors.splitlines()[-1].startswith(f"pretok: error: {file}")
        assert says in errors
        assert not out.exists()


def bomb(path: Path, head: bytes, size: int) -> Path:
    """Write a gzip file that unpacks to `head` and `size` bytes more."""
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(head)
        for _ in range(size >> 20):
            stream.write(b"a" * (1 << 20))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize(("name", "head"), [("a.txt.gz", b""), ("a.jsonl.gz", b'{"text": "')])
def test_a_gzip_bomb_takes_little_memory(name: str, head: bytes, tmp_path: Path) -> None:
    """A file of 0.2 MB unpacks to 192 MB. In a former version, it caused a MemoryError."""
    need_native()
    resource = pytest.importorskip("resource")
    path = bomb(tmp_path / name, head, 192 << 20)
    code = (
        "import sys; from bpe.cli import main;"
        "status = main(['train', '-q', '-n', '260', '-o', sys.argv[2], sys.argv[1]]);"
        # Not ru_maxrss: a child inherits the peak of its parent.
        "lines = open('/proc/self/status').read().splitlines();"
        "print(status, next(int(line.split()[1]) >> 10 for line in lines if 'VmHWM' in line))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(path), str(tmp_path / "out.json")],
        capture_output=True, text=True, check=True, env=environment(), cwd=os.sep,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )  # fmt: skip
    status, peak = map(int, result.stdout.split())
    assert status == 2
    assert result.stderr.startswith(f"pretok: error: {path}")
    assert "bytes" in result.stderr
    assert result.stderr.count("\n") == 1
    assert peak < 400


@pytest.mark.parametrize("command", ["train", "count", "encode"])
def test_out_of_memory_is_an_error_of_one_line(
    command: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("bpe.cli.commands.invoke", fail)
    status, output, errors = call(command)
    assert (status, output) == (2, "")
    assert errors.startswith("pretok: error: out of memory")
    assert errors.count("\n") == 1
