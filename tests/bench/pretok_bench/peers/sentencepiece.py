"""Adapter for sentencepiece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.peers.files import model_file
from pretok_bench.subject import Subject


class Sentencepiece(Peer):
    """sentencepiece: reads its own .model; encodes special tokens as text."""

    name = module = "sentencepiece"

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of a SentencePieceProcessor."""
        processor = self._load(str(model_file(subject)))
        return Calls(
            lists=lambda texts, threads: list(processor.encode(texts, num_threads=threads or -1)),
            text=processor.decode,
        )

    def message(self, subject: Subject) -> Message:
        """Return `encode`."""
        return Message(self._load(str(model_file(subject))).encode)

    def loader(self, path: str, subject: Subject) -> Callable[[], Callable[[str], Any]]:
        """Return a loader of a .model file."""
        if not path.endswith(".model"):
            raise CannotError("it reads only .model files of SentencePiece")

        def load() -> Callable[[str], Any]:
            encode: Callable[[str], Any] = self._load(path).encode
            return encode

        return load

    def _load(self, path: str) -> Any:
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_file=path)
