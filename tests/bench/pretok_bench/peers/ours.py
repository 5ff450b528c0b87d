"""Adapter for pretok itself, with the interface of a peer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import bpe
from pretok.preset import Preset
from pretok_bench.peer import Calls, Message, Peer
from pretok_bench.subject import Subject
from pretok_bench.timing import OURS


class Ours(Peer):
    """pretok itself."""

    name = OURS
    module = "pretok"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a new tokenizer."""
        tokenizer = subject.fresh()
        return Calls(
            array=partial(tokenizer.encode_array, special="allow"),
            arrays=lambda texts, threads: tokenizer.encode_batch_array(
                texts, "allow", threads=threads or None
            ),
            lists=lambda texts, threads: tokenizer.encode_batch(
                texts, "allow", threads=threads or None
            ),
            counts=lambda texts, threads: [tokenizer.count(text, "allow") for text in texts],
            text=tokenizer.decode,
            data=tokenizer.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return the calls that encode one short message: to a list, and to an array."""
        return Message(subject.tokenizer.encode, subject.tokenizer.encode_array)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader that calls bpe.load; special tokens are encoded as text."""
        backend = subject.tokenizer.backend
        preset: Preset | str | None = None
        if path == subject.source:
            preset = subject.source_preset
        elif path.endswith(".tiktoken"):
            preset = subject.preset

        def load() -> Callable[[str], Any]:
            loaded = bpe.load(path, preset=preset, backend=backend)
            return lambda text: loaded.encode(text, "text")

        return load
