"""Read files with C++, which returns None for each file with an error.

The reader in Python then finds the error, so both backends raise the same errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from bpe.encoding.added_tokens import AddedToken
from bpe.errors import VocabularyError
from bpe.formats.file_spec import vocabulary_of
from bpe.formats.json_value import Value, parse
from bpe.vocabulary import ID_LIMIT, Vocabulary
from pretok import json_text
from pretok.machine.backend import backend

if TYPE_CHECKING:
    from pretok import _core


def read_native(file: bytes | BinaryIO) -> _core.Spec | None:
    """Return the tokenizer in a file, or None if Python must read the file."""
    if backend() != "native":
        return None
    from pretok import _core

    try:
        return _core.read_spec(file)
    except (ValueError, NotImplementedError):
        return None


def open_native(data: bytes) -> _core.JsonFile | None:
    """Return a tokenizer.json in memory, or None if Python must read the file."""
    if backend() != "native" or len(data) > json_text.MAX_BYTES:
        return None
    from pretok import _core

    return _core.open_json(data)


def parse_rest(data: bytes, file: _core.JsonFile | None) -> Value:
    """Return the JSON of a file, without the vocabulary and merges if `file` has them.

    Raises the errors of `parse`.
    """
    if file is not None:
        with suppress(VocabularyError):  # the rest may have too many lists for its size
            return parse(file.rest())
    return parse(data)


def native_vocabulary(
    file: _core.JsonFile, added: Sequence[AddedToken], ends_byte_level: bool
) -> Vocabulary | None:
    """Return the vocabulary of a tokenizer.json, or None if Python must make it.

    `added` are the added tokens with the ids that they get.
    """
    records = [token._record for token in added if 0 <= token.id < ID_LIMIT]
    spec = file.model(records, ends_byte_level)
    if spec is None:
        return None
    return vocabulary_of(spec, [token.id for token in added if token.special])
