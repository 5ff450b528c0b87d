"""Short versions of the methods of transformers' tokenizers for their most frequent arguments.

A short version passes all other calls on to the method that it replaces. It passes truncation and
padding to bpe as arguments, so its result does not change if another thread changes the settings of
the same tokenizer meanwhile.
"""

from __future__ import annotations

import copy
import copyreg
import importlib
import random
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.short_call import ShortCall
from bpe.compat.huggingface.short_decode import ShortDecode
from bpe.compat.huggingface.short_reads import token_methods
from bpe.compat.huggingface.state import comparable, copy_with_engine, state_of
from bpe.compat.huggingface.transformers_classes import TransformersClasses

TESTED_VERSIONS = ("4.57.6", "5.23.0", "5.24.0")
"""The versions of transformers whose methods the short versions follow."""


def why_not() -> str:
    """Return why there are no short versions for the installed transformers, or "" if there are."""
    version = importlib.import_module("transformers").__version__
    if version in TESTED_VERSIONS:
        return ""
    return f"transformers {version} has not been compared with bpe, so its own methods call bpe"


def methods(owner: Any) -> dict[str, Any]:
    """Return the short methods for a class of transformers, by name.

    If `why_not` returns a reason, the methods call those of transformers, and count the calls.
    """
    reason = why_not()
    if reason:
        names = "__call__", "encode", "decode"  # in transformers 5, batch_decode calls decode
        return {name: _counted(getattr(owner, name), reason) for name in names}
    classes = TransformersClasses(owner)
    is_old = importlib.import_module("transformers").__version__.startswith("4.")
    short_call, short_decode = ShortCall(classes), ShortDecode(classes, decodes_batches=not is_old)
    native = short_call.native()
    call_names = "text", "return_offsets_mapping", "add_special_tokens"
    call = _short_first(owner.__call__, short_call.call)
    encode = _short_first(owner.encode, short_call.encode)
    short_decode.method = decode = _decode(owner.decode, short_decode)
    return {
        "__call__": _native_first(call, native, call_names, (None, False, True)),
        "encode": _native_first(encode, native, ("text", "add_special_tokens"), (None, True)),
        "decode": decode,
        "tokenize": _short_first(owner.tokenize, short_call.tokenize),
        "batch_decode": _short_first(owner.batch_decode, short_decode.batch),
        **token_methods(owner),
        **_copy(),
    }


def _counted(original: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """Return a method that counts its calls by `reason`, and calls `original`."""

    @wraps(original)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        settings.total[reason] += 1
        return original(self, *args, **kwargs)

    return counted


def _short_first(original: Callable[..., Any], short: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that calls `short`, and then `original` if the result is None."""

    @wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = short(self, *args, **kwargs)
        if result is None:
            return original(self, *args, **kwargs)
        return _checked(self, result, original, args, kwargs) if settings.check else result

    return method


def _decode(original: Callable[..., Any], short: ShortDecode) -> Callable[..., Any]:
    """Do the same as `_short_first`, faster, for the method `decode`."""
    short_decode = short.decode

    @wraps(original)
    def decode(
        self: Any, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any
    ) -> Any:
        result = None if args else short_decode(self, token_ids, skip_special_tokens, kwargs)
        if result is None:
            return original(self, token_ids, skip_special_tokens, *args, **kwargs)
        if settings.check:
            return _checked(self, result, original, (token_ids, skip_special_tokens), kwargs)
        return result

    return decode


def _native_first(
    method: Callable[..., Any],
    native: Callable[..., Any] | None,
    names: tuple[str, ...],
    defaults: tuple[Any, ...],
) -> Callable[..., Any]:
    """Return a method that first tries C++ if a call has only the arguments `names`."""
    if native is None:
        return method
    from pretok import _core

    return cast(Callable[..., Any], _core.FastCallMethod(method, native, names, defaults, 1))


def _copy() -> dict[str, Callable[..., Any]]:
    """Return the method that `copy` calls, by name; nothing if this Python lacks `_reconstruct`.

    With the method, copies share the engine. Without it, `copy` does the same, and the copy has to
    be serialized to find its engine.
    """
    return {"__deepcopy__": _deepcopy} if hasattr(copy, "_reconstruct") else {}


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """Return what copy.deepcopy returns for a class without this method."""
    real = self.__dict__.get("_tokenizer")
    if real is not None and id(real) not in memo:
        # This stores the copy in `memo`, from where the copy of `self` gets it.
        copy_with_engine(real, lambda real: copy.deepcopy(real, memo))
    reduce = copyreg.dispatch_table.get(type(self))
    reduced = self.__reduce_ex__(4) if reduce is None else reduce(self)
    return copy._reconstruct(self, memo, *reduced)  # type: ignore[attr-defined]


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
