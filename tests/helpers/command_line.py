"""Run the command `pretok` in this process, or in a new process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import bpe
import pretok
from bpe.cli import main
from pretok.machine.backend import BackendName

COMMAND = [sys.executable, "-m", "bpe"]
PACKAGE_FOLDER = Path(pretok.__file__).parents[1]

CHANGES_WHAT_IS_TESTED = {"PRETOK_BACKEND", "PYTHONUNBUFFERED", "NO_COLOR", "COLUMNS"}
LONGEST = 1200.0
"""The seconds after which a process is killed; enough for a slow machine."""

Call = Callable[..., tuple[int, str, str]]


def environment(**added: str) -> dict[str, str]:
    """Return an environment in which a new process runs the pretok that is tested here."""
    # PYTHONUNBUFFERED would hide output that the program flushes never, or twice.
    inherited = {key: os.environ[key] for key in os.environ.keys() - CHANGES_WHAT_IS_TESTED}
    return {**inherited, "PYTHONPATH": str(PACKAGE_FOLDER), **added}


@contextmanager
def running(*arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run `pretok` in a new process, outside the source folder."""
    options.setdefault("env", environment())
    with subprocess.Popen([*COMMAND, *arguments], cwd=os.sep, **options) as process:
        hung = threading.Timer(LONGEST, process.kill)
        hung.start()
        try:
            yield process
        finally:
            hung.cancel()
            if process.returncode is None:  # a test failed
                process.kill()


def finished(*arguments: str, stdin: bytes = b"", **added: str) -> tuple[int, bytes, bytes]:
    """Run `pretok` to its end; return its exit status, output and errors."""
    pipe = subprocess.PIPE
    env = environment(**added)
    with running(*arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as process:
        output, errors = process.communicate(stdin, timeout=LONGEST)
    return process.returncode, output, errors


def pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output of a process that was started with pipes for both."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process has no pipes")
    return process.stdin, process.stdout


@contextmanager
def open_terminal() -> Iterator[tuple[int, int]]:
    """Open a terminal of 80 columns; yield the file descriptors of its two ends.

    The first end is that of a person, the second that of a program.
    """
    if os.name != "posix":
        pytest.skip("needs POSIX terminals")
    import fcntl
    import pty
    import struct
    import termios

    person, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    yield person, program
    os.close(person)


def shown(process: subprocess.Popen[bytes], terminal: tuple[int, int]) -> bytes:
    """Return all output of `process` to `terminal`; wait until the process ends.

    Closes the program's end of the terminal here. Otherwise reading would never end.
    """
    person, program = terminal
    os.close(program)
    found = b""
    while True:
        try:
            read = os.read(person, 1 << 16)
        except OSError:  # on Linux, after all processes have closed the program's end
            read = b""
        if not read:
            process.wait(timeout=LONGEST)
            return found
        found += read


def caller(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: Callable[[Sequence[str]], int] = main,
) -> Call:
    """Return a function that runs `program` in this process, by default the command `pretok`.

    The function returns the exit status, the output and the errors.
    """

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = program(arguments)
        return status, *capsys.readouterr()

    return call


def error_of(call: Call, *arguments: str, stdin: bytes = b"") -> str:
    """Return the error message of `call`.

    Fails unless the message is one line and the only output, and the exit status is 2.
    """
    status, output, errors = call(*arguments, stdin=stdin)
    assert (status, output) == (2, "")
    assert errors.startswith("pretok: error: ")
    assert errors.index("\n") == len(errors) - 1
    return errors[len("pretok: error: ") : -1]


def small_tokenizer(backend: BackendName | None = None) -> bpe.Tokenizer:
    """Return a tokenizer with a few words, special and ordinary added tokens, and a template."""
    tokens = {byte: bytes([byte]) for byte in range(256)}
    merges = []
    for left, right in ((b"h", b"e"), (b"l", b"l"), (b"ll", b"o"), (b"he", b"llo"),
                        (b" ", b"hello"), (b"\xc3", b"\xa9")):  # fmt: skip
        ids = {token: id for id, token in tokens.items()}
        merges.append((ids[left], ids[right], len(tokens)))
        tokens[len(tokens)] = left + right
    return bpe.Tokenizer(
        bpe.Vocabulary(tokens, merges),
        "cl100k",
        added_tokens=[
            bpe.AddedToken("<|end|>", 270),
            bpe.AddedToken("<pad>", 271),
            bpe.AddedToken("<think>", 272, special=False),
        ],
        template=bpe.Template(before=(270,)),
        backend=backend,
    )


def unescape(line: str) -> list[int | str]:
    r"""Undo the escapes that --help describes; \x80 and above become the byte as an int."""
    found: list[int | str] = []
    position = 0
    while position < len(line):
        if line[position] != "\\":
            found.append(line[position])
            position += 1
            continue
        kind = line[position + 1]
        digits = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
        code = int(line[position + 2 : position + 2 + digits] or "0", 16)
        if digits:
            found.append(code if kind == "x" and code >= 0x80 else chr(code))
        else:
            found.append({"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[kind])
        position += 2 + digits
    return found


def unescaped(line: str) -> str:
    """Undo the escapes; a byte becomes a lone surrogate, as in "surrogateescape"."""
    return "".join(chr(0xDC00 + c) if isinstance(c, int) else c for c in unescape(line))


def imported_modules(*arguments: str) -> set[str]:
    """Run `pretok` with these arguments in a new process; return the modules it imports."""
    program = (
        "import sys\n"
        "from bpe.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "print(status, *sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, cwd=os.sep, env=environment(), check=True,
    )  # fmt: skip
    status, *modules = done.stderr.decode().split()
    assert status == "0"
    return set(modules)
