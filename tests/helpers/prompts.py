"""Random prompts that share parts, and a PromptCache with small chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import bpe
from bpe import SpecialTokenError, UnknownTokenError

ALL_BITS = (1 << 64) - 1


def small_cache(
    tok: bpe.Tokenizer, max_bytes: int = 1 << 20, windows: tuple[int, int] = (6, 24),
    hash_mask: int = ALL_BITS,
) -> bpe.PromptCache:  # fmt: skip
    """Return a cache whose chunks are short, so that short texts have several.

    `hash_mask` has the bits of hashes that are used; with few of them, chunks collide.
    """
    cache = bpe.PromptCache(tok, max_bytes)
    if cache._native is not None:
        from pretok import _core

        backend: Any = tok._pipeline.backend
        cache._native = _core.PromptCache(backend, max_bytes, *windows, hash_mask)
    return cache


def outcome(call: Callable[[], Any]) -> Any:
    """Return the ids of a call, or its error."""
    try:
        found = call()
    except (SpecialTokenError, UnknownTokenError, UnicodeEncodeError) as error:
        return type(error), str(error)
    return getattr(found, "ids", found).tolist()


def prompts(random: Random, pieces: Sequence[str], count: int) -> Iterator[str]:
    """Yield texts of which most change an earlier one: at the end, the front or the middle."""
    texts = [""]
    for _ in range(count):
        new = "".join(random.choices(pieces, k=random.randrange(1, 40)))
        old = random.choice(texts)
        at = random.randrange(len(old) + 1)
        kind = random.randrange(7)
        text = (
            old, old + new, new + old, old[:at] + new + old[at:], old[:at] + new,
            old[at:] + random.choice(texts), new,
        )[kind]  # fmt: skip
        texts.append(text[-1500:])
        yield texts[-1]
