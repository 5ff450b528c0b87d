"""Vocabulary files are written completely or not at all; files without one are refused early."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import BpeError, VocabularyError
from bpe.formats import files
from bpe.formats.files import write_atomically
from pretok import files as pretok_files
from support import FULL
from vocabulary_files import gpt2_files, huggingface, made, minbpe_text, tiktoken_lines, write

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")


def test_the_suffix_decides_the_format(tmp_path: Path) -> None:
    for name, start in (("a.json", b"{"), ("a.TIKTOKEN", b"AA=="), ("a.model", b"minbpe v1\n")):
        made(special=()).save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    for name in ("a", "a.txt", ".json"):
        with pytest.raises(ValueError, match=r"\.pretok, \.model \(Sent.* or minbpe\), \.json \(t"):
            made().save(tmp_path / name)


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "old")
    made().save(str(path))
    assert path.read_bytes().startswith(b"{")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = write(tmp_path / "a.json", "old")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(KeyboardInterrupt):
        made().save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_such_folder(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "a.json"
    message = f"the folder {str(path.parent)!r} does not exist; create it first: {str(path)!r}"
    with pytest.raises(FileNotFoundError, match=re.escape(message)) as raised:
        made().save(path)
    assert raised.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_new_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "a", b"data")
        (tmp_path / "b").write_bytes(b"data")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~umask


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "a.json")
    made().save(link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.json").read_bytes().startswith(b"{")


def test_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tiktoken", tiktoken_lines())
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    with pytest.raises(VocabularyError, match="bytes; expected 100 at most"):
        bpe.load(path, "gpt2")


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="needs a null device")
def test_device_is_not_read() -> None:
    with pytest.raises(VocabularyError, match="this is a device; expected a regular file"):
        bpe.load(os.devnull, "gpt2")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[" * 200_000, "lists and objects"),
        ('{"model":' * 200_000, "nested too deep|lists and objects"),
        ('{"model": ' + "9" * 5000 + "}", "too many digits"),
        ('{"model": {}', "line 1 column 13: Expecting ',' delimiter"),
        ('{\n"model": {"a": tru}}', "line 2 column 16: Expecting value"),
        (b'{"model": {}, "\xff": 1}', "line 1 is not UTF-8: byte 0xff at offset 15"),
        ("{}", "the JSON object has no members; expected a tokenizer.json"),
        (
            '{"a": 1, "b": "c"}',
            "the JSON object has the members 'a', 'b'; expected a tokenizer.json",
        ),
        ("[1]", r"the file is \[1\]; expected an object"),
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("\n" * 70_000 + "x", "not like a vocabulary that bpe reads"),
        (b"\0" * 1000, r"expected a tokenizer.json, .* a \.model of SentencePiece or minbpe"),
        (
            b"GGUF\x03\0\0\0",
            "the number of tensors needs 8 bytes at offset 8, but the file has only 8",
        ),
        (b"\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94.", "this is a pickle"),
        (b"PK\x03\x04", "zip archive"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", "a SentencePiece model does not split text"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        ("<!DOCTYPE html><html>", "a web page"),
        ('{"tokenizer_class": "GPT2Tokenizer"}', "got a tokenizer_config.json"),
        ('{"architectures": ["LlamaForCausalLM"]}', "got the config.json of a model"),
    ],
)
def test_files_without_a_vocabulary_are_refused(
    tmp_path: Path, data: str | bytes, message: str
) -> None:
    path = write(tmp_path / "tokenizer.model", data)
    with pytest.raises(BpeError, match=message) as caught:
        bpe.load(path, "gpt2")
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 1000


_FORMATS = ("tiktoken", "huggingface", "vocab", "merges", "minbpe")


def _small(folder: Path, format: str) -> Path:
    """Write a small file of a format, and any file that belongs to it; return the file's path."""
    if format in ("vocab", "merges"):
        return gpt2_files(folder)[format == "merges"]
    contents: dict[str, Any] = {
        "tiktoken": tiktoken_lines(),
        "huggingface": huggingface(),
        "minbpe": minbpe_text(),
    }
    return write(folder / "small", contents[format])


def _load(path: Path, data: bytes) -> bpe.Tokenizer | str:
    """Return the tokenizer of a damaged file, or its BpeError as text; other errors are bugs.

    A patch makes reading `path` return `data`, because writing thousands of files takes a minute.
    """
    read = pretok_files.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretok_files, "read", lambda at, most: data if at == path else read(at, most))
        try:
            return bpe.load(path, "gpt2", backend="python")
        except BpeError as error:
            return str(error)


@pytest.mark.parametrize("format", _FORMATS)
def test_cut_off_anywhere(tmp_path: Path, format: str) -> None:
    """A truncated file is refused, unless it ends with a whole line."""
    path = _small(tmp_path, format)
    data = path.read_bytes()
    whole = bpe.load(path, "gpt2", backend="python")
    for end in range(len(data)):
        found = _load(path, data[:end])
        if isinstance(found, str):
            assert str(tmp_path) in found, end
            continue
        assert b"\n" in (data[end - 1 : end], data[end : end + 1]), data[:end][-20:]
        assert found.vocabulary.token_bytes.items() <= whole.vocabulary.token_bytes.items()


@pytest.mark.filterwarnings("ignore::bpe.VocabularyWarning")
@pytest.mark.parametrize("format", _FORMATS)
def test_any_byte_changed(tmp_path: Path, format: str) -> None:
    """A changed bit gives an error that names the file, or a tokenizer that works."""
    path = _small(tmp_path, format)
    data = path.read_bytes()
    step = 1 if FULL else 7
    refused = 0
    for at in range(0, len(data), step):
        bit = 1 << (at // step) % 8
        found = _load(path, data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        if isinstance(found, str):
            assert str(tmp_path) in found, (at, bit)
            refused += 1
        else:
            text = "abc the\r\n12\u00e9"
            assert found.decode(found.encode(text, "text")) == text, (at, bit)
    assert refused
