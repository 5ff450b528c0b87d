"""bpe.train on the way: interruptions, progress, errors of the texts."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import pretok
from bpe.train import train
from pretok.pretokenizer import BackendName
from training_texts import PROSE

INTERRUPTED = """
import logging, sys, threading, _thread, signal, time
from bpe.train import train
what, backend = sys.argv[1:]
long = "abcdefghijklmnopqrstuvwxyz" * (400_000 if backend == "native" else 20_000)
def texts():
    print("ready", flush=True)
    if what == "count":
        for number in range(10**9):
            yield f"some words {number % 1000} " * 3000
    else:
        yield long
try:
    train(texts(), vocab_size=1_000_000, preset="gpt2", backend=backend, special_tokens=())
except KeyboardInterrupt:
    print("interrupted", time.time())
    raise SystemExit(7)
print("ended")
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for one process alone")
@pytest.mark.parametrize("what", ["count", "merge"])
def test_control_c_ends_it_soon(what: str, backend: BackendName) -> None:
    # The quickest of a few, as others may have the machine.
    seconds = [seconds_after_control_c(what, backend)]
    while seconds[-1] >= 2.0 and len(seconds) < 10:
        seconds.append(seconds_after_control_c(what, backend))
    assert min(seconds) < 2.0


def seconds_after_control_c(what: str, backend: BackendName) -> float:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, what, backend],
        cwd=Path(pretok.__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        sent = time.time()
        said = process.stdout.readline().split()
        assert process.wait(600) == 7
    assert said[0] == "interrupted"
    return float(said[1]) - sent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "shown"),
    [
        (Terminal, None, True),
        (Terminal, True, True),
        (Terminal, False, False),
        (io.StringIO, None, False),
        (io.StringIO, True, False),
    ],
)
def test_progress_is_for_terminals(
    stream: type[io.StringIO],
    progress: bool | None,
    shown: bool,
    backend: BackendName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = stream()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys.modules["bpe.train"], "DELAY", 0)
    train(PROSE, vocab_size=300, progress=progress, backend=backend)
    assert ("counting" in stderr.getvalue()) == ("merging" in stderr.getvalue()) == shown


def test_errors_of_the_texts_come_through(backend: BackendName) -> None:
    def failing() -> Iterator[str]:
        yield "fine"
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        train(failing(), vocab_size=300, backend=backend)
