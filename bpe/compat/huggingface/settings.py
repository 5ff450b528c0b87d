"""The settings of the process, and the number of calls that fell back, by reason."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

# True if a call that bpe does not serve raises FallbackError.
strict = False
check = 0.0
"""The share of calls whose result is compared with that of the real tokenizer."""
total: Counter[str] = Counter()

VARIABLE = "PRETOK_HF"


class _Thread(local):
    is_bypassed = False


_thread = _Thread()


def from_environment(strict: bool, check: float) -> tuple[bool, float] | None:
    """Return `strict` and `check` after the changes by PRETOK_HF; None if it turns `patch` off.

    The variable holds "on", "off", "strict", "check=SHARE", or several of them with commas.
    """
    for word in os.environ.get(VARIABLE, "").replace(" ", "").split(","):
        if word == "off":
            return None
        if word == "strict":
            strict = True
        elif word.startswith("check="):
            check = _share(word.removeprefix("check="))
        elif word not in ("", "on"):
            raise ValueError(f"expected on, off, strict or check=SHARE in {VARIABLE}, got {word!r}")
    return strict, check


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"expected a number from 0 to 1 after check= in {VARIABLE}, got {text!r}")
    return share


@contextmanager
def bypassed() -> Iterator[None]:
    """Give this thread the real tokenizers of patched classes."""
    _thread.is_bypassed = True
    try:
        yield
    finally:
        _thread.is_bypassed = False


def is_bypassed() -> bool:
    """Return whether this thread gets real tokenizers."""
    return _thread.is_bypassed
