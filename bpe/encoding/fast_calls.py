"""Define fast_call, which lets the native backend answer plain calls without Python code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def fast_call(attribute: str) -> Callable[[Method], Method]:
    """Decorate a method (self, text, special="raise", *, errors="replace", ...).

    A call that passes no argument besides these three runs self.<attribute>(text, special, errors)
    instead of the method; the results must be equal. Any other call runs the method. If the native
    backend was not built, the method stays as it is.
    """

    def decorate(method: Method) -> Method:
        try:
            from pretok import _core
        except ImportError:
            return method
        return _core.FastCallMethod(method, attribute)  # type: ignore[return-value]

    return decorate
