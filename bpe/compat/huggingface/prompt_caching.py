"""Encode long texts through a PromptCache, for `patch(prompt_cache_mb=…)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bpe import PromptCache, Tokenizer
from bpe.types import Treatment

Encode: TypeAlias = Callable[[str, Treatment], list[int]]
MIN_LENGTH = 4096
"""The fewest code points of a text for which the cache is asked: shorter texts are one chunk."""


def caching(tokenizer: Tokenizer, megabytes: float) -> tuple[PromptCache | None, Encode]:
    """Return a cache of this size, and `tokenizer.encode` with long texts through it.

    The cache is None if `megabytes` is 0.
    """
    encode = tokenizer.encode
    if not megabytes:
        return None, encode
    cache = PromptCache(tokenizer, int(megabytes * (1 << 20)))

    def encode_cached(text: str, treatment: Treatment) -> list[int]:
        if len(text) < MIN_LENGTH:
            return encode(text, treatment)
        ids: list[int] = cache.encode(text, treatment).ids.tolist()
        return ids

    return cache, encode_cached
