"""Short versions of the methods of transformers' tokenizers for their most frequent arguments.

A short version passes all other calls on to the method that it replaces. It passes truncation and
padding to bpe as arguments, so its result does not change if another thread changes the settings of
the same tokenizer meanwhile.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from bpe.compat.huggingface import settings, thin_copy, thin_tokens
from bpe.compat.huggingface.classes import Classes
from bpe.compat.huggingface.state import comparable, state_of
from bpe.compat.huggingface.thin_call import ThinCall
from bpe.compat.huggingface.thin_decode import ThinDecode

TESTED_VERSIONS = ("4.57.6", "5.23.0", "5.24.0")
"""The versions of transformers whose methods the short versions follow."""


def why_not() -> str:
    """Return why there are no short versions for the installed transformers, or "" if there are."""
    version = importlib.import_module("transformers").__version__
    if version in TESTED_VERSIONS:
        return ""
    return f"transformers {version} has not been compared with bpe, so its own methods call bpe"


def methods(owner: Any) -> dict[str, Callable[..., Any]]:
    """Return the short methods for a class of transformers, by name.

    If `why_not` returns a reason, the methods call those of transformers, and count the calls.
    """
    reason = why_not()
    if reason:
        names = "__call__", "encode", "decode"  # in transformers 5, batch_decode calls decode
        return {name: _counted(getattr(owner, name), reason) for name in names}
    classes = Classes(owner)
    decodes_batches = not importlib.import_module("transformers").__version__.startswith("4.")
    return {
        "__call__": _call(owner.__call__, ThinCall(classes)),
        "encode": _encode(owner.encode, ThinCall(classes)),
        **_decode(owner.decode, owner.batch_decode, ThinDecode(classes, decodes_batches)),
        **thin_tokens.methods(owner),
        **thin_copy.methods(),
    }


def _counted(original: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """Return a method that counts its calls by `reason`, and calls `original`."""

    @wraps(original)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        settings.total[reason] += 1
        return original(self, *args, **kwargs)

    return counted


def _call(original: Callable[..., Any], thin: ThinCall) -> Callable[..., Any]:
    """Return a `__call__` that tries `thin`, and then calls `original` if needed."""
    thin_call, quick = thin.call, thin.quick

    @wraps(original)
    def __call__(self: Any, text: Any = None, *args: Any, **kwargs: Any) -> Any:
        if type(text) is str and not args and not settings.check:
            result = quick(self, text, kwargs)
            if result is not None:
                return result
        if args:
            return original(self, text, *args, **kwargs)
        result = thin_call(self, text, kwargs)
        if result is None:
            return original(self, text, **kwargs)
        return _checked(self, result, original, (text,), kwargs) if settings.check else result

    return _quickest(__call__, thin, ("text", "return_offsets_mapping"), (None, False))


def _encode(original: Callable[..., Any], thin: ThinCall) -> Callable[..., Any]:
    """Return an `encode` that tries `thin`, and then calls `original` if needed."""
    thin_encode = thin.encode

    @wraps(original)
    def encode(self: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
        result = None if args else thin_encode(self, text, kwargs)
        if result is None:
            return original(self, text, *args, **kwargs)
        return _checked(self, result, original, (text,), kwargs) if settings.check else result

    return _quickest(encode, thin, ("text",), (None,))


def _quickest(
    method: Callable[..., Any], thin: ThinCall, names: tuple[str, ...], defaults: tuple[Any, ...]
) -> Callable[..., Any]:
    """Return a method that first tries `ThinCall.quickest` if a call has only these arguments."""
    quickest = thin.quickest()
    if quickest is None:
        return method
    from pretok import _core

    return cast(Callable[..., Any], _core.FastCallMethod(method, quickest, names, defaults, 1))


def _decode(
    original: Callable[..., Any], batch_original: Callable[..., Any], thin: ThinDecode
) -> dict[str, Callable[..., Any]]:
    """Return methods that try `thin`, and then call the original method if needed."""
    thin_decode, thin_batch = thin.decode, thin.batch

    @wraps(original)
    def decode(
        self: Any, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any
    ) -> Any:
        result = None if args else thin_decode(self, token_ids, skip_special_tokens, kwargs)
        if result is None:
            return original(self, token_ids, skip_special_tokens, *args, **kwargs)
        if settings.check:
            return _checked(self, result, original, (token_ids, skip_special_tokens), kwargs)
        return result

    @wraps(batch_original)
    def batch_decode(
        self: Any, sequences: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any
    ) -> Any:
        result = None
        if not args and type(self).decode is decode:
            result = thin_batch(self, sequences, skip_special_tokens, kwargs)
        if result is None:
            return batch_original(self, sequences, skip_special_tokens, *args, **kwargs)
        if settings.check:
            return _checked(self, result, batch_original, (sequences, skip_special_tokens), kwargs)
        return result

    return {"decode": decode, "batch_decode": batch_decode}


def _checked(
    tok: Any,
    result: Any,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Return `result`; in a share of calls, compare it with the original method without bpe.

    If they differ, report the call, and return the result of the original method.
    """
    if random.random() >= settings.check:
        return result
    with settings.bypassed():
        expected = original(tok, *args, **kwargs)
    if comparable(result) == comparable(expected):
        return result
    options = [f"{key}={value!r}" for key, value in kwargs.items()]
    call = f"{original.__name__}({', '.join([*map(repr, args), *options])})"
    state_of(tok.__dict__["_tokenizer"]).report(call)
    return expected
