"""The functions of this package with a version of tokenizers that the stand-in cannot wrap.

Tokenizers of such a version serve themselves. Its classes differ too much to build on them:
tokenizers 1.0 has neither components nor a Tokenizer that can be extended.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tokenizers

from bpe.compat.huggingface import settings
from bpe.compat.huggingface.real import WHY_NOT
from bpe.compat.huggingface.serving import FallbackError, ServingEngine


def patch(
    strict: bool = False, check: float = 0.0, *, factories: bool = False, processes: bool = False
) -> None:
    """Warn that all tokenizers serve themselves; with `strict`, raise FallbackError instead."""
    options = settings.from_environment(settings.Options(strict, check, factories, processes))
    if options is not None:
        if options.strict:
            raise FallbackError(WHY_NOT)
        _warn()


def unpatch() -> None:
    """Do nothing, because `patch` changed nothing."""


@contextmanager
def patched(
    strict: bool = False, check: float = 0.0, *, factories: bool = False, processes: bool = False
) -> Iterator[None]:
    """Call `patch`."""
    patch(strict, check, factories=factories, processes=processes)
    yield


def wrap(tok: Any) -> Any:
    """Return `tok` unchanged, with a warning."""
    engine(tok)
    _warn()
    return tok


def engine(tok: Any) -> ServingEngine:
    """Return the library that serves a tokenizer, which is tokenizers, and why."""
    if not isinstance(getattr(tok, "_tokenizer", tok), tokenizers.Tokenizer):
        raise TypeError(
            f"expected a tokenizers.Tokenizer or a fast tokenizer of transformers, got "
            f"{type(tok).__name__}"
        )
    return ServingEngine("tokenizers", WHY_NOT, {"bpe": 0, "tokenizers": 0})


def fallbacks() -> dict[str, int]:
    """Return an empty dict, because no call reaches bpe."""
    return {}


def __getattr__(name: str) -> Any:
    if name in ("DecodeStream", "Encoding", "Tokenizer", "comparable"):
        raise ImportError(f"bpe.compat.huggingface has no {name} here: {WHY_NOT}")
    raise AttributeError(f"module 'bpe.compat.huggingface' has no attribute {name!r}")


def _warn() -> None:
    warnings.warn(f"{WHY_NOT}, so its tokenizers serve themselves", RuntimeWarning, stacklevel=3)
