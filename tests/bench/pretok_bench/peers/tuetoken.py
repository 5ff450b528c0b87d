"""Adapter for tuetoken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pretok_bench.answers import Arrays
from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.peers.files import json_file
from pretok_bench.subject import Subject


class Tuetoken(Peer):
    """tuetoken: encodes special tokens as text."""

    name = module = "tuetoken"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a tokenizer.json."""
        tokenizer = self._load(str(json_file(subject)))

        def arrays(texts: list[str], threads: int) -> Arrays:
            buffers = tokenizer.encode_ordinary_to_buffer(texts, threads)
            return buffers["data"], buffers["offsets"]

        return Calls(
            arrays=arrays,
            lists=lambda texts, threads: list(tokenizer.encode_ordinary_batch(texts, threads)),
            counts=lambda texts, threads: list(tokenizer.count_tokens_batch(texts, threads)),
            text=tokenizer.decode,
        )

    def message(self, subject: Subject) -> Message:
        """Return `encode_ordinary` and `encode_to_bytes`."""
        tokenizer = self._load(str(json_file(subject)))
        return Message(
            tokenizer.encode_ordinary,
            lambda text: np.frombuffer(tokenizer.encode_to_bytes(text), np.uint32),
        )

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a tokenizer.json."""
        if not path.endswith(".json"):
            raise CannotError("it reads only tokenizer.json")

        def load() -> Callable[[str], Any]:
            encode: Callable[[str], Any] = self._load(path).encode_ordinary
            return encode

        return load

    def _load(self, path: str) -> Any:
        import tuetoken

        return tuetoken.Tokenizer(path)
