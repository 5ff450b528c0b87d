"""Let bpe serve one tokenizer, or every tokenizer of transformers until this is undone.

A tokenizer is served by its stand-in (tokenizers.Tokenizer of this package).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from typing import Any

from bpe.compat.huggingface import settings, short_methods
from bpe.compat.huggingface.encoding import real_arguments
from bpe.compat.huggingface.real import (
    ParityBpeTrainer,
    PostProcessor,
    RealDecodeStream,
    RealEncoding,
    RealTokenizer,
)
from bpe.compat.huggingface.serving import ServingEngine
from bpe.compat.huggingface.state import recheck_all, state_of
from bpe.compat.huggingface.stream import DecodeStream
from bpe.compat.huggingface.tokenizers import Tokenizer, changing

_lock = RLock()
_outer: list[tuple[bool, float]] = []
"""For each call of `patch` that is not undone yet, the settings to restore."""
_MISSING = object()
_replaced: list[tuple[type, str, Any]] = []


def patch(strict: bool = False, check: float = 0.0) -> None:
    """Let bpe serve the tokenizers of transformers, in the whole process.

    This includes tokenizers that exist already. Calls nest: each needs a call of `unpatch` to undo
    it. With `strict` a call that bpe does not serve raises FallbackError. `check` is the share of
    calls, from 0 to 1, that the real tokenizer repeats. If its result differs, this is logged, and
    the real tokenizer serves all later calls of that tokenizer.

    The environment variable PRETOK_HF overrides the arguments: "off" (patch nothing), "strict",
    "check=0.01", or "strict,check=0.01".
    """
    options = settings.from_environment(strict, check)
    with _lock:
        replacements = [] if _replaced or options is None else list(_replacements())
        _outer.append((settings.strict, settings.check))
        if options is not None:
            settings.strict, settings.check = options
            _replace_stream(RealDecodeStream, DecodeStream)
        if replacements:
            recheck_all()
        for owner, name, value in replacements:
            _replaced.append((owner, name, vars(owner).get(name, _MISSING)))
            setattr(owner, name, value)


def unpatch() -> None:
    """Undo one call of `patch`; when none is left, restore all classes and tokenizers."""
    with _lock:
        if not _outer:
            return
        settings.strict, settings.check = _outer.pop()
        if _outer:
            return
        while _replaced:
            owner, name, value = _replaced.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        _replace_stream(DecodeStream, RealDecodeStream)


@contextmanager
def patched(strict: bool = False, check: float = 0.0) -> Iterator[None]:
    """Patch for the duration of a `with` block, in the whole process."""
    patch(strict, check)
    try:
        yield
    finally:
        unpatch()


def _replace_stream(old: Any, new: Any) -> None:
    """Rebind DecodeStream in every module that has imported it."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or names.get("DecodeStream") is not old:
            continue
        if not str(names.get("__name__", "")).startswith("bpe.compat.huggingface"):
            names["DecodeStream"] = new


def _replacements() -> Iterator[tuple[type, str, Any]]:
    """Yield the class, the name and the new value of each attribute to replace."""
    yield RealEncoding, "merge", staticmethod(_with_real_encodings(RealEncoding.merge))
    yield RealTokenizer, "post_process", _with_real_encodings(RealTokenizer.post_process)
    yield PostProcessor, "process", _with_real_encodings(PostProcessor.process)
    if ParityBpeTrainer is not None:
        yield ParityBpeTrainer, "train_from_iterator", _train(ParityBpeTrainer.train_from_iterator)
    owner = patched_class()
    if owner is None:
        return
    yield owner, "_tokenizer", _TokenizerAttribute(hasattr(owner, "_tokenizer"))
    for name, method in short_methods.methods(owner).items():
        yield owner, name, method


def _with_real_encodings(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that converts encodings of bpe, also in lists, for `original` in Rust."""

    @wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: real_arguments(value) for name, value in kwargs.items()}
        return original(*map(real_arguments, args), **kwargs)

    return function


def _train(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `train_from_iterator` that also takes a stand-in."""

    @wraps(original)
    def train_from_iterator(self: Any, tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
        method = partial(original, self)
        if isinstance(tokenizer, RealTokenizer):
            tokenizer = Tokenizer.of(tokenizer).real
            method = changing(method, tokenizer)
        return method(tokenizer, *args, **kwargs)

    return train_from_iterator


def patched_class() -> type | None:
    """Return the class of transformers whose `_tokenizer` is a tokenizers.Tokenizer, if any."""
    if find_spec("transformers") is None:
        return None
    if find_spec("transformers.tokenization_utils_tokenizers") is not None:
        module = import_module("transformers.tokenization_utils_tokenizers")
        return module.TokenizersBackend  # type: ignore[no-any-return]
    module = import_module("transformers.tokenization_utils_fast")
    return module.PreTrainedTokenizerFast  # type: ignore[no-any-return]


class _TokenizerAttribute:
    """The attribute `_tokenizer`: stores the real tokenizer, and returns its stand-in."""

    def __init__(self, has_default: bool) -> None:
        """Wrap the attribute.

        `has_default` says whether the class itself has an attribute `_tokenizer`, which is None.
        Reading the attribute before it is set then returns None and raises no AttributeError.
        """
        self._has_default = has_default

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        real = None if instance is None else instance.__dict__.get("_tokenizer")
        if real is None:
            if self._has_default or (instance is not None and "_tokenizer" in instance.__dict__):
                return None
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute '_tokenizer'"
            )
        return real if settings.is_bypassed() else Tokenizer.of(real)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["_tokenizer"] = value.real if type(value) is Tokenizer else value

    def __delete__(self, instance: Any) -> None:
        del instance.__dict__["_tokenizer"]


def wrap(tok: Any) -> Any:
    """Return a tokenizer that bpe serves.

    A tokenizers.Tokenizer becomes a Tokenizer. A tokenizer of transformers is changed in place:
    its backend becomes a Tokenizer. Anything else raises TypeError.
    """
    real = real_of(tok)
    if isinstance(tok, RealTokenizer):
        return Tokenizer.of(real)
    tok._tokenizer = Tokenizer.of(real)
    return tok


def engine(tok: Any) -> ServingEngine:
    """Return the library that serves a tokenizer of transformers or tokenizers, and why."""
    real = real_of(tok)
    is_of_transformers = not isinstance(tok, RealTokenizer)
    serving = state_of(real).serving_engine(real)
    if is_of_transformers and not serving.reason:
        return serving._replace(reason=short_methods.why_not())
    return serving


def fallbacks() -> dict[str, int]:
    """Return the number of calls that fell back to the real tokenizer, by reason.

    With a version of transformers that has not been compared with bpe, its own methods call bpe. A
    reason says so, with the number of their calls.
    """
    return dict(settings.total)


def real_of(tok: Any) -> Any:
    """Return the real tokenizer of a tokenizer of transformers or tokenizers, or of a stand-in.

    Anything else raises TypeError.
    """
    real = tok if isinstance(tok, RealTokenizer) else getattr(tok, "_tokenizer", None)
    if not isinstance(real, RealTokenizer):
        raise TypeError(
            f"expected a tokenizers.Tokenizer or a fast tokenizer of transformers, got "
            f"{type(tok).__name__}"
        )
    return real.real if type(real) is Tokenizer else real
