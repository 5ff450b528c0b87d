"""Check the fields of a JSON file against types. An error names the field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import count
from types import NoneType
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from bpe.errors import shortened

Check: TypeAlias = Callable[[Any], None]
"""Raises FieldError for a wrong value."""
NAMES = {str: "a string", bool: "true or false"}
MAX = (1 << 63) - 1
"""The largest number in a manifest: sizes and counts are 64-bit integers."""
MAX_ID = (1 << 32) - 1


class FieldError(ValueError):
    """A field of a JSON file has a wrong value."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.problem = problem
        self.path = path

    def within(self, outer: str) -> FieldError:
        """Return the error with the path of the field from one level farther out."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return FieldError(self.problem, outer + dot + self.path)


def wrong(value: object, expected: str) -> FieldError:
    """Return the error for a value that is not the expected one."""
    return FieldError(f"expected {expected}, got {shortened(value)}")


def integer(least: int = 0, most: int = MAX) -> Check:
    """Return a check for an int from `least` to `most`."""

    def check(value: Any) -> None:
        if type(value) is not int or not least <= value <= most:
            raise wrong(value, f"an integer from {least} to {most}")

    return check


def fraction(value: Any) -> None:
    """Check that `value` is a number from 0 to below 1."""
    if type(value) not in (int, float) or not 0 <= value < 1:
        raise wrong(value, "a number from 0 to below 1")


HEXADECIMAL = frozenset("0123456789abcdef")


def sha256(value: Any) -> None:
    """Check that `value` is a sha256 in hexadecimal."""
    if not isinstance(value, str) or len(value) != 64 or not HEXADECIMAL.issuperset(value):
        raise wrong(value, "a sha256 of 64 hexadecimal digits")


def one_of(*values: object) -> Check:
    """Return a check for one of `values`."""

    def check(value: Any) -> None:
        if not any(type(value) is type(item) and value == item for item in values):
            raise wrong(value, " or ".join(map(repr, values)))

    return check


Members: TypeAlias = Iterable[tuple[int | str, Check, Any]]
"""The index or the name of each member of a list or an object, its check, and the member."""


def _container(kind: type, members: Callable[[Any], Members]) -> Check:
    """Return a check for a list or an object; `members` returns what it has."""

    def check(value: Any) -> None:
        if not isinstance(value, kind):
            raise wrong(value, "a list" if kind is list else "an object")
        for key, inner, item in members(value):
            try:
                inner(item)
            except FieldError as error:
                raise error.within(f"[{key}]" if kind is list else _shown_name(key)) from None

    return check


def array(inner: Check) -> Check:
    """Return a check for a list, each item of which `inner` accepts."""
    return _container(list, lambda value: ((at, inner, item) for at, item in enumerate(value)))


def row(*inner: Check) -> Check:
    """Return a check for a list with one item for each check of `inner`."""

    def members(value: list[Any]) -> Members:
        if len(value) != len(inner):
            raise wrong(value, f"a list of {len(inner)} items")
        return zip(count(), inner, value)

    return _container(list, members)


def table(inner: Check) -> Check:
    """Return a check for an object with any names, each value of which `inner` accepts."""
    return _container(dict, lambda value: ((name, inner, value[name]) for name in value))


def record(fields: Mapping[str, Check], may_lack: frozenset[str] = frozenset()) -> Check:
    """Return a check for an object with `fields`. The fields in `may_lack` may be absent."""

    def members(value: dict[str, Any]) -> Members:
        for name, item in value.items():
            if name not in fields:
                raise FieldError("unknown field", _shown_name(name))
            yield name, fields[name], item
        for name in fields:
            if name not in value and name not in may_lack:
                raise FieldError("the field is missing", name)

    return _container(dict, members)


@cache
def check_of(kind: Any) -> Check:
    """Return the check for values of the type `kind`.

    Annotated[type, check] is checked by `check`. A class is a record of its annotated members.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        check: Check = parts[1]
        return check
    if kind in NAMES:

        def check_type(value: Any) -> None:
            if type(value) is not kind:
                raise wrong(value, NAMES[kind])

        return check_type
    if NoneType in parts:
        inner = check_of(parts[0])
        return lambda value: None if value is None else inner(value)
    if origin is dict:
        return table(check_of(parts[1]))
    if origin is list or parts[1:] == (...,):
        return array(check_of(parts[0]))
    if origin is tuple:
        return row(*map(check_of, parts))
    return record(fields_of(kind))


def fields_of(kind: type) -> dict[str, Check]:
    """Return the checks of the annotated members of a class."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: check_of(hint) for name, hint in hints.items()}


def _shown_name(name: Any) -> str:
    """Return the name of a field for a message."""
    return name if name.isidentifier() else f"[{shortened(name)}]"


Count = Annotated[int, integer()]
Positive = Annotated[int, integer(1)]
Id = Annotated[int, integer(0, MAX_ID)]
