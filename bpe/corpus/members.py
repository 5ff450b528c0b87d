"""Define the members of a manifest, with their types and ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from bpe.corpus import fields
from bpe.corpus.fields import Count, Positive, check_of, record
from bpe.corpus.identity import SUFFIXES
from bpe.corpus.options import Options

TRAIN, VALIDATION = "train", "val"
OFFSET = np.dtype("<i8")
"""The type of an offset in the files of document offsets."""
DIGEST = {"bytes": check_of(Count), "sha256": fields.sha256}
_TOKENIZER = {
    "name": check_of(str | None),
    "file": fields.one_of(*(f"tokenizer{suffix}" for suffix in SUFFIXES)),
    **DIGEST,
    "vocab_size": fields.integer(1, fields.MAX_ID + 1),
    "preset": check_of(str | None),
    "unicode": check_of(str | None),
}


@dataclass
class Shard:
    """A finished shard: consecutive documents of a split; with packing, also parts of documents.

    Document i of the shard has tokens offsets[i]:offsets[i + 1]; the offsets are in a file of the
    shard. `first_document` is the index of document 0 in the split. `padding` tokens follow the
    last document; `tokens` counts them too. `continues` is true if the last document continues in
    the next shard.
    """

    name: str
    tokens: Count
    padding: Count
    first_document: Count
    documents: Count
    continues: bool
    files: dict[str, Annotated[dict[str, Any], record(DIGEST)]] = field(default_factory=dict)
    """The size and the sha256 of each file, by name."""

    @property
    def next_document(self) -> int:
        """The index of the first document of the next shard."""
        return self.first_document + self.documents - self.continues


@dataclass
class ShardState:
    """The shard that a ShardWriter appends to: the tokens and documents in its files so far.

    `document_start` is the end of the last whole document. `is_inside` is true if tokens of another
    document follow.
    """

    is_open: bool = False
    tokens: Count = 0
    documents: Count = 0
    document_start: Count = 0
    is_inside: bool = False


_states = fields.table(check_of(ShardState))
_PROGRESS = {
    "files": check_of(list[tuple[str, Count, Annotated[int, fields.integer(-fields.MAX)]]]),
    "position": check_of(tuple[Count, Count]),
    "writers": _states,
    "store": _states,
    "shuffled": check_of(dict[str, Count]),
}


@dataclass
class Manifest:
    """The content of manifest.json."""

    tokenizer: Annotated[dict[str, Any], record(_TOKENIZER)]
    options: Annotated[dict[str, Any], check_of(Options)]
    inputs: list[Annotated[dict[str, Any], record({"path": check_of(str), **DIGEST})]]
    complete: bool = False
    documents: Count = 0
    tokens: Count = 0
    text_bytes: Count = 0
    skipped: Count = 0
    skipped_examples: list[str] = field(default_factory=list)
    left_out: dict[str, Positive] = field(default_factory=dict)
    """The number of files in folders that were not read, by suffix."""
    splits: dict[str, list[Shard]] = field(default_factory=dict)
    progress: Annotated[
        dict[str, Any] | None, record(_PROGRESS, may_lack=frozenset(_PROGRESS.keys() - {"files"}))
    ] = None
    """The position at which an interrupted job continues; None in a complete corpus."""
