"""Adapter for toktok."""

from __future__ import annotations

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.subject import Subject

BUNDLED = {"cl100k_base", "o200k_base", "o200k_harmony"}
"""The published vocabularies in the package, under the same names."""


class Toktok(Peer):
    """toktok, from the distribution toktok-rs.

    toktok only counts tokens. It loads each vocabulary once in a process.
    """

    name = "toktok-rs"
    module = "toktok"
    has_cold_start = False

    def calls(self, subject: Subject) -> Calls:
        """Return the call that counts the tokens of a built-in vocabulary."""
        import toktok

        name = subject.published
        if name not in BUNDLED:
            raise CannotError("it has only vocabularies of OpenAI")
        heeds_special = bool(subject.special_tokens)
        return Calls(
            counts=lambda texts, threads: toktok.batch_count(texts, name, threads, heeds_special),
        )

    def message(self, subject: Subject) -> Message:
        """Raise CannotError."""
        raise CannotError("it only counts")
