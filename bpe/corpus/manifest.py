"""The manifest of a corpus: manifest.json, which says what is in the folder and how it was made."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bpe.encoding.utf8 import ESCAPE
from bpe.errors import CorpusError
from bpe.formats.files import write_atomically

NAME = "manifest.json"
FORMAT = "pretok corpus"
VERSION = 1


@dataclass
class Shard:
    """A finished shard: consecutive documents of a split; with packing, also parts of documents.

    Document i of the shard has tokens offsets[i]:offsets[i + 1]; the offsets are in a file of the
    shard. `first_document` is the index of document 0 in the split. `padding` tokens follow the
    last document; `tokens` counts them too. `continues` is true if the last document continues in
    the next shard.
    """

    name: str
    tokens: int
    padding: int
    first_document: int
    documents: int
    continues: bool
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The size and the sha256 of each file, by name."""

    @property
    def next_document(self) -> int:
        """The index of the first document of the next shard."""
        return self.first_document + self.documents - self.continues


@dataclass
class Manifest:
    """The content of manifest.json."""

    tokenizer: dict[str, Any]
    options: dict[str, Any]
    inputs: list[dict[str, Any]]
    complete: bool = False
    documents: int = 0
    tokens: int = 0
    text_bytes: int = 0
    skipped: int = 0
    skipped_examples: list[str] = field(default_factory=list)
    splits: dict[str, list[Shard]] = field(default_factory=dict)
    progress: dict[str, Any] | None = None
    """The position at which an interrupted job continues; None in a complete corpus."""

    def save(self, folder: Path) -> None:
        """Write the manifest to `folder` atomically."""
        values = {"format": FORMAT, "version": VERSION, **asdict(self)}
        if self.progress is None:
            del values["progress"]
        data = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_atomically(folder / NAME, data.encode("utf-8", ESCAPE))


def load_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in `folder`, or None if there is no manifest.json.

    Raises CorpusError if manifest.json is not the manifest of a corpus in this version.
    """
    path = folder / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        values = json.loads(data.decode("utf-8", ESCAPE))
        if values.pop("format") != FORMAT:
            raise ValueError("it is another JSON file")
        version = values.pop("version")
        if version != VERSION:
            raise ValueError(f"expected version {VERSION}, got {version!r}")
        shards = values.pop("splits")
        manifest = Manifest(**values)
        manifest.splits = {name: [Shard(**shard) for shard in shards[name]] for name in shards}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CorpusError(
            f"{path}: not the manifest of a corpus ({error}); choose a folder that "
            "`pretok tokenize` has written"
        ) from None
    return manifest
