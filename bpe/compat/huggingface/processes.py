"""Let processes that multiprocessing spawns call `patch` before they run the main module.

A spawned process first imports the module that runs as `__main__` in its parent. With the option
`processes` it imports `spawned` instead, which calls `patch` and then runs that module. It finds
the options and the module as JSON in the last item of sys.argv, and removes it. An environment
variable would not reach the processes of a fork server that runs already.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bpe.compat.huggingface import settings

MODULE = "bpe.compat.huggingface.spawned"
KEYS = ("init_main_from_name", "init_main_from_path")
"""The keys of multiprocessing for the main module: its name, or its path."""
main_of_parent: dict[str, str] = {}
"""In a spawned process, the values of KEYS for the main module of the first parent."""


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """Yield the module, the name and the new value of each function to replace."""
    for package in ("multiprocessing", "multiprocess"):
        if find_spec(package) is not None:
            spawn = import_module(f"{package}.spawn")
            yield spawn, "get_preparation_data", _patching(spawn.get_preparation_data)


def _patching(original: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    """Return a function that returns the data that a spawned process needs, with MODULE in it."""

    @wraps(original)
    def get_preparation_data(name: str) -> dict[str, Any]:
        data = original(name)
        if settings.processes:
            main = {key: data.pop(key) for key in KEYS if key in data}
            if main.get(KEYS[0]) == MODULE:  # this process is a spawned one
                main = main_of_parent
            options = settings.current()._asdict()
            message = json.dumps({"main": main, "options": options})
            data |= {KEYS[0]: MODULE, "sys_argv": [*data["sys_argv"], message]}
        return data

    return get_preparation_data
