"""Report each change of a component of a tokenizer: a normalizer, a pre-tokenizer, a model or so.

A tokenizer shares its components with the objects that a caller got from it, or gave to it. So
a component may change without notice of the tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from bpe.compat.huggingface.real import COMPONENTS, SEQUENCES


def listen(listener: Callable[[], None]) -> None:
    """Call `listener` after each change of any component, in the whole process from now on."""
    for owner in COMPONENTS:
        owner.__setattr__ = _reporting(owner.__setattr__, listener)
    for owner in SEQUENCES:
        owner.__setitem__ = _reporting(owner.__setitem__, listener)


def _reporting(method: Callable[..., Any], listener: Callable[[], None]) -> Callable[..., Any]:
    """Return a method that calls `method`, and then `listener`."""

    @wraps(method)
    def change(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        finally:
            listener()

    return change
