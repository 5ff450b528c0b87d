"""Set up the workers of the Ray cluster that tests start.

Sizes are small, so that few documents make many tasks. In each kind of task ("read", "encode",
"read_and_encode", "count_run"), one worker dies: the first that reaches a fixed moment of the task.
Before it dies, it creates a file with the name of the kind in the folder of deaths. So no other
worker dies in this kind of task.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

from bpe.corpus import documents, parts
from bpe.corpus.encode import DocumentEncoder
from bpe.distributed import encoding
from bpe.training.training import Training

DEATHS = "PRETOK_TEST_DEATHS"
"""The environment variable with the folder of deaths."""
SIZES: list[tuple[Any, str, Any]] = [
    (documents, "BATCH", 3000),
    (documents, "LONG", 3000),
    (documents, "BLOCK", 500),
    (parts, "PART", 400),
    (encoding, "PORTION", 5000),
    (encoding, "LARGE", 30_000),
]

_is_set_up = False


class WithSetup:
    """Unpickles as `value`. The first unpickling in a worker sets the worker up."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __reduce__(self) -> tuple[object, ...]:
        return _value_after_setup, (self._value,)


def _value_after_setup(value: Any) -> Any:
    global _is_set_up
    if not _is_set_up:
        _set_up()
        _is_set_up = True
    with open(os.path.join(os.environ[DEATHS], "unpickled"), "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    return value


def _set_up() -> None:
    read, encode, words = parts.read_parts, DocumentEncoder.encode, Training.words
    calls = 0

    def dying_read(*arguments: Any) -> Iterator[Any]:
        for number, batch in enumerate(read(*arguments)):
            if number == 4:
                _die_once()
            yield batch

    def dying_encode(self: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= 3:
            _die_once()
        return encode(self, batch)

    def dying_words(self: Any, *arguments: Any) -> Any:
        found = words(self, *arguments)
        _die_once()
        return found

    replacements: list[tuple[Any, str, Any]] = [
        *SIZES,
        (encoding, "read_parts", dying_read),
        (DocumentEncoder, "encode", dying_encode),
        (Training, "words", dying_words),
    ]
    for owner, name, value in replacements:
        setattr(owner, name, value)


def _die_once() -> None:
    """Kill this worker, if no worker died in a task of this kind before."""
    import ray

    name = ray.get_runtime_context().get_task_name()
    assert name is not None
    try:
        os.close(os.open(os.path.join(os.environ[DEATHS], name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
