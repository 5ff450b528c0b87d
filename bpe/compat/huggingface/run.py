"""Run a module with `patch` in effect, also in the processes that it starts.

    python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...

A process that multiprocessing spawns first imports the main module of its parent. Under this
command, it imports this module instead. This module calls `patch`, and then runs MODULE, so that
the process has the functions of MODULE.
"""

from __future__ import annotations

import os
import runpy
import sys
from functools import wraps
from multiprocessing import spawn
from typing import Any

from bpe.compat import huggingface

NAME = "bpe.compat.huggingface.run"
VARIABLE = "PRETOK_HF_MODULE"
"""The environment variable with the name of the module that runs as `__main__`."""
_KEY = "init_main_from_name"

huggingface.patch()
_preparation_data = spawn.get_preparation_data


@wraps(_preparation_data)
def _patching_data(name: str) -> dict[str, Any]:
    """Return the data for a spawned process, with this module in place of the main module."""
    data = _preparation_data(name)
    if data.get(_KEY, NAME) != NAME:
        os.environ[VARIABLE] = data[_KEY]
        data[_KEY] = NAME
    return data


if __name__ in ("__main__", "__mp_main__"):
    spawn.get_preparation_data = _patching_data

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python -m bpe.compat.huggingface.run MODULE [ARGUMENTS]...")
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

if __name__ == "__mp_main__":
    _main = os.environ.get(VARIABLE, "")
    if _main and not _main.endswith("__main__"):  # multiprocessing does not import `__main__` files
        _content = runpy.run_module(_main, run_name=__name__, alter_sys=True)
        globals().update({k: v for k, v in _content.items() if not k.startswith("__")})
