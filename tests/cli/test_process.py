"""The command line in a new process: pipes, terminals, signals, memory, start-up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import pretok
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
)
from pretok.machine.backend import BackendName

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes, signals and terminals")
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
WORDS = b"It's some 12 words,  over\n\nand over. "
LARGEST_GROWTH = 6 << 20


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text that takes a while to print, and is larger than the buffer of a pipe."""
    path = tmp_path_factory.mktemp("large") / "large.txt"
    path.write_bytes(WORDS * 60_000)
    return path


def test_both_backends_print_the_same(backend: BackendName) -> None:
    status, output, errors = finished("split", "-p", "qwen2", stdin=WORDS, PRETOK_BACKEND=backend)
    assert (status, errors) == (0, b"")
    expected = pretok.get("qwen2").split(WORDS.decode())
    assert output.decode() == "".join(text.replace("\n", "\\n") + "\n" for text in expected)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_output_is_utf8_and_line_breaks_are_kept_in_any_locale(locale: str) -> None:
    added = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    text = "na\u00efve \U0001f680\r\nx"
    status, output, errors = finished("split", "-p", "gpt2", stdin=text.encode(), **added)
    assert (status, errors) == (0, b"")
    assert output == "na\u00efve\n \U0001f680\n\\r\n\\n\nx\n".encode()


def test_errors_leave_no_traceback() -> None:
    for arguments, stdin, added in (
        (["-p", "nothing", "-t", "x"], b"", {}),
        (["-p", "qwen2", os.curdir], b"", {}),
        (["-p", "qwen2"], b"a\0", {}),
        (["-p", "qwen2", "-t", "x"], b"", {"PRETOK_BACKEND": "gpu"}),
    ):
        status, output, errors = finished("split", *arguments, stdin=stdin, **added)
        assert (status, output) == (2, b"")
        assert errors.startswith(b"pretok: error: ")
        assert errors.count(b"\n") == 1


@posix
def test_arguments_that_are_not_utf8_are_bytes() -> None:
    text = os.fsdecode(b"a\xff")
    assert finished("split", "-p", "qwen2", "--binary", "-t", text)[1] == b"a\n\\xff\n"
    status, _, errors = finished("split", "-p", "qwen2", "-t", text)
    assert (status, errors[:51]) == (2, b"pretok: error: --text, byte 1: 0xff is not UTF-8; e")


# --- pipes


@posix
@pytest.mark.parametrize(
    "command", ["split -p qwen2", "explain -p qwen2 -f json", "diff gpt2 qwen2"]
)
def test_a_broken_pipe_ends_the_command_quietly(
    command: str, large: Path, backend: BackendName
) -> None:
    given = [*command.split(), "--backend", backend, str(large)]
    with running(*given, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        output = pipes(process)[1]
        assert output.readline()
        output.close()
        assert process.communicate(timeout=LONGEST)[1] == b""
    assert process.returncode == 141


@posix
@pytest.mark.parametrize(
    "arguments", [["--help"], ["presets"], ["split", "-p", "qwen2", "-t", "x"]]
)
def test_a_pipe_that_is_closed_from_the_start(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with running(*arguments, stdout=writer, stderr=PIPE) as process:
        os.close(writer)
        assert process.communicate(timeout=LONGEST)[1] == b""
    assert process.returncode == 141


def test_output_is_written_before_the_input_ends() -> None:
    with running("split", "-p", "gpt2", stdin=PIPE, stdout=PIPE) as process:
        given, output = pipes(process)
        given.write(b"Hello, world ")
        given.flush()
        assert [output.readline() for _ in range(3)] == [b"Hello\n", b",\n", b" world\n"]
        assert process.communicate(b"42", timeout=LONGEST)[0] == b" 42\n"


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_standard_streams(closed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "split", "-p", "qwen2"]
    found = subprocess.run(shell, input=b"x", capture_output=True, cwd="/", env=environment())
    if closed == "2>&-":
        assert (found.returncode, found.stdout) == (0, b"x\n")
    else:
        assert (found.returncode, found.stdout) == (2, b"")
        which = "input" if closed == "<&-" else "output"
        assert found.stderr.startswith(f"pretok: error: standard {which} is closed; ".encode())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["split", "-p", "qwen2", "-t", "x"]])
def test_a_full_disk(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full, running(*arguments, stdout=full, stderr=PIPE) as process:
        errors = process.communicate(timeout=LONGEST)[1]
    assert process.returncode == 2
    assert errors.startswith(b"pretok: error: ")
    assert errors.endswith(b"\n")
    assert errors.count(b"\n") == 1
    assert b"No space left on device" in errors


# --- signals


@posix
def test_ctrl_c_while_the_output_is_not_read(large: Path, backend: BackendName) -> None:
    given = ["split", "-p", "qwen2", "--backend", backend, str(large)]
    with running(*given, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert pipes(process)[1].readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LONGEST) == 130
        assert process.communicate()[1] == b""


@posix
def test_ctrl_c_while_waiting_for_input() -> None:
    with running("split", "-p", "gpt2", stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        given, output = pipes(process)
        given.write(b"Hello, ")
        given.flush()
        assert output.readline() == b"Hello\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LONGEST) == 130
        assert process.communicate()[1] == b""


# --- terminals


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: the person's and the program's."""
    with open_terminal() as ends:
        yield ends


@pytest.mark.parametrize(
    ("arguments", "added", "colored"),
    [([], {}, True), ([], {"NO_COLOR": "1"}, False), (["--no-color"], {}, False),
     (["--color"], {"NO_COLOR": "1"}, True), ([], {"NO_COLOR": ""}, True)],
)  # fmt: skip
@pytest.mark.parametrize("command", ["split", "explain"])
def test_colors_on_a_terminal(
    terminal: tuple[int, int],
    command: str,
    arguments: list[str],
    added: dict[str, str],
    colored: bool,
) -> None:
    call = [command, "-p", "qwen2", "-t", "word 1", *arguments]
    with running(*call, stdout=terminal[1], env=environment(**added)) as process:
        output = shown(process, terminal)
    assert b"word" in output
    assert (b"\x1b[" in output) == colored


@pytest.mark.parametrize("options", [[], ["--verbose"]])
def test_the_table_of_presets_fits_the_terminal(
    terminal: tuple[int, int], options: list[str]
) -> None:
    with running("presets", *options, stdout=terminal[1]) as process:
        output = shown(process, terminal).decode()
    lines = output.split("\r\n")
    assert max(map(len, lines)) <= 80
    for preset in pretok.presets():
        assert sum(line.startswith(f"{preset.name} ") for line in lines) == 1
        assert not options or all(alias in output for alias in preset.aliases)
    if not options:
        assert len(lines) == len(pretok.presets()) + 2


@pytest.mark.parametrize("slow", [True, False])
def test_progress_is_shown_after_a_second(slow: bool) -> None:
    # On a busy machine, a run without a pause may also take a second, so try several times.
    for _ in range(1 if slow else 20):
        with open_terminal() as terminal:
            bar = progress_of_split(terminal, 1.1 * slow)
        assert b"\n" not in bar
        if (b"B/s]" in bar) == slow:
            break
    else:
        pytest.fail(f"{bar!r}")
    assert b"".join(bar.split(b"\r")[-2:]).isspace() == slow


def progress_of_split(terminal: tuple[int, int], wait: float) -> bytes:
    """Return what `split` shows on a terminal while its input pauses for `wait` seconds."""
    with running("split", "-p", "qwen2", stdin=PIPE, stdout=PIPE, stderr=terminal[1]) as process:
        given, output = pipes(process)
        for pause in (0.0, wait):
            time.sleep(pause)
            given.write(b"Hello, ")
            given.flush()
            assert any(line.strip() == b"Hello" for line in output)
        given.close()
        assert output.read() == b",\n \n"
        return shown(process, terminal)


# --- resources

# On Linux, PEAK does not read ru_maxrss, because a child inherits the peak of its parent, here that
# of pytest.
PEAK = """
import sys
from bpe.cli import main
from pretok.cli import input
input.BLOCK = 1 << 16
status = main(sys.argv[1:])
if sys.platform == "linux":
    with open("/proc/self/status") as lines:
        peak = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))
else:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak <<= 10 * (sys.platform != "darwin")
print(status, peak, file=sys.stderr)
"""


@posix
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("split -p qwen2", WORDS),
        ("split -p qwen2", b"1"),
        ("explain -p qwen2 -f json", WORDS),
        ("diff qwen2 cl100k --limit 1", WORDS),
    ],
    ids=["split", "split-digits", "explain", "diff"],
)
def test_memory_does_not_grow_with_the_text(
    command: str, text: bytes, tmp_path: Path, native: BackendName
) -> None:
    def peak(size: int) -> int:
        path = tmp_path / "text"
        path.write_bytes(text * (size // len(text)))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *command.split(), str(path), "--backend", native],
            cwd=os.sep, env=environment(), stdout=DEVNULL, stderr=PIPE, check=True,
        )  # fmt: skip
        status, found = map(int, done.stderr.split())
        assert status in (0, 1)
        return found

    # PEAK makes blocks small, so that 256 KB of text fill several blocks.
    assert peak(3 << 18) - peak(1 << 18) < LARGEST_GROWTH


def test_split_imports_only_what_it_needs() -> None:
    unwanted = {"regex", "tqdm", "tiktoken", "tokenizers", "pretok.fuzz", "pretok.cli.fuzz",
                "bpe.cli.bench", "bpe.cli.bench_peers"}  # fmt: skip
    for arguments in (["split", "-p", "o200k", "-t", "x"], ["--help"], ["diff", "--help"]):
        modules = imported_modules(*arguments)
        assert "pretok.diff" in modules
        assert unwanted.isdisjoint(modules)
