"""Adapter for Hugging Face's tokenizers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.peers.files import json_file
from pretok_bench.subject import Subject


class Tokenizers(Peer):
    """Hugging Face's library tokenizers: reads a tokenizer.json."""

    name = module = "tokenizers"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a tokenizer.json."""
        tokenizer = self._load(json_file(subject))
        # tokenizers 1.0 has only one method, and computes no offsets.
        encode_batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)

        def lists(texts: list[str], threads: int) -> list[list[int]]:
            os.environ["TOKENIZERS_PARALLELISM"] = "false" if threads == 1 else "true"
            encodings = encode_batch(texts, add_special_tokens=False)
            return [encoding.ids for encoding in encodings]

        return Calls(
            lists=lists,
            text=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        )

    def message(self, subject: Subject) -> Message:
        """Return a call of `encode` that reads the ids of the Encoding."""
        tokenizer = self._load(json_file(subject))
        return Message(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a tokenizer.json."""
        if not path.endswith(".json"):
            raise CannotError("it reads only tokenizer.json")

        def load() -> Callable[[str], Any]:
            tokenizer = self._load(path)
            return lambda text: tokenizer.encode(text, add_special_tokens=False).ids

        return load

    def _load(self, path: object) -> Any:
        import tokenizers

        return tokenizers.Tokenizer.from_file(str(path))
