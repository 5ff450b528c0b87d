"""Adapters for packages that only train or only split."""

from __future__ import annotations

from pretok_bench.peer import Calls, CannotError, Message, Peer
from pretok_bench.subject import Subject


class ForTraining(Peer):
    """A peer that is measured only in training or splitting."""

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it encodes only with vocabularies that it has trained")

    def message(self, subject: Subject) -> Message:
        """Raise CannotError."""
        raise CannotError("it encodes only with vocabularies that it has trained")


class Rustbpe(ForTraining):
    """rustbpe: trains."""

    name = module = "rustbpe"


class Regex(ForTraining):
    """regex: splits."""

    name = module = "regex"

    def calls(self, subject: Subject) -> Calls:
        """Raise CannotError."""
        raise CannotError("it only splits")
