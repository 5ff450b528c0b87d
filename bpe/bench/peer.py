"""What a contender is: a package behind calls that are the same for all."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from importlib.util import find_spec
from typing import Any, ClassVar

from bpe.bench.answers import Arrays, WrongAnswerError
from bpe.bench.subject import Subject
from bpe.bench.timing import OURS
from pretok.errors import PretokError

SAID = 160
"""How much of what a peer says when it fails is shown."""
OTHER_ANSWER = "other ids"
"""The start of the reason for leaving out a peer whose answer differs."""
ALL_THREADS = 0
"""As many threads as there are cores."""


class CannotError(PretokError):
    """A peer cannot do what would have to be compared; the message says why."""


@dataclass(frozen=True)
class Calls:
    """What one tokenizer object can do; None where it has no call for it.

    `threads` is a number, or ALL_THREADS. What `arrays` returns, `as_arrays` makes ids and offsets.
    """

    array: Callable[[bytes], Any] | None = None
    arrays: Callable[[list[str], int], Any] | None = None
    as_arrays: Callable[[Any], Arrays] | None = None
    lists: Callable[[list[str], int], list[list[int]]] | None = None
    counts: Callable[[list[str], int], list[int]] | None = None
    text: Callable[[Any], str] | None = None
    data: Callable[[Any], bytes] | None = None


@dataclass(frozen=True)
class Message:
    """How to encode one message: to whatever is fastest, and to an array."""

    encode: Callable[[str], Any]
    encode_array: Callable[[str], Any] | None = None


class Peer(ABC):
    """A package that encodes, decodes or loads what we do."""

    name: ClassVar[str]
    module: ClassVar[str]
    has_cold_start: ClassVar[bool] = True
    """True if `calls` makes a new object, whose first pass is cold."""
    sets_threads: ClassVar[bool] = True
    """True if calls heed `threads`; other packages keep a pool for the cores they saw first."""

    def version(self) -> str | None:
        """Return the release that is installed, None if there is none."""
        try:
            return distribution_version(self.name) if find_spec(self.module) else None
        except PackageNotFoundError:
            return None

    def missing(self) -> str:
        """Return why the package cannot be used, or "" if it can; imports it."""
        if self.version() is None:
            return "not installed"
        try:
            with guarded(self.name), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it imports is its own affair
                import_module(self.module)
        except CannotError as error:
            return str(error)
        return ""

    @abstractmethod
    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a new tokenizer, special tokens heeded; raises CannotError."""

    @abstractmethod
    def message(self, subject: Subject) -> Message:
        """Return how to encode a message, special tokens heeded; raises CannotError."""

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return what loads `path` and returns a function to encode; raises CannotError."""
        raise CannotError("it does not load files")


@contextmanager
def guarded(name: str, is_strict: bool = True) -> Iterator[None]:
    """Turn what a peer raises, which may be anything, into CannotError; ours stays as it is.

    What a peer prints, such as the panic of a library in Rust, is not shown. A WrongAnswerError
    becomes a CannotError too, unless `is_strict`.
    """
    try:
        with quiet() if name != OURS else nullcontext():
            yield
    except CannotError:
        raise
    except WrongAnswerError as error:
        if is_strict:
            raise
        raise CannotError(f"{OTHER_ANSWER}: {error}") from None
    except BaseException as error:
        # Rust's panics come as no Exception.
        if name == OURS or not (
            isinstance(error, Exception) or type(error).__name__ == "PanicException"
        ):
            raise
        said = in_one_line((str(error).splitlines() or [""])[0])
        raise CannotError(f"it fails with {type(error).__name__}: {said}") from None


def in_one_line(said: str) -> str:
    """Return the start of what a peer said, in one line of ASCII."""
    return " ".join(said.split()).encode("ascii", "backslashreplace").decode()[:SAID]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what peers print off standard output and standard error."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1)
        os.dup2(null, 2)
        yield
    finally:
        for number, descriptor in enumerate(saved, start=1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(null)
