"""Define OpenIds, the last ids of a text, which more text may change."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from bpe.canonical.splits import Split
from bpe.canonical.token_texts import complete_part


def is_valid(text: bytes) -> bool:
    """Return whether a text is valid UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class OpenIds:
    """The open ids, and the text of those after the last added token.

    `text` is None if the ids are no UTF-8. `tail` has the bytes of an incomplete character at the
    end, which `text` lacks. `data` has the bytes of all open ids.
    """

    def __init__(
        self,
        open_ids: tuple[int, ...],
        added: Mapping[int, bytes],
        tokens: Mapping[int, bytes],
    ) -> None:
        self.all_ids = open_ids
        places = [place for place, id in enumerate(open_ids) if id in added]
        first = places[-1] + 1 if places else 0
        self.last_added = open_ids[first - 1] if places else -1
        self.ids = open_ids[first:]
        self.data = b"".join(added.get(id) or tokens[id] for id in open_ids)
        self._sizes = [len(tokens[id]) for id in self.ids]
        after = b"".join(tokens[id] for id in self.ids)
        _, end = complete_part(after)
        self.tail = after[end:]
        self.after = after
        self.text: str | None
        try:
            self.data[: len(self.data) - len(self.tail)].decode()
            self.text = after[:end].decode()
        except UnicodeDecodeError:
            self.text = None

    def pieces(self, way: Split) -> list[bytes] | None:
        """Return the pre-tokens of the text; None if a token lies across a boundary."""
        assert self.text is not None
        if not self.after:
            return [] if way.begins else None
        bounds = [0, *(len(self.text[:place].encode()) for place in way.places), len(self.after)]
        borders = {0, *np.cumsum(self._sizes, dtype=np.int64).tolist()}
        if not borders.issuperset(bounds):
            return None
        return [self.after[a:b] for a, b in pairwise(bounds)]
