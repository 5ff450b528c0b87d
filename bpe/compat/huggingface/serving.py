"""Say which library serves a tokenizer, and why a call or a tokenizer is not served by bpe."""

from __future__ import annotations

from typing import NamedTuple


class FallbackError(RuntimeError):
    """Raised with `patch(strict=True)` for a call or a tokenizer that bpe does not serve."""


class CallFallbackError(Exception):
    """The reason why the real tokenizer must serve a call; never leaves this package."""

    def __init__(self, reason: str, error: str = "") -> None:
        """`error` is the text of tokenizers' own error, if it refuses the call."""
        super().__init__(reason)
        self.error = error


class ServingEngine(NamedTuple):
    """The library that serves a tokenizer.

    `name` is "bpe" or "tokenizers"; `reason` says why it is "tokenizers". If it is "bpe" and there
    is a reason, that is why the methods of transformers have no short versions. `counts` has the
    number of calls that each library served.
    """

    name: str
    reason: str
    counts: dict[str, int]
