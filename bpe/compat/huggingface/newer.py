"""Let `patch` and `wrap` work if the library tokenizers lacks the classes to wrap, as 1.0 does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bpe import UnsupportedError, VocabularyError
from bpe.compat.huggingface import settings
from bpe.compat.huggingface.real import INSTALLED, WHY_RECORD
from bpe.compat.huggingface.serving import FallbackError
from bpe.compat.huggingface.state import logger
from bpe.compat.huggingface.tokenizers import Tokenizer

_LOADED = ("from_file", "from_pretrained")
_BYTES = ("from_str", "from_buffer")
_INSTEAD = "read the file with from_file of bpe.compat.huggingface.Tokenizer"


def is_newer(tok: Any) -> bool:
    """Return whether `tok` is a tokenizer of an installed library without the classes to wrap."""
    if not (WHY_RECORD and INSTALLED):
        return False
    return isinstance(tok, import_module("tokenizers").Tokenizer)


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """Yield the class, the name and the new value of each attribute that `patch` replaces."""
    if not INSTALLED:
        return
    owner = import_module("tokenizers").Tokenizer
    for name in _LOADED:
        yield owner, name, staticmethod(_factory(getattr(owner, name), getattr(Tokenizer, name)))
    for name in _BYTES:  # tokenizers 1.0 lacks them
        if not hasattr(owner, name):
            yield owner, name, staticmethod(getattr(Tokenizer, name))


def _factory(original: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads a stand-in; if bpe does not support it, call `original`."""

    @wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        try:
            return own(*args, **kwargs)
        except (UnsupportedError, VocabularyError) as error:
            logger.info("%s(%s): served by tokenizers, because %s", own.__name__, args, error)
            settings.total[str(error)] += 1
            if settings.strict:
                raise FallbackError(f"bpe does not serve this tokenizer: {error}") from error
        return original(*args, **kwargs)

    return make


def refuse(what: str) -> None:
    """Warn that `patch` or `wrap` changes nothing; if `settings.strict` is set, raise instead."""
    message = f"{what}: {WHY_RECORD}; {_INSTEAD}"
    if settings.strict:
        raise FallbackError(message)
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def why_no_transformers() -> str:
    """Return why `patch` serves no tokenizer of transformers."""
    if find_spec("transformers") is None:
        return "patch has no class of transformers to change, which is not installed"
    try:
        import_module("transformers")
    except ImportError as error:
        [line, *_] = str(error).splitlines()
        return f"patch has no class of transformers to change, which cannot be imported: {line}"
    return "patch has no class of transformers to change"
