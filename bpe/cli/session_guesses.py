"""Published guesses of the ids that a longer text keeps, to measure how often they are wrong.

Servers ship them: TensorRT-LLM #15040 joins the ids of both texts, #17462 goes back one token, and
#18389 encodes the last 64 tokens again and trusts 32 equal ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bpe.tokenizer import Tokenizer

Guess: TypeAlias = Callable[[Tokenizer, str, str], list[int]]
"""Guesses the ids of the second text from those of the first."""


def common_start(a: str, b: str) -> int:
    """Return the number of equal code points at the start of both texts."""
    shorter = min(len(a), len(b))
    low, high = 0, shorter  # the answer is between them
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def joined(tokenizer: Tokenizer, old: str, new: str) -> list[int]:
    """Keep the ids of the old text, if the new one begins with it; encode the rest by itself."""
    if not new.startswith(old):
        return tokenizer.encode(new, "text")
    return tokenizer.encode(old, "text") + tokenizer.encode(new[len(old) :], "text")


def rolled_back(tokenizer: Tokenizer, old: str, new: str) -> list[int]:
    """Keep the tokens of the common start but the last one."""
    common = common_start(old, new)
    tokens = [token for token in tokenizer.tokens(old, "text") if token.end <= common][:-1]
    start = tokens[-1].end if tokens else 0
    return [token.id for token in tokens] + tokenizer.encode(new[start:], "text")


def resynchronized(
    tokenizer: Tokenizer, old: str, new: str, overlap: int = 64, run: int = 32
) -> list[int]:
    """Encode from `overlap` tokens before the end of the common start; trust `run` equal ids."""
    common = common_start(old, new)
    tokens = [token for token in tokenizer.tokens(old, "text") if token.end <= common]
    first = max(0, len(tokens) - overlap)
    start = tokens[first].start if tokens else 0
    again = tokenizer.encode(new[start:], "text")
    ids = [token.id for token in tokens]
    for at in range(first, len(ids) - run + 1):
        if ids[at : at + run] == again[at - first : at - first + run]:
            return ids[:at] + again[at - first :]
    return tokenizer.encode(new, "text")


GUESSES: dict[str, Guess] = {
    "ids of both texts": joined,
    "one token back": rolled_back,
    "64 back, 32 equal": resynchronized,
}
