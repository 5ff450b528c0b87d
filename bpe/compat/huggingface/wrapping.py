"""Let bpe serve one tokenizer, without a change to the others."""

from __future__ import annotations

from typing import Any

from bpe.compat.huggingface.real import RealTokenizer
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
