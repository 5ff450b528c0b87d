"""Define Peer, the interface to a package that is compared with pretok."""

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

from pretok.errors import PretokError
from pretok_bench.answers import Arrays, WrongAnswerError
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS

MAX_MESSAGE = 160
"""The maximum number of characters to show of an error message of a peer."""
OTHER_ANSWER = "other ids"
"""The first words of the reason if a peer is left out because its result differs."""
ALL_THREADS = 0
"""The value of an argument `threads` that stands for one thread for each core."""


class CannotError(PretokError):
    """A peer does not support a measurement; the message says why."""


@dataclass(frozen=True)
class Calls:
    """The calls of one tokenizer object. A call that the object lacks is None.

    `array` encodes UTF-8 to an array of ids. `arrays`, `lists` and `counts` take a list of texts,
    and a number of threads or ALL_THREADS. `arrays` returns an array of ids and one of offsets;
    `lists` returns a list of ids for each text; `counts` returns the number of ids of each text.
    `as_arrays` converts the result of `arrays` to ids and offsets; None means that the result has
    this form already. `text` and `data` decode ids to str and bytes.
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
    """The calls that encode one message: the fastest call, and a call that returns an array."""

    encode: Callable[[str], Any]
    encode_array: Callable[[str], Any] | None = None


class Peer(ABC):
    """A package that encodes, decodes or loads the vocabularies that pretok loads.

    `name` is the name of its distribution, and `module` the name to import.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    has_cold_start: ClassVar[bool] = True
    """True if `calls` makes a new tokenizer with empty caches each time."""
    needs_venv: ClassVar[bool] = False
    """True if the package needs a virtual environment, which `missing` makes with pip."""
    sets_threads: ClassVar[bool] = True
    """False if calls ignore `threads`: the package keeps the thread pool of its first call."""

    def version(self) -> str | None:
        """Return the installed release, or None if the package is not installed."""
        try:
            return distribution_version(self.name) if find_spec(self.module) else None
        except PackageNotFoundError:
            return None

    def missing(self) -> str:
        """Import the package; return why it cannot be used, or "" if it can."""
        if self.version() is None:
            return "not installed"
        try:
            with guarded(self.name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(self.module)
        except CannotError as error:
            return str(error)
        return ""

    @abstractmethod
    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a new tokenizer.

        The calls encode `subject.special_tokens` in a text as special tokens. They encode all other
        special tokens as text.

        Raises CannotError if the package cannot encode with this vocabulary.
        """

    @abstractmethod
    def message(self, subject: Subject) -> Message:
        """Return the calls for one message, of a tokenizer that has all special tokens.

        Raises CannotError if the package cannot encode with this vocabulary.
        """

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a function that loads the file `path` and returns a function to encode a text.

        Raises CannotError if the package cannot load this file.
        """
        raise CannotError("it does not load files")


@contextmanager
def guarded(name: str, is_strict: bool = True) -> Iterator[None]:
    """Convert an exception of the peer `name` to CannotError, and hide the output of the peer.

    The output may be the panic message of a Rust library. If `name` is OURS, all exceptions except
    WrongAnswerError pass unchanged, and the output is not hidden. For every contender, a
    WrongAnswerError passes unchanged only if `is_strict`.
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
        # The PanicException of Rust libraries is not a subclass of Exception.
        if name == OURS or not (
            isinstance(error, Exception) or type(error).__name__ == "PanicException"
        ):
            raise
        message = in_one_line((str(error).splitlines() or [""])[0])
        raise CannotError(f"it fails with {type(error).__name__}: {message}") from None


def in_one_line(message: str) -> str:
    """Return `message` as one line of ASCII, truncated to MAX_MESSAGE characters."""
    return " ".join(message.split()).encode("ascii", "backslashreplace").decode()[:MAX_MESSAGE]


@contextmanager
def quiet() -> Iterator[None]:
    """Hide everything that this process prints, including the output of native libraries."""
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
