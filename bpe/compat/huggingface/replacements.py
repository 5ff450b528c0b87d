"""List the attributes that `patch` replaces, and their new values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

from bpe.compat.huggingface import settings, short_methods
from bpe.compat.huggingface.encoding import real_arguments
from bpe.compat.huggingface.real import ParityBpeTrainer, PostProcessor, RealEncoding, RealTokenizer
from bpe.compat.huggingface.state import KEY
from bpe.compat.huggingface.tokenizers import Tokenizer, changing

_FACTORIES = ("from_file", "from_str", "from_buffer", "from_pretrained")


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """Yield the class, the name and the new value of each attribute to replace."""
    for name in _FACTORIES:
        yield RealTokenizer, name, staticmethod(_factory(getattr(RealTokenizer, name)))
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


def _factory(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a stand-in of the result if `settings.factories` is set."""

    @wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        real = original(*args, **kwargs)
        return Tokenizer.of(real) if settings.factories else real

    return make


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
        self._views: WeakKeyDictionary[Any, Tokenizer] = WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        real = None if instance is None else instance.__dict__.get("_tokenizer")
        if real is None:
            if self._has_default or (instance is not None and "_tokenizer" in instance.__dict__):
                return None
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute '_tokenizer'"
            )
        if settings.is_bypassed():
            return real
        state = real.__dict__.get(KEY)
        view = None if state is None or state.view is None else state.view()
        return self._kept_view(instance, real) if view is None else view

    def _kept_view(self, instance: Any, real: Any) -> Any:
        """Return the stand-in of `real`, and keep it as long as `instance` exists."""
        view = Tokenizer.of(real)
        with suppress(TypeError):  # a subclass may have no hash
            self._views[instance] = view
        return view

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["_tokenizer"] = value.real if type(value) is Tokenizer else value

    def __delete__(self, instance: Any) -> None:
        del instance.__dict__["_tokenizer"]
