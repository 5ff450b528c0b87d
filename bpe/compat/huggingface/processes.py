"""Let processes that multiprocessing spawns call `patch` before they run the main module.

A spawned process first imports the module that runs as `__main__` in its parent. With the option
`processes` it imports `spawned` instead, which calls `patch` and then runs that module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bpe.compat.huggingface import settings

MODULE = "bpe.compat.huggingface.spawned"
VARIABLE = "PRETOK_HF_MAIN"
"""The environment variable for spawned processes: how they get the main module, and the options."""
KEYS = ("init_main_from_name", "init_main_from_path")
"""The keys of multiprocessing for the main module: its name, or its path."""


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
                main = json.loads(os.environ[VARIABLE])["main"]
            options = settings.current()._asdict()
            os.environ[VARIABLE] = json.dumps({"main": main, "options": options})
            data[KEYS[0]] = MODULE
        return data

    return get_preparation_data
