"""Define Splice, the ids of a prompt, of a model, and of the text after them."""

from __future__ import annotations

from bpe.once import once
from bpe.sessions.session import Session
from bpe.types import Ids


class Splice:
    """Ids that were joined without encoding them again: `Tokenizer.splice` makes it.

    `ids` is a uint32 array of all ids; those from `start` on are the ids of the new text.
    """

    def __init__(self, session: Session, start: int) -> None:
        """Take the ids of a session; those from `start` on are new."""
        self.ids: Ids = session.ids
        self.start = start
        self._session = session

    @property
    def new_ids(self) -> Ids:
        """The ids of the new text."""
        return self.ids[self.start :]

    @once
    def drift(self) -> int | None:
        """The index of the first id that encoding the text of all ids would not give, or None.

        Found at its first use, in O(n) time.
        """
        return self._session.drift()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Splice({len(self.ids)} ids, {len(self.new_ids)} of them new)"
