"""Say which library serves a tokenizer, and which calls fell back."""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface import settings, thin
from bpe.compat.huggingface.real import RealTokenizer
from bpe.compat.huggingface.served import Backend
from bpe.compat.huggingface.state import state_of
from bpe.compat.huggingface.wrapping import real_of


def backend(tok: Any) -> Backend:
    """Return the library that serves a tokenizer of transformers or tokenizers, and why."""
    real = real_of(tok)
    is_of_transformers = not isinstance(tok, RealTokenizer)
    served = state_of(real).backend(real)
    if is_of_transformers and not served.reason:
        return served._replace(reason=thin.why_not())
    return served


def fallbacks() -> dict[str, int]:
    """Return the number of calls that fell back to the real tokenizer, by reason.

    With a version of transformers that has not been compared with bpe, its own methods call bpe. A
    reason says so, with the number of their calls.
    """
    return dict(settings.total)
