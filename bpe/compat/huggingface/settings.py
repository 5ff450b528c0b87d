"""The settings of the process, and the number of calls that fell back, by reason."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import nan
from threading import local
from typing import NamedTuple

strict = False
check = 0.0
factories = False
processes = False
prompt_cache_mb = 0.0
total: Counter[str] = Counter()

VARIABLE = "PRETOK_HF"
MAX_MB = float(1 << 40)


class _Thread(local):
    is_bypassed = False


_thread = _Thread()


class Options(NamedTuple):
    """The arguments of `patch`, which are also variables of this module."""

    strict: bool = False
    """True if a call that bpe does not serve raises FallbackError."""
    check: float = 0.0
    """The share of calls whose result is compared with that of the real tokenizer."""
    factories: bool = False
    """True if functions of tokenizers.Tokenizer that read a tokenizer return stand-ins."""
    processes: bool = False
    """True if spawned processes call `patch`, too."""
    prompt_cache_mb: float = 0.0
    """The limit of the PromptCache of each tokenizer, in MB of 2^20 bytes; 0: there is none."""


def current() -> Options:
    """Return the options in effect."""
    return Options(strict, check, factories, processes, prompt_cache_mb)


def use(options: Options) -> None:
    """Put options into effect."""
    globals().update(options._asdict())


def from_environment(options: Options) -> Options | None:
    """Return `options` after the changes by PRETOK_HF; None if it turns `patch` off.

    The variable holds "on", "off", "strict", "check=SHARE", "factories", "processes",
    "prompt_cache_mb=NUMBER", or several of them with commas.
    """
    for word in os.environ.get(VARIABLE, "").replace(" ", "").split(","):
        if word == "off":
            return None
        if word in ("strict", "factories", "processes"):
            options = options._replace(**{word: True})
        elif word.startswith("check="):
            options = options._replace(
                check=_number(word, "a number from 0 to 1", lambda share: 0 <= share <= 1)
            )
        elif word.startswith("prompt_cache_mb="):
            options = options._replace(
                prompt_cache_mb=_number(word, "a number of MB", lambda size: 0 <= size < MAX_MB)
            )
        elif word not in ("", "on"):
            raise ValueError(
                "expected on, off, strict, check=SHARE, factories, processes or "
                f"prompt_cache_mb=NUMBER in {VARIABLE}, got {word!r}"
            )
    return options


def _number(word: str, expected: str, is_valid: Callable[[float], bool]) -> float:
    """Return the number of `word`, which is NAME=NUMBER."""
    name, _, text = word.partition("=")
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not is_valid(number):
        raise ValueError(f"expected {expected} after {name}= in {VARIABLE}, got {text!r}")
    return number


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
