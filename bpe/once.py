"""Define `once` and `lazy`, properties that are computed on first access, and `kept` methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")
Method = TypeVar("Method", bound=Callable[..., Any])


class once(Generic[Value]):
    """A property that is computed once for each instance, and cannot be set.

    Unlike `once`, functools.cached_property can be set. In Python 3.10 and 3.11, cached_property
    also has a single lock for all instances.

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
            return self  # type: ignore[return-value]  # like a property
        try:
            value: Value = instance.__dict__[self._name]
        except KeyError:
            # Two threads may both compute the value: the results are equal.
            value = instance.__dict__[self._name] = self._make(instance)
        return value

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError(f"{self._make.__name__} cannot be set")


class lazy(Generic[Value]):
    """A property that is computed on first access, and can be set.

    It stores its value in the `__dict__` of the instance, so later accesses call no function. Does
    the same as functools.cached_property, which has a lock in Python 3.10 and 3.11.

    >>> class Circle:
    ...     @lazy
    ...     def area(self) -> float:
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area
    3.14
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> lazy[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self  # like a property
        # Two threads may both compute the value: the results are equal.
        value = instance.__dict__[self._name] = self._make(instance)
        return value


def forget(instance: object, *names: str) -> None:
    """Drop the values of these `once` properties; the next access computes them again."""
    for name in names:
        instance.__dict__.pop(f"_once_{name}", None)


def kept(size: int | None = None) -> Callable[[Method], Method]:
    """Return a decorator for a method, whose results are kept for each instance.

    The arguments must be hashable. If there are more than `size` results, the half that was not
    used for the longest time is dropped. functools.lru_cache of a bound method makes a reference
    cycle, so its results stay in memory until a garbage collection.

    >>> class Circle:
    ...     @kept(100)
    ...     def scaled(self, factor: int) -> list[int]:
    ...         return [factor]
    >>> circle = Circle()
    >>> circle.scaled(2) is circle.scaled(2)
    True
    """

    def decorate(method: Method) -> Method:
        name = f"_kept_{method.__name__}"

        @wraps(method)
        def call(self: Any, *arguments: Any) -> Any:
            # Threads need no lock: each operation on the dict is atomic, and a result that another
            # thread has just removed is computed again.
            results = self.__dict__.get(name)
            if results is None:
                results = self.__dict__.setdefault(name, {})
            try:
                result = results.pop(arguments) if size else results[arguments]
            except KeyError:
                result = method(self, *arguments)
                if size and len(results) >= size:
                    for oldest in list(results)[: size // 2 + 1]:
                        results.pop(oldest, None)
            results[arguments] = result
            return result

        return call  # type: ignore[return-value]

    return decorate
