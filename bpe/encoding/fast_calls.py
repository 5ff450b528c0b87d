"""direct: methods whose plain calls the native backend takes without going through Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def direct(attribute: str) -> Callable[[Method], Method]:
    """Decorate a method (self, text, special="raise", *, errors="replace", ...).

    A call with no arguments but these may become one of self.<attribute>(text, special, errors),
    which must have the same result. Without the native backend the method stays as it is.
    """

    def decorate(method: Method) -> Method:
        try:
            from pretok import _core
        except ImportError:
            return method
        return _core.FastCallMethod(method, attribute)  # type: ignore[return-value]

    return decorate
