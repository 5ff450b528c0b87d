"""Convert arguments as the Rust code of tokenizers 0.23.3 does, and raise its errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np

_NOT_SEQUENCES = dict, MappingProxyType


def flag(value: Any) -> bool:
    """Return a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise _wrong_type(value, "bool")
    return bool(value)


def text(value: Any) -> str:
    """Return a str."""
    if not isinstance(value, str):
        raise _wrong_type(value, "str")
    return value


def size(value: Any) -> int:
    """Return an unsigned number of 64 bits."""
    number = index(value)
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if number >= 1 << 64:
        raise OverflowError("int too big to convert")
    return number


def id_number(value: Any) -> int:
    """Return an unsigned number of 32 bits."""
    number = index(value)
    if number < 0:
        raise OverflowError("number too small to fit in target type")
    if number >= 1 << 32:
        raise OverflowError("number too large to fit in target type")
    return number


def items(value: Any) -> list[Any]:
    """Return the items of a sequence, which may also be an array or a series."""
    if isinstance(value, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if isinstance(value, _NOT_SEQUENCES) or not hasattr(type(value), "__getitem__"):
        raise _wrong_type(value, "Sequence")
    return list(value)


def listed(value: Any) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise _wrong_type(value, "list")
    return value


def direction(value: Any, mark: str = "") -> Any:
    """Return "left" or "right"; `mark` ends the error for other values."""
    if text(value) not in ("left", "right"):
        raise ValueError(f"Unknown `direction`: `{value}`. Use one of `left` or `right`{mark}")
    return value


def ids(value: Any) -> list[int]:
    """Return the ids of a sequence."""
    return [id_number(id) for id in items(value)]


def instances(values: Sequence[Any], owner: type, name: str) -> list[Any]:
    """Return `values`, which must be instances of `owner`; `name` is the name of `owner`."""
    for value in values:
        if not isinstance(value, owner):
            raise _wrong_type(value, name)
    return list(values)


def ignore(options: dict[str, Any]) -> None:
    """Warn about unknown keyword arguments; tokenizers prints the same text."""
    for name in options:
        warnings.warn(f"Ignored unknown kwarg option {name}", stacklevel=3)


def _wrong_type(value: Any, expected: str) -> TypeError:
    if value is None:
        return TypeError(f"'None' is not an instance of '{expected}'")
    return TypeError(f"'{type(value).__name__}' object is not an instance of '{expected}'")
