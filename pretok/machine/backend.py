"""Choose and construct a backend of PreTokenizer."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from pretok.errors import BackendError, quoted, shortened
from pretok.machine.machine import Backend, Machine
from pretok.machine.program import compile_rules, serialize_stages
from pretok.machine.staged import StagedMachine
from pretok.stage import Stage

if TYPE_CHECKING:
    from pretok import _core

BackendName = Literal["native", "python"]

Splitter: TypeAlias = "Machine | StagedMachine | _core.Machine"
"""A backend of PreTokenizer. The Python classes and the C++ class return equal results."""


def choose_backend(requested: str | None = None) -> BackendName:
    """Return the backend to use: `requested`, or $PRETOK_BACKEND, or the best available.

    Raises BackendError if the backend is unknown, or if "native" is requested but was not built.
    """
    source = "PRETOK_BACKEND" if requested is None else "backend"
    name = os.environ.get("PRETOK_BACKEND") or None if requested is None else requested
    if name is None:
        return "native" if native_core() else "python"
    if name not in get_args(BackendName):
        names = quoted(get_args(BackendName))
        raise BackendError(f"{source}={shortened(name)}; expected one of {names}")
    if name == "native" and not native_core():
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


def native_core() -> Any:
    """Return the C++ extension; None if it was not built."""
    try:
        from pretok import _core
    except ImportError as error:
        if error.name not in ("pretok", "pretok._core"):
            raise
        return None
    return _core


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
