"""pretok.from_gguf: the preset that the metadata of a file names."""

from __future__ import annotations

from pathlib import Path

import pytest

import pretok
from gguf_files import gguf, metadata
from pretok import Preset, UnknownPresetError, UnreadableFileError, UnsupportedFileError, from_gguf
from pretok.machine.backend import BackendName
from pretok.presets.gpt2 import GPT2


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_the_preset_that_the_file_names(tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "a.gguf", gguf(metadata(pre="llama-bpe")))
    tok = from_gguf(path, unicode="15.0", backend=backend)
    assert tok == pretok.get("llama3", unicode="15.0")
    assert tok.backend == backend
    assert from_gguf(str(path)).split("a 1234") == ["a", " ", "123", "4"]


def test_a_variant(tmp_path: Path, own_registry: None) -> None:
    preset = pretok.register(Preset("gpt2@llama.cpp", GPT2.rules[:-1]))
    path = write(tmp_path / "a.gguf", gguf(metadata(pre="gpt-2")))
    assert from_gguf(path, "llama.cpp").preset is preset


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (gguf(metadata(pre=...)), UnsupportedFileError, "expected the name of .*, got None"),
        (gguf(metadata(pre=1)), UnsupportedFileError, 'got 1 .*model is \'gpt2\''),
        (gguf(metadata(pre="no-such")), UnknownPresetError, "no-such"),
        (b"GGUF", UnreadableFileError, "a.gguf: the version needs 4 bytes at offset 4"),
        (b"GGUF\1\0\0\0" + bytes(100), UnsupportedFileError, "GGUF version 1; expected 2 or 3"),
        (b"{}", UnreadableFileError, "a.gguf: this is not a GGUF file"),
        (b"", UnreadableFileError, "a.gguf: this is not a GGUF file"),
    ],
)  # fmt: skip
def test_files_without_a_known_preset(
    tmp_path: Path, data: bytes, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        from_gguf(write(tmp_path / "a.gguf", data))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.gguf"):
        from_gguf(tmp_path / "missing.gguf")
    with pytest.raises(UnreadableFileError, match="a folder"):
        from_gguf(tmp_path)
