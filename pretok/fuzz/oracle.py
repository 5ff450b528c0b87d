"""Split whole texts with tiktoken or Hugging Face's tokenizers, for `pretok identify`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pretok.fuzz.engines import EngineError, FuzzEngine, HuggingFaceEngine, TiktokenEngine, engine
from pretok.fuzz.engines.tiktoken import substrings
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine

Span = tuple[int, int]
Ask = Callable[[str], list[Span]]
"""Returns the spans of the engine's pre-tokens, in code points."""

WINDOW = 24
"""Initial size of the window in which tiktoken's split is determined, in code points.

If tiktoken and pretok split the window equally, the size doubles.
"""
MAX_WINDOW = 400
"""Maximum size of the window, in code points."""


def of_huggingface(pre_tokenizer: object) -> tuple[str, Ask]:
    """Return the version of the library tokenizers, and a function that splits with it.

    The function splits by `pre_tokenizer`, a parsed JSON object. Raises EngineError if the library
    is not installed or rejects the pre_tokenizer.
    """
    library = engine("hf")
    assert isinstance(library, HuggingFaceEngine)
    try:
        splitter = library.pre_tokenizer(pre_tokenizer)
    except Exception as error:  # tokenizers raises only plain Exceptions
        raise EngineError(f"{library.version} rejects the pre_tokenizer: {error}") from error

    def ask(text: str) -> list[Span]:
        if splitter is None:
            return [(0, len(text))] if text else []
        return [span for _, span in _call(library, lambda: splitter.pre_tokenize_str(text))]

    return library.version, ask


def of_pattern(pattern: str, name: Engine, ours: PreTokenizer) -> tuple[str, Ask]:
    """Return the version of the engine `name`, and a function that splits by `pattern`.

    tiktoken does not expose pre-tokens. So the function gives tiktoken a vocabulary whose ids show
    whether tiktoken has the same pre-tokens as `ours`. Both raise EngineError: `of_pattern`
    if the engine is not installed, and the function if tiktoken's split cannot be determined. One
    of them raises it if the engine rejects `pattern`.
    """
    if name == "hf":
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
        return of_huggingface({**split, "invert": False})
    library = engine("tiktoken")
    assert isinstance(library, TiktokenEngine)

    def tokens(texts: set[str], text: str) -> list[bytes]:
        """Return tiktoken's tokens of `text`, with a vocabulary of all bytes and all `texts`."""
        result: list[bytes] = _call(library, lambda: library.encoder(pattern, texts)(text))
        return result

    def ask(text: str) -> list[Span]:
        bounds = [(start, end) for start, end in ours.spans(text)]
        parts = [text[start:end] for start, end in bounds]
        # The tokens are all pre-tokens of `ours`, and each pair of adjacent pre-tokens joined. If
        # tiktoken joins two pre-tokens, the result has a joined token. If tiktoken cuts a
        # pre-token, the token of this pre-token is missing. So equal tokens mean equal splits.
        joined = {left + right for left, right in pairwise(parts)}
        encoded = tokens({*parts, *joined}, text)
        expected = [part.encode() for part in parts]
        if encoded == expected:
            return bounds
        pairs = enumerate(zip(encoded, expected, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(encoded), len(expected) - 1))
        return _spans_around(text, bounds, max(at, 0))

    def _spans_around(text: str, bounds: list[Span], at: int) -> list[Span]:
        """Return the spans of `ours` up to shortly before index `at`, then spans of tiktoken.

        The spans of tiktoken come from the first window size for which the two splits differ.
        """
        first = max(at - 2, 0)
        start = bounds[first][0] if bounds else 0
        size = WINDOW
        while size <= MAX_WINDOW:
            window = text[start : start + size]
            theirs = _spans(tokens(substrings([window]), window), window)
            if theirs != list(ours.spans(window)):
                return bounds[:first] + [(start + a, start + b) for a, b in theirs]
            size *= 2
        raise EngineError(
            f"{library.version} splits differently near code point {bounds[at][0]}, but not if "
            f"the text is cut to {MAX_WINDOW} code points there"
        )

    return library.version, ask


def _spans(tokens: list[bytes], text: str) -> list[Span]:
    """Return the spans of `tokens` in `text`.

    Each token must be whole characters. `text` may have gaps between the tokens.
    """
    spans = []
    end = 0
    for token in tokens:
        start = text.index(token.decode(), end)
        end = start + len(token.decode())
        spans.append((start, end))
    return spans


def _call(library: FuzzEngine, ask: Callable[[], Any]) -> Any:
    """Return `ask()`; raise EngineError for an exception or a Rust panic of `library`."""
    try:
        return ask()
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise EngineError(f"{library.version} failed: {error}") from error
        raise
