"""Define fast_call, which lets the native backend answer plain calls without Python code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def fast_call(attribute: str, positional: int, **defaults: object) -> Callable[[Method], Method]:
    """Decorate a method (self, first, ...) that has `defaults` as its next parameters.

    Callers may pass the first `positional` parameters after self by position. A call that passes
    only `first` and parameters of `defaults` runs self.<attribute>(first, *values) instead of the
    method, with the values of all these parameters. The results must be equal. Any other call runs
    the method. If the class names the attribute in __slots__, the calls are faster. If the native
    backend was not built, the method stays as it is.
    """

    def decorate(method: Method) -> Method:
        try:
            from pretok import _core
        except ImportError:
            return method
        names = ("", *defaults)
        values = (None, *defaults.values())
        return _core.FastCallMethod(method, attribute, names, values, positional)  # type: ignore[return-value]

    return decorate
