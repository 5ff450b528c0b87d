"""Compare the native backend with the Python backend."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pretok.fuzz.engines.base import ComparedSplits, EngineError, FuzzEngine
from pretok.machine.backend import choose_backend
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.text import ESCAPE


class PythonEngine(FuzzEngine):
    """pretok's own Python backend; the results of all methods but `split_batch` are compared."""

    name = "python"
    version = "the Python backend"

    def _load(self) -> None:
        """Load nothing, because the engine is part of pretok."""

    def unsupported_reason(self, preset: Preset) -> str:
        """Return "", because the Python backend can express every preset."""
        return ""

    def unicode(self, preset: Preset) -> str:
        """Return the version of the preset, because both backends have the same tables."""
        return preset.unicode

    def comparisons(self, tokenizer: PreTokenizer) -> list[ComparedSplits]:
        """Return comparisons of `tokenizer` with the engine; the first one compares `split`."""
        if tokenizer.backend == "python":
            choose_backend("native")  # raises if it was not built
            raise EngineError(
                "the Python backend cannot be compared with itself; use the native backend, or "
                "another engine"
            )
        python = PreTokenizer(tokenizer.preset, tokenizer.unicode, "python")

        def same(name: str, ask: Callable[..., list[Any]]) -> ComparedSplits:
            """Return a comparison of the results of `ask` for both backends."""
            return ComparedSplits(
                name,
                lambda texts: [ask(tokenizer, text) for text in texts],
                lambda texts: [ask(python, text) for text in texts],
            )

        def streamed(streaming: PreTokenizer, whole: PreTokenizer, name: str) -> ComparedSplits:
            """Return a comparison of streams of `streaming` with splits by `whole`."""
            return ComparedSplits(
                f"{name} stream",
                lambda texts: [_streamed(streaming, text) for text in texts],
                lambda texts: [whole.split(text) for text in texts],
            )

        offsets = [
            same(f"offsets ({unit})", lambda tok, text, unit=unit: _spans(tok.offsets(text, unit)))
            for unit in ("char", "byte", "utf16")
        ]
        offsets.append(same("byte offsets", lambda tok, text: _spans(tok.offsets(_damaged(text)))))
        return [
            same("split", lambda tok, text: tok.split(text)),
            *([] if tokenizer.preset.drops_text else offsets),
            same("rules", lambda tok, text: [tuple(step) for step in tok.explain(text)]),
            same("split_bytes", lambda tok, text: tok.split_bytes(_damaged(text))),
            # An Ask returns one result per pre-token, so a count becomes a list of this length.
            same("count", lambda tok, text: [None] * tok.count(text)),
            streamed(tokenizer, python, "native"),
            streamed(python, tokenizer, "python"),
            ComparedSplits(
                "native stream of bytes",
                lambda texts: [_streamed(tokenizer, _damaged(text)) for text in texts],
                lambda texts: [
                    [part.decode("utf-8", ESCAPE) for part in python.split_bytes(_damaged(text))]
                    for text in texts
                ],
            ),
        ]


def _spans(bounds: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(pairwise(bounds.tolist()))


def _rng(data: str | bytes) -> random.Random:
    """Return a random generator seeded by `data`, so minimization is deterministic."""
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return random.Random(zlib.crc32(encoded))


def _damaged(text: str) -> bytes:
    """Return the UTF-8 of `text`; in half of the texts one byte is removed or changed."""
    data = text.encode("utf-8", "surrogatepass")
    rng = _rng(data)
    if not data or rng.random() < 0.5:
        return data
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randrange(2)) + data[at + 1 :]


def _streamed(tokenizer: PreTokenizer, data: str | bytes) -> list[str]:
    """Return the pre-tokens of `data`, fed in chunks of random size, some of them empty."""
    stream = tokenizer.stream()
    rng = _rng(data)
    pre_tokens: list[str] = []
    start = 0
    while start < len(data):
        end = start + rng.choice((0, 1, 1, 1, 2, 3, 5, 9))
        pre_tokens += stream.feed(data[start:end])
        start = end
    return pre_tokens + stream.finish()
