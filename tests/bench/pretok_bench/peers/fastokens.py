"""Adapters for fastokens and its fork snaptokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.peers.files import arrays_of_buffers, json_file, pattern_of
from pretok_bench.subject import Subject


class Fastokens(Peer):
    """fastokens: reads a tokenizer.json or a rank file."""

    name = module = "fastokens"
    sets_threads = False

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a Tokenizer read from a tokenizer.json."""
        tokenizer = self._package().Tokenizer.from_file(str(json_file(subject)))
        return Calls(
            arrays=lambda texts, threads: arrays_of_buffers(tokenizer.encode_batch_flat(texts)),
            lists=lambda texts, threads: [one.ids for one in tokenizer.encode_batch(texts)],
            text=tokenizer.decode,
        )

    def message(self, subject: Subject) -> Message:
        """Return the calls of `encode`, for a list, and of `encode_batch_flat`, for an array."""
        tokenizer = self._package().Tokenizer.from_file(str(json_file(subject)))
        return Message(
            lambda text: tokenizer.encode(text).ids,
            lambda text: np.frombuffer(tokenizer.encode_batch_flat([text])[0], np.uint32),
        )

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a tokenizer.json or a .tiktoken file."""
        package = self._package()
        if path.endswith(".json"):
            return lambda: _encode(package.Tokenizer.from_file(path))
        pattern = pattern_of(subject)
        if not hasattr(package.Tokenizer, "from_tiktoken"):
            raise CannotError("it reads only tokenizer.json")
        return lambda: _encode(package.Tokenizer.from_tiktoken(path, pattern=pattern))

    def _package(self) -> Any:
        import fastokens

        return fastokens


class Snaptokens(Fastokens):
    """snaptokens: has the API of fastokens."""

    name = module = "snaptokens"

    def _package(self) -> Any:
        import snaptokens

        return snaptokens


def _encode(tokenizer: Any) -> Callable[[str], Any]:
    return lambda text: tokenizer.encode(text).ids
