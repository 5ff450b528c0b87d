"""Adapter for splintr."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from pretok_bench.peer import Calls, Message, Peer
from pretok_bench.peers.files import arrays_of_buffers, json_file, pattern_of
from pretok_bench.subject import Subject


class Splintr(Peer):
    """splintr, from the distribution splintr-rs: reads a tokenizer.json or a rank file."""

    name = "splintr-rs"
    module = "splintr"
    sets_threads = False

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a tokenizer read from a tokenizer.json."""
        tokenizer = self._load(subject)
        return Calls(
            arrays=lambda texts, threads: arrays_of_buffers(tokenizer.encode_batch_flat(texts)),
            lists=lambda texts, threads: list(tokenizer.encode_batch(texts)),
            text=tokenizer.decode_with_special,
            data=tokenizer.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return the calls that encode one text to a list and to an array, with special tokens."""
        tokenizer = self._load(subject)
        return Message(
            tokenizer.encode_raw,
            lambda text: np.frombuffer(tokenizer.encode_flat(text), np.uint32),
        )

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a tokenizer.json or a .tiktoken file."""
        import splintr

        if path.endswith(".json"):
            return lambda: splintr.from_json(path).encode_raw
        pattern = pattern_of(subject)
        return lambda: splintr.Tokenizer(path, pattern).encode

    def _load(self, subject: Subject) -> Any:
        """Return a tokenizer without the template of its post_processor.

        The calls of splintr for batches always apply a template.
        """
        import splintr

        path = json_file(subject)
        model = json.loads(path.read_bytes())
        if (model.get("post_processor") or {}).get("type") != "TemplateProcessing":
            return splintr.from_json(str(path))
        return splintr.from_json_bytes(json.dumps({**model, "post_processor": None}).encode())
