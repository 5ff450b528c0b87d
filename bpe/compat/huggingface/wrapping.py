"""Let bpe serve one tokenizer, and say which library serves a tokenizer."""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface import settings, short_methods
from bpe.compat.huggingface.real import RealTokenizer
from bpe.compat.huggingface.serving import ServingEngine
from bpe.compat.huggingface.state import state_of
from bpe.compat.huggingface.tokenizer import Tokenizer


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
