"""Commands that use a vocabulary, in a new process: pipes, terminals, signals, start-up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from command_line import (
    COMMAND,
    LONGEST,
    environment,
    finished,
    imported_modules,
    open_terminal,
    pipes,
    running,
    shown,
    small_tokenizer,
)
from pretok.machine.backend import BackendName

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes, signals and terminals")
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
TEXT = "hello caf\u00e9 \U0001f680\r\n\x00\n".encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file of small_tokenizer, and a text larger than the buffer of a pipe."""
    path = tmp_path_factory.mktemp("process")
    small_tokenizer().save(path / "small.json")
    path.joinpath("large.txt").write_bytes(b"hello there, \nand hello again\n" * 20_000)
    return path


LATIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}


def test_bytes_come_back_through_pipes_in_any_locale(folder: Path) -> None:
    # test_encode.py and test_decode.py use both backends.
    given = ("-v", str(folder / "small.json"))
    data = TEXT + bytes(range(256))
    for form in ("ids", "json", "uint16", "uint32"):
        encode = ("encode", *given, "--binary", "-f", form)
        status, ids, errors = finished(*encode, stdin=data, **LATIN)
        assert (status, errors) == (0, b"")
        form = "ids" if form == "json" else form
        assert finished("decode", *given, "-f", form, stdin=ids, **LATIN) == (0, data, b"")
    table = finished("encode", *given, "-f", "tokens", "-t", "\u4e2d hello", stdin=b"", **LATIN)[1]
    assert table.endswith(b'      1       7     260  " hello"\n')


def test_output_is_written_before_the_input_ends(folder: Path) -> None:
    given = ("-v", str(folder / "small.json"))
    with running("decode", *given, stdin=PIPE, stdout=PIPE) as process:
        ids, output = pipes(process)
        for text, expected in ((b"259 ", b"hello"), (b"26", b""), (b"0 195 ", b" hello\xc3")):
            ids.write(text)
            ids.flush()
            assert output.read(len(expected)) == expected
        assert process.communicate(b"169", timeout=LONGEST)[0] == b"\xa9"
    for command, expected in (("encode", b"259 260\n"), ("count", b"2\n")):
        with running(command, *given, "--lines", stdin=PIPE, stdout=PIPE) as process:
            lines, output = pipes(process)
            lines.write(b"hello hello\nhe")
            lines.flush()
            assert output.readline() == expected
            rest = process.communicate(b"", timeout=LONGEST)[0]
            assert rest == (b"256\n" if command == "encode" else b"1\n")


@posix
@pytest.mark.parametrize("command", ["encode", "encode --lines", "encode -f tokens",
                                     "count --lines"])  # fmt: skip
def test_a_broken_pipe_ends_the_command_quietly(command: str, folder: Path) -> None:
    given = [*command.split(), "-v", str(folder / "small.json"), str(folder / "large.txt")]
    with running(*given, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        output = pipes(process)[1]
        assert output.read(1)
        output.close()
        assert process.communicate(timeout=LONGEST)[1] == b""
    # The short output of `count` may fit into the pipe before it breaks. Then the command succeeds.
    assert process.returncode == 141 or (command == "count --lines" and process.returncode == 0)


@posix
def test_a_broken_pipe_ends_decode_quietly(folder: Path) -> None:
    given = ["decode", "-v", str(folder / "small.json")]
    with running(*given, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        ids, output = pipes(process)
        ids.write(b"259 ")
        ids.flush()
        assert output.read(5) == b"hello"
        output.close()
        ids.write(b"259 ")
        ids.flush()
        assert process.wait(timeout=LONGEST) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


@posix
@pytest.mark.parametrize(
    ("command", "closed"),
    [
        *product(["encode", "inspect"], ["<&-", ">&-", "2>&-"]),
        ("decode", "<&-"),
        ("decode", ">&-"),
        ("count", "<&-"),
    ],
)
def test_closed_standard_streams(closed: str, command: str, folder: Path) -> None:
    vocab = str(folder / "small.json")
    given = [command, vocab, "--on", "-"] if command == "inspect" else [command, "-v", vocab]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *given]
    found = subprocess.run(shell, input=b"49", capture_output=True, cwd="/", env=environment())
    if closed == "2>&-":
        assert found.returncode == 0
        assert found.stdout
    else:
        assert (found.returncode, found.stdout) == (2, b"")
        which = "input" if closed == "<&-" else "output"
        assert found.stderr.startswith(f"pretok: error: standard {which} is closed; ".encode())
        assert found.stderr.count(b"\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["encode -t x", "decode --ids 49", "count -t x"])
def test_a_full_disk(command: str, folder: Path) -> None:
    given = [*command.split(), "-v", str(folder / "small.json")]
    with open("/dev/full", "wb") as full, running(*given, stdout=full, stderr=PIPE) as process:
        errors = process.communicate(timeout=LONGEST)[1]
    assert process.returncode == 2
    assert errors.startswith(b"pretok: error: cannot write to standard output: No space left")
    assert errors.count(b"\n") == 1


# --- signals


@posix
@pytest.mark.parametrize("command", ["encode --lines", "decode", "count --lines"])
def test_ctrl_c_while_waiting_for_input(command: str, folder: Path) -> None:
    given = [*command.split(), "-v", str(folder / "small.json")]
    with running(*given, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        text, output = pipes(process)
        text.write(b"49\n")
        text.flush()
        assert output.read(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LONGEST) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


# The command interrupts itself at the second call of a function. It makes the first call before the
# training, when it tries out the arguments.
TRAIN = """
import importlib, os, signal, sys
from bpe.cli import main
place, name, *arguments = sys.argv[1:]
module = importlib.import_module(place)
work, calls = getattr(module, name), []
def interrupted(*given, **options):
    calls.append(given)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return work(*given, **options)
setattr(module, name, interrupted)
raise SystemExit(main(arguments))
"""


@posix
@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("bpe.training.training", "text_counter"),
        ("bpe.training.training", "_trainer"),
        ("os", "replace"),
    ],
    ids=["counting", "merging", "saving"],
)
def test_ctrl_c_while_training_does_not_change_the_file(
    tmp_path: Path, place: str, name: str, backend: BackendName
) -> None:
    out = tmp_path / "out.json"
    out.write_text("as it was", encoding="utf-8")
    given = ("train", "-", "-n", "260", "-o", str(out), "--backend", backend)
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, place, name, *given],
        input=b"words and words", capture_output=True, cwd=os.sep, env=environment(), check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert out.read_text(encoding="utf-8") == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


# --- terminals


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: the person's and the program's."""
    with open_terminal() as ends:
        yield ends


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("decode --ids 259", b"hello\r\n"),
        ("decode --ids 259,10", b"hello\r\n"),
        ("decode --ids []", b""),
        ("decode --ids 259 --lines", b"hello\r\n"),
        ("encode -t hello", b"259\r\n"),
    ],
)
def test_output_on_a_terminal_ends_with_a_line_break(
    terminal: tuple[int, int], folder: Path, command: str, expected: bytes
) -> None:
    given = [*command.split(), "-v", str(folder / "small.json")]
    with running(*given, stdout=terminal[1]) as process:
        assert shown(process, terminal) == expected


def test_training_is_quiet_on_a_terminal_if_asked(
    terminal: tuple[int, int], tmp_path: Path, backend: BackendName
) -> None:
    path, out = tmp_path / "words.txt", tmp_path / "out.json"
    path.write_bytes(b"ab abc abcd")
    given = ("train", str(path), "-n", "999", "-o", str(out), "--backend", backend, "-q")
    with running(*given, stdin=DEVNULL, stdout=terminal[1], stderr=terminal[1]) as process:
        assert shown(process, terminal) == b""
    assert process.returncode == 0


# --- start-up


def test_commands_import_only_what_they_need(folder: Path) -> None:
    vocab = str(folder / "small.json")
    vocabularies = {"bpe.errors", "bpe.tokenizer", "bpe.vocabulary", "bpe.formats", "unicodedata2"}
    network = {"bpe.hub.fetch", "urllib.request", "ssl", "tqdm"}
    for arguments, unwanted in (
        (["split", "-p", "o200k", "-t", "x"], vocabularies),
        (["split", "--help"], vocabularies),
        (["--help"], vocabularies),
        (["encode", "-v", vocab, "-t", "x"], network),
        (["decode", "-v", vocab, "--ids", "49"], network),
    ):
        modules = imported_modules(*arguments)
        assert unwanted.isdisjoint(modules)
        if unwanted is vocabularies:  # only bpe.cli is needed, because it lists the commands
            assert {name for name in modules if name.split(".")[0] == "bpe"} == {"bpe", "bpe.cli"}
        assert {"regex", "tiktoken", "tokenizers"}.isdisjoint(modules)
