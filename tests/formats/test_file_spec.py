"""The parts of a file that C++ has read are made when they are first read."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.formats.file_spec import FileSpec
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from text_models import LLAMA, LLAMA_DECODER, file_of
from vocabulary_files import huggingface, write


def piece_model(folder: Path) -> Path:
    rows = [UNKNOWN, *BYTES, *normal("▁ab", "ab", "▁", "a", "b")]
    return write(folder / "tokenizer.model", model(rows, BYTE_FALLBACK, [(3, 1), (4, 0)]))


def json_file(folder: Path) -> Path:
    return write(folder / "tokenizer.json", huggingface())


def text_file(folder: Path) -> Path:
    return write(folder / "tokenizer.json", file_of(normalizer=LLAMA, decoder=LLAMA_DECODER))


def pretok_file(folder: Path) -> Path:
    bpe.load(json_file(folder), backend="python").save(folder / "saved.pretok")
    return folder / "saved.pretok"


@pytest.mark.parametrize("make", [piece_model, json_file, text_file, pretok_file])
def test_parts_are_made_when_first_read(
    make: Callable[[Path], Path], tmp_path: Path, native: BackendName
) -> None:
    path = make(tmp_path)
    tokenizer = bpe.load(path)
    spec: Any = tokenizer._spec
    assert isinstance(spec, FileSpec)
    ids = tokenizer.encode("ab  abé", "text")
    assert not [name for name in vars(spec) if name in ("_once_vocabulary", "_once__others")]
    python = bpe.load(path, backend="python")
    assert ids == python.encode("ab  abé", "text")
    assert tokenizer.decode(ids) == python.decode(ids)
    assert "_once_vocabulary" in vars(spec)
    assert tokenizer == python
    assert tokenizer.to_spec() == python.to_spec()
    assert tokenizer.preset == python.preset
    assert pickle.loads(pickle.dumps(tokenizer)).encode("ab  abé", "text") == ids
    assert tokenizer.trim_offsets == python.trim_offsets
    with pytest.raises(AttributeError, match="no attribute 'decoding'"):
        tokenizer.decoding  # type: ignore[attr-defined] # noqa: B018
