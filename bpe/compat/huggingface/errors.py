"""Errors of the stand-in for Hugging Face's tokenizers."""

from __future__ import annotations


class FallbackError(RuntimeError):
    """Raised with `patch(strict=True)` for a call or a tokenizer that bpe does not serve."""


class CallFallbackError(Exception):
    """The reason why the real tokenizer must serve a call; never leaves this package."""
