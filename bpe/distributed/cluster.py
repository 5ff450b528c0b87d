"""Connect to a Ray cluster, run tasks on it, and share objects with its workers."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar, cast

from bpe.optional import optional_package
from pretok.errors import shortened

T = TypeVar("T")
MAX_RETRIES = 10
"""The number of times that Ray runs a task again after its worker or its node was lost."""


def connect(address: str) -> None:
    """Connect to the Ray cluster at `address`; the address "local" starts a new cluster.

    Calls `ray.init`, and hides the messages of workers. Raises ValueError for a wrong address,
    ConnectionError if there is no cluster at `address`, ModuleNotFoundError without ray.
    """
    ray = imported()
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (ValueError, ConnectionError) as error:
        kind = ConnectionError if isinstance(error, ConnectionError) else ValueError
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise kind(
            f"cannot connect to a Ray cluster at {shortened(address)}: {reason}; expected the "
            "address of a node, such as '10.0.0.1:6379', 'auto' for the cluster of this machine, "
            "or 'local' to start one"
        ) from None


def connected() -> Any:
    """Return the module ray, connected to a cluster.

    If `ray.init` was not called before, Ray connects to the cluster of RAY_ADDRESS, or starts one
    on this machine. Raises ModuleNotFoundError without ray.
    """
    ray = imported()
    if not ray.is_initialized():
        ray.init()
    return ray


def imported() -> Any:
    """Return the module ray; raise ModuleNotFoundError without it."""
    return optional_package("ray", "engine=bpe.distributed.ray()")


def cpus(ray: Any) -> int:
    """Return the number of CPUs of the cluster."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def task(ray: Any, function: Callable[..., object], **options: Any) -> Any:
    """Return `function` as a task of Ray."""
    return ray.remote(max_retries=MAX_RETRIES, **options)(function)


def get(ray: Any, reference: Any) -> Any:
    """Return the result of a task, or raise the error of its function."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        raise (cause if isinstance(cause, Exception) else error) from None


class Shared(NamedTuple, Generic[T]):
    """An object that each node gets once, and that each worker unpickles once."""

    references: tuple[Any]
    """The reference, in a tuple: Ray would replace a bare reference by its value in each task."""
    folder: str
    """The current folder of the caller."""


def share(ray: Any, value: T) -> Shared[T]:
    """Return an argument for tasks, from which `value_of` gets `value` in a worker."""
    return Shared((ray.put(value),), os.getcwd())


_values: dict[Any, Any] = {}
"""The last object that this worker got by `value_of`, by its reference."""


def value_of(shared: Shared[T]) -> T:
    """Return the object of `shared`, in a worker."""
    import ray

    (reference,) = shared.references
    if reference not in _values:
        _values.clear()
        _values[reference] = ray.get(reference)
    return cast("T", _values[reference])


@contextmanager
def folder_of(shared: Shared[Any], names: list[str]) -> Iterator[None]:
    """Change to the current folder of the caller, if one of `names` is relative to it."""
    if all(map(os.path.isabs, names)):
        yield
        return
    before = os.getcwd()
    os.chdir(shared.folder)
    try:
        yield
    finally:
        os.chdir(before)
