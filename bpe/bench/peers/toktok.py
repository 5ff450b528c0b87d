"""toktok."""

from __future__ import annotations

from bpe.bench.peer import Calls, CannotError, Message, Peer
from bpe.bench.subject import Subject

BUNDLED = {"cl100k_base", "o200k_base", "o200k_harmony"}
"""The published vocabularies that toktok brings along under the same name."""


class Toktok(Peer):
    """toktok, from toktok-rs, which only counts; each vocabulary is loaded once."""

    name = "toktok-rs"
    module = "toktok"
    has_cold_start = False

    def calls(self, subject: Subject) -> Calls:
        """Return what counts the tokens of the vocabulary of this name."""
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
