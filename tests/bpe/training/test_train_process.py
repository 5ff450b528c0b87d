"""bpe.train: interruptions, progress, and errors that the iterator of texts raises."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from bpe.training.train import train
from interrupts import interrupt_me, stops_soon
from pretok.machine.backend import BackendName
from training import make_trainer
from training_texts import PROSE

posix = pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")


@posix
@pytest.mark.parametrize("phase", ["count", "merge"])
def test_control_c_ends_training(
    phase: str, backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["bpe.training.training"]

    def texts() -> Iterator[str]:
        yield from PROSE
        if phase == "count":
            interrupt_me()
        yield from PROSE

    def trainer(*arguments: Any) -> Any:
        if phase == "merge":
            interrupt_me()
        return make(*arguments)

    make = module._trainer
    monkeypatch.setattr(module, "_trainer", trainer)
    with pytest.raises(KeyboardInterrupt):
        train(texts(), vocab_size=300, backend=backend)


@posix
def test_native_merging_is_interrupted(native: BackendName) -> None:
    # tests/bpe/test_threads.py tests that native counting can be interrupted.
    def trainer(size: int) -> Any:
        letters = np.random.default_rng(1).integers(97, 123, size, np.uint8).tobytes()
        return make_trainer({letters: 1}, native)

    def merge(size: int) -> Callable[[], object]:
        return partial(trainer(size).step, 10_000)

    # The first work is to make a trainer, which counts the pairs of one long word.
    assert stops_soon(lambda size: partial(trainer, size), size=8_000_000)
    assert stops_soon(merge, size=2_000_000)


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
def test_progress_is_shown_on_terminals_only(
    stream: type[io.StringIO],
    progress: bool | None,
    shown: bool,
    backend: BackendName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = stream()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr("bpe.progress.DELAY", 0)
    train(PROSE, vocab_size=300, progress=progress, backend=backend)
    assert ("counting" in stderr.getvalue()) == ("merging" in stderr.getvalue()) == shown


def test_errors_of_the_iterator_of_texts_are_raised(backend: BackendName) -> None:
    def failing() -> Iterator[str]:
        yield "fine"
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        train(failing(), vocab_size=300, backend=backend)
