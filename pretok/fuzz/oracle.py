"""How a real engine splits one whole text, to compare with ours: what `pretok identify` asks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pretok.fuzz.engines import Engine, EngineError, HuggingFaceEngine, engine
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Engine as EngineName

Span = tuple[int, int]
Ask = Callable[[str], list[Span]]
"""The spans of the engine's pre-tokens, in code points."""

WINDOW = 24
"""How many code points of a text tiktoken is first asked about closely, then twice as many, …"""
MAX_WINDOW = 400


def of_huggingface(pre_tokenizer: object) -> tuple[str, Ask]:
    """Return the version of tokenizers, and how it splits with the JSON of a pre_tokenizer.

    Raises EngineError if it is not installed or does not take the pre_tokenizer.
    """
    library = engine("hf")
    assert isinstance(library, HuggingFaceEngine)
    try:
        splitter = library.pre_tokenizer(pre_tokenizer)
    except Exception as error:  # tokenizers has one kind for all
        raise EngineError(f"{library.version} refuses the pre_tokenizer: {error}") from error

    def ask(text: str) -> list[Span]:
        if splitter is None:
            return [(0, len(text))] if text else []
        return [span for _, span in _asked(library, lambda: splitter.pre_tokenize_str(text))]

    return library.version, ask


def of_pattern(pattern: str, name: EngineName, ours: PreTokenizer) -> tuple[str, Ask]:
    """Return the version of the engine, and how it splits with `pattern`.

    tiktoken shows no pre-tokens; it is asked whether they are those of `ours`. Raises EngineError.
    """
    if name == "hf":
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
        return of_huggingface({**split, "invert": False})
    library = engine("tiktoken")

    def tokens(texts: set[str], text: str) -> list[bytes]:
        ranks = {bytes([byte]) for byte in range(256)} | {one.encode() for one in texts}
        ordered = sorted(ranks)
        encoding = _asked(
            library,
            lambda: library.module.Encoding(
                "pretok-identify",
                pat_str=pattern,
                mergeable_ranks={token: rank for rank, token in enumerate(ordered)},
                special_tokens={},
            ),
        )
        return [ordered[i] for i in _asked(library, lambda: encoding.encode_ordinary(text))]

    def ask(text: str) -> list[Span]:
        bounds = [(start, end) for start, end in ours.spans(text)]
        parts = [text[start:end] for start, end in bounds]
        # A pre-token that is a token is found whole. Were two of ours one of its, the two joined
        # would be a token of it; were one of ours several, that one token would not come out.
        joined = {one + other for one, other in pairwise(parts)}
        found = tokens({*parts, *joined}, text)
        wanted = [part.encode() for part in parts]
        if found == wanted:
            return bounds
        pairs = enumerate(zip(found, wanted, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(found), len(wanted) - 1))
        return _closely(text, bounds, max(at, 0))

    def _closely(text: str, bounds: list[Span], at: int) -> list[Span]:
        """Return our spans but for those around number `at`, which the engine is asked for."""
        first = max(at - 2, 0)
        start = bounds[first][0] if bounds else 0
        size = WINDOW
        while size <= MAX_WINDOW:
            window = text[start : start + size]
            substrings = {
                window[a:b] for a in range(len(window)) for b in range(a + 1, len(window) + 1)
            }
            found = _spans(tokens(substrings, window), window)
            if found != list(ours.spans(window)):
                return bounds[:first] + [(start + a, start + b) for a, b in found]
            size *= 2
        raise EngineError(
            f"{library.version} splits otherwise from about code point {bounds[at][0]} on, but no "
            f"{MAX_WINDOW} code points from there show how"
        )

    return library.version, ask


def _spans(tokens: list[bytes], text: str) -> list[Span]:
    """Return where `tokens`, whole characters, are in `text`, parts of which may be left out."""
    found = []
    end = 0
    for token in tokens:
        start = text.index(token.decode(), end)
        end = start + len(token.decode())
        found.append((start, end))
    return found


def _asked(library: Engine, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise EngineError(f"{library.version} gives up: {error}") from error
        raise
