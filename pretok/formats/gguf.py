"""Define from_gguf, which returns the pre-tokenizer that a GGUF file names."""

from __future__ import annotations

import os
from pathlib import Path

from pretok.errors import UnreadableFileError, UnsupportedFileError, short_path, shortened
from pretok.files import opened
from pretok.formats import gguf_metadata
from pretok.machine.backend import BackendName
from pretok.patterns.recognize import from_gguf_pre
from pretok.pre_tokenizer import PreTokenizer

MODEL_KEY, PRE_KEY = "tokenizer.ggml.model", "tokenizer.ggml.pre"


def is_gguf(path: Path) -> bool:
    """Return whether `path` is a regular file that begins with the bytes "GGUF".

    Raises OSError if the system cannot open or read the file.
    """
    if not path.is_file():
        return False
    with opened(path) as file:
        return file.read(len(gguf_metadata.MAGIC)) == gguf_metadata.MAGIC


def from_gguf(
    path: str | os.PathLike[str],
    variant: str | None = None,
    unicode: str | None = None,
    backend: BackendName | None = None,
) -> PreTokenizer:
    """Return the pre-tokenizer that a GGUF file names as `tokenizer.ggml.pre`.

    Reads only the metadata of the file `path`. `variant`, `unicode` and `backend` are as in
    `from_gguf_pre`. Raises UnreadableFileError if the file is malformed or not GGUF,
    UnsupportedFileError if the file names no pre-tokenizer or has an unknown GGUF version,
    UnknownPresetError if no preset has the name, and OSError if the system cannot open or read the
    file.
    """
    try:
        values = gguf_metadata.load(Path(path), (MODEL_KEY, PRE_KEY))
    except (UnreadableFileError, UnsupportedFileError) as error:
        raise type(error)(f"{short_path(path)}: {error}") from None
    name = values.get(PRE_KEY)
    if not isinstance(name, str) or not name:
        model = shortened(values.get(MODEL_KEY))
        raise UnsupportedFileError(
            f"{short_path(path)}: expected the name of a pre-tokenizer in {PRE_KEY}, got "
            f"{shortened(name)} ({MODEL_KEY} is {model}); choose a preset, and pass its "
            "name to pretok.get"
        )
    return from_gguf_pre(name, variant, unicode, backend)
