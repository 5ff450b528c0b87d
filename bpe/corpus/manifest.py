"""Read and write manifest.json, which says what is in a corpus and how it was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bpe.corpus.fields import FieldError
from bpe.corpus.members import Manifest, Shard
from bpe.corpus.schema import check_manifest
from bpe.encoding.utf8 import ESCAPE
from bpe.errors import CorpusError
from bpe.formats.files import write_atomically
from pretok.errors import UnreadableFileError
from pretok.files import opened

NAME = "manifest.json"
FORMAT = "pretok corpus"
VERSION = 1


def save_manifest(manifest: Manifest, folder: Path) -> None:
    """Write `manifest` to `folder` atomically."""
    values = {"format": FORMAT, "version": VERSION, **vars(manifest)}
    values["splits"] = {name: list(map(vars, some)) for name, some in manifest.splits.items()}
    if manifest.progress is None:
        del values["progress"]
    write_atomically(folder / NAME, f"{_text(values)}\n".encode("utf-8", ESCAPE))


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _text(value: Any, indent: str = "") -> str:
    """Return the JSON of `value`: each member of an object, and each list or object of a list, on
    a line of its own.

    There may be a million inputs. `json.dumps(..., indent=1)` would take much longer for them.
    """
    inner = indent + " "
    if isinstance(value, dict) and value:
        rows = [f"{inner}{_encode(name)}: {_text(item, inner)}" for name, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], (list, dict)):
        return "[\n" + ",\n".join(inner + _encode(item) for item in value) + f"\n{indent}]"
    return _encode(value)


def load_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in `folder`, or None if there is no manifest.json.

    Raises CorpusError if manifest.json is not the manifest of a corpus in this version, or if one
    of its fields has a wrong value.
    """
    path = folder / NAME
    try:
        with opened(path) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except UnreadableFileError as error:
        raise CorpusError(f"{error}; choose another folder") from None
    try:
        values = json.loads(data.decode("utf-8", ESCAPE))
        if values.pop("format") != FORMAT:
            raise ValueError("it is another JSON file")
        version = values.pop("version")
        if version != VERSION:
            raise ValueError(f"expected version {VERSION}, got {version!r:.80}")
        check_manifest(values)
    except FieldError as error:
        raise CorpusError(
            f"{path}: {error}; the file is damaged: restore it, or make the corpus again"
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CorpusError(
            f"{path}: not the manifest of a corpus ({error}); choose a folder that "
            "`pretok tokenize` has written"
        ) from None
    shards = values.pop("splits")
    manifest = Manifest(**values)
    manifest.splits = {name: [Shard(**shard) for shard in shards[name]] for name in shards}
    return manifest
