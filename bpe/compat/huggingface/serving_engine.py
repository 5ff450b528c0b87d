"""Define ServingEngine, which says which library serves a tokenizer."""

from __future__ import annotations

from typing import NamedTuple


class ServingEngine(NamedTuple):
    """The library that serves a tokenizer.

    `name` is "bpe" or "tokenizers"; `reason` says why it is "tokenizers". If it is "bpe" and there
    is a reason, that is why the methods of transformers have no short versions. `counts` has the
    number of calls that each library served.
    """

    name: str
    reason: str
    counts: dict[str, int]
