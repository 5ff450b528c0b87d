"""Define fast_call, which lets C++ answer the common calls of a method without Python code."""

from __future__ import annotations

from collections.abc import Callable

from bpe.encoding.foreign_arguments import Advice, Method, explained, explainer


def fast_call(
    advice: Advice, attribute: str = "", positional: int = 0, **defaults: object
) -> Callable[[Method], Method]:
    """Return a decorator for a method with the parameters self, `first`, and more.

    `first` is any first argument, such as a text. `defaults` has the default values of the
    parameters after it. The first `positional` parameters, without self, may be passed by position.
    The method may have further parameters.

    A call that passes only `first` and parameters of `defaults` runs self.<attribute>(first,
    *values) instead of the method; `values` has a value for each parameter of `defaults`. So the
    attribute and the method must return equal results. Any other call runs the method, and so do
    all calls without an `attribute`. If the class names the attribute in __slots__, the calls are
    faster, since C++ reads a slot without a look-up in a dict.

    If a caller passes an argument that the method lacks, the error ends with the sentence that
    `advice` has for the argument. Other calls do not become slower. If the native backend was not
    built, the decorator adds only the advice.
    """

    def decorate(method: Method) -> Method:
        try:
            from pretok import _core
        except ImportError:
            return explained(advice)(method)
        # The name and the default value of `first` are not used.
        names = ("", *defaults) if attribute else ()
        values = (None, *defaults.values()) if attribute else ()
        explain = explainer(method, advice)
        return _core.FastCallMethod(method, attribute, names, values, positional, explain)  # type: ignore[return-value]

    return decorate
