"""Define the Protocols of the backends of PreTokenizer; choose and construct a backend."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from pretok.errors import BackendError, shortened
from pretok.machine.machine import GAP, Machine, Steps, Unit
from pretok.machine.program import compile_rules, serialize_stages
from pretok.machine.staged import StagedMachine
from pretok.stage import Stage

BackendName = Literal["native", "python"]


class Splitter(Protocol):
    """The methods of a backend. pretok.machine.machine.Machine documents each method.

    The Python classes and the C++ class _core.Machine return equal results.
    """

    def split(self, text: str) -> list[str]: ...
    def split_bytes(self, data: bytes) -> list[bytes]: ...
    def offsets(self, data: str | bytes, unit: Unit) -> NDArray[np.int64]: ...
    def count(self, data: str | bytes) -> int: ...
    def steps(
        self, text: str
    ) -> Steps | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
    def split_batch(self, texts: Sequence[str], threads: int) -> list[list[str]]: ...


class Backend(Splitter, Protocol):
    """A backend of one stage. It can also split a text that comes in parts."""

    def advance(
        self, chars: str, partial: bool, in_gap: bool, rule: int = GAP
    ) -> tuple[list[int], list[int], int, bool, int, int, int, int]: ...
    def run_length(self, chars: str, mask: int) -> int: ...


def choose_backend(requested: str | None = None) -> BackendName:
    """Return the backend to use: `requested`, or $PRETOK_BACKEND, or the best available.

    Raises BackendError if the backend is unknown, or if "native" is requested but was not built.
    """
    source = "PRETOK_BACKEND" if requested is None else "backend"
    name = os.environ.get("PRETOK_BACKEND") or None if requested is None else requested
    if name is None:
        return "native" if _native() else "python"
    if name not in get_args(BackendName):
        raise BackendError(f"{source}={shortened(name)}; expected one of {get_args(BackendName)}")
    if name == "native" and not _native():
        raise BackendError(
            f"{source}='native', but the C++ extension pretok._core was not built; "
            "reinstall pretok-bpe with a C++17 compiler available, or use 'python'"
        )
    return cast(BackendName, name)


def backend() -> BackendName:
    """Return the backend that `get` uses by default: "native" or "python".

    $PRETOK_BACKEND overrides the choice. Raises BackendError if $PRETOK_BACKEND names a backend
    that is unknown or was not built.
    """
    return choose_backend()


@cache
def _native() -> bool:
    """Return whether the C++ extension was built."""
    try:
        import pretok._core  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "pretok._core":
            raise
        return False
    return True


@lru_cache(maxsize=64)
def make_backend(stages: tuple[Stage, ...], version: str, name: BackendName) -> Splitter:
    """Return a backend that splits with `stages` in Unicode `version`."""
    if name == "python":
        if len(stages) == 1 and stages[0].behavior == "isolated":
            return stage_backend(stages[0], version, name)
        return StagedMachine(stages, version)
    from pretok import _core

    return _core.Machine(serialize_stages(stages), version)


@lru_cache(maxsize=64)
def stage_backend(stage: Stage, version: str, name: BackendName) -> Backend:
    """Return a backend that splits by the rules of `stage`, but ignores `stage.behavior`.

    Stream, which needs such backends, applies the behavior itself.
    """
    if name == "python":
        return Machine(compile_rules(stage.rules), version)
    from pretok import _core

    return _core.Machine(serialize_stages([Stage(stage.rules)]), version)
