"""Peers that take part in training or splitting alone."""

from __future__ import annotations

from bpe.bench.peer import Calls, CannotError, Message, Peer
from bpe.bench.subject import Subject


class ForTraining(Peer):
    """A peer that takes part in training alone."""

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it encodes only with what it has trained itself")

    def message(self, subject: Subject) -> Message:
        """Raise CannotError."""
        raise CannotError("it encodes only with what it has trained itself")


class Rustbpe(ForTraining):
    """rustbpe, a trainer."""

    name = module = "rustbpe"


class Regex(ForTraining):
    """regex, which splits."""

    name = module = "regex"

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it only splits")


class Sentencepiece(ForTraining):
    """sentencepiece: its models split and merge otherwise, so that no answers can be compared."""

    name = module = "sentencepiece"

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("its models split otherwise, so there is nothing equal to compare")
