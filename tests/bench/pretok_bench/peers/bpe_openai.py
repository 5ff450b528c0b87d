"""Adapter for bpe-openai."""

from __future__ import annotations

from typing import Any

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.subject import Subject
from pretok_bench.timing import core_count

BUNDLED = {"cl100k_base", "o200k_base"}
"""The vocabularies in the package. The package downloads all other vocabularies."""


class BpeOpenai(Peer):
    """bpe-openai: has built-in vocabularies of OpenAI, and one shared object for each of them."""

    name = "bpe-openai"
    module = "bpe_openai"
    has_cold_start = False

    def calls(self, subject: Subject) -> Calls:
        """Return the calls of the built-in vocabulary; no call allows special tokens."""
        encoding = self._encoding(subject)
        return Calls(
            lists=lambda texts, threads: encoding.encode_ordinary_batch(
                texts, num_threads=threads or core_count()
            ),
            text=encoding.decode,
            data=encoding.decode_bytes,
        )

    def message(self, subject: Subject) -> Message:
        """Return `encode`, which refuses special tokens as pretok does."""
        return Message(self._encoding(subject).encode)

    def _encoding(self, subject: Subject) -> Any:
        import bpe_openai

        if subject.published not in BUNDLED:
            raise CannotError("it has only vocabularies of OpenAI")
        return bpe_openai.get_encoding(subject.published)
