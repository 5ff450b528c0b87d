"""Import packages that only some functions need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional_package(name: str, purpose: str) -> Any:
    """Return the package `name`; raise ModuleNotFoundError if `purpose` needs it in vain."""
    try:
        return import_module(name)
    except ImportError:
        raise ModuleNotFoundError(
            f"{purpose} needs the package {name}; install it with `pip install {name}`"
        ) from None
