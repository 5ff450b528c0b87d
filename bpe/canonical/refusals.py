"""Say why an id cannot follow other ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bpe.canonical.next_ids import NextIds
from bpe.canonical.next_text_ids import NextTextIds
from bpe.errors import shortened


class RefusedId(NamedTuple):
    """The reason why an id cannot follow.

    `ids` are what encoding gives for the text of the last ids and the refused id.
    """

    reason: str
    ids: list[int]


def refusal(
    next_ids: NextIds | NextTextIds,
    added: Collection[int],
    tokens: Mapping[int, bytes],
    last: Sequence[int],
    id: int,
    shown: list[int],
) -> RefusedId:
    """Return the reason for a refused id after the id in `last`, if there is one."""
    token = tokens[id]
    if id in added:
        return RefusedId(
            f"encoding does not give {shortened(token)} here: another added token covers it, or "
            "the ids before it cannot end a text",
            shown,
        )
    if not next_ids.is_made(id):
        return RefusedId(f"no text becomes {shortened(token)}: its bytes merge otherwise", shown)
    if any(each in added for each in shown) and not any(each in added for each in last):
        return RefusedId(f"an added token matches text that ends with {shortened(token)}", shown)
    if not next_ids.is_text(last, id):
        return RefusedId(f"{shortened(token)} is not valid UTF-8 here", shown)
    if last and last[0] not in added and not next_ids.stay_apart(last[0], id):
        return RefusedId(f"merges join {shortened(tokens[last[0]])} and {shortened(token)}", shown)
    return RefusedId(
        f"the pre-tokenizer splits the text so that {shortened(token)} cannot stand here", shown
    )
