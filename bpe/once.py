"""Values of an immutable object that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class once(Generic[Value]):
    """A property whose value is made once; unlike functools.cached_property's it cannot be set.

    It takes no lock, while in Python 3.10 and 3.11 a cached_property has one for all instances.

    >>> class Circle:
    ...     @once
    ...     def area(self) -> float:
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area = 1
    Traceback (most recent call last):
    AttributeError: area cannot be set
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self._name = f"_once_{make.__name__}"
        self.__doc__ = make.__doc__

    def __get__(self, instance: object, owner: type | None = None) -> Value:
        if instance is None:
            return self  # type: ignore[return-value]  # as property does
        try:
            found: Value = instance.__dict__[self._name]
        except KeyError:
            # Two threads may both make it: the values are equal.
            found = instance.__dict__[self._name] = self._make(instance)
        return found

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError(f"{self._make.__name__} cannot be set")


def forget(instance: object, *names: str) -> None:
    """Drop the values of these `once` properties, which are made again when they are asked for."""
    for name in names:
        instance.__dict__.pop(f"_once_{name}", None)
