"""Limits against small files that would need much memory: of JSON objects and of merges."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import VocabularyError
from bpe.formats import native_readers, pretok_file, pretok_tokens
from pretok import json_text
from vocabulary_files import huggingface, write


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" + "[]," * 1_000_000 + "[]]", "lists and objects"),
        ('{"model":' + "{}," * 1_000_000, "lists and objects"),
        ("[" * 100_000, "lists and objects|too deep"),
        ('{"model": ' + "[" * 100_000, "lists and objects|too deep"),
        ('{"model": {"dropout": NaN}}', "NaN, which JSON does not have"),
        ('{"model": -Infinity}', "Infinity, which JSON does not have"),
        ('{"model": {"a": 1e400}}', "a"),
        ('{"model": ' + "9" * 5000 + "}", "too many digits"),
        ('{"model": {}, "\\ud800": 1}', "not supported"),
        ('{"model": {"vocab": {"\\ud800": 1}, "merges": []}}', "lone surrogate"),
    ],
)
def test_hostile_json(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "a.json", text)
    with pytest.raises(bpe.BpeError, match=message) as caught:
        bpe.load(path, "gpt2")
    assert len(str(caught.value)) < 1000
    with suppress(pretok.PretokError):
        pretok.from_huggingface(path)


def test_refusing_nested_lists_takes_memory_in_proportion_to_the_file(tmp_path: Path) -> None:
    """Without a limit, each `[],` of 3 bytes would make a list of 56 bytes."""
    import tracemalloc

    path = write(tmp_path / "a.json", b"[" + b"[]," * 500_000 + b"[]]")
    tracemalloc.start()
    try:
        with pytest.raises(bpe.BpeError):
            bpe.load(path, "gpt2")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * path.stat().st_size


def test_large_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_BYTES", 1000)
    path = write(tmp_path / "tokenizer.json", json.dumps(huggingface()))
    with pytest.raises(VocabularyError, match="has 1,000 at most"):
        bpe.load(path)
    with pytest.raises(pretok.PretokError, match="1,000 at most"):
        pretok.from_huggingface(path)


def test_merges_as_lists_are_within_the_limits() -> None:
    file: dict[str, Any] = {"merges": [["a", "b"]] * 10_000}
    assert json_text.parse(json.dumps(file, separators=(",", ":")).encode()) == file


def test_merged_tokens_have_a_limit_in_minbpe_files(tmp_path: Path) -> None:
    lines = ["minbpe v1", "", "0", "97 97"]
    lines += [f"{id} {id}" for id in range(256, 271)]  # the last token is "a" 65,536 times
    lines += ["270 270"] * 300
    with pytest.raises(
        VocabularyError, match=r"have 16,[\d,]+ bytes; expected at most [\d,]+ for a vocabulary"
    ):
        bpe.load(write(tmp_path / "a.model", "\n".join([*lines, ""])))


def test_merged_tokens_have_a_limit_in_pretok_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is refused if its merges make more bytes than the limit.

    Saving writes tokens above the limit byte by byte, so the saved file can be loaded.
    """
    tok = bpe.train(["abcdefgh " * 3] * 3, vocab_size=270, preset="gpt2", progress=False)
    whole = pretok_file.dump(tok.to_spec())
    monkeypatch.setattr(pretok_tokens, "max_merged_bytes", lambda count: 9)
    monkeypatch.setattr(native_readers, "backend", lambda: "python")
    with pytest.raises(VocabularyError, match=r"tokens of more than \d+ bytes"):
        pretok_file.parse(whole)
    tok.save(tmp_path / "a.pretok")
    assert len((tmp_path / "a.pretok").read_bytes()) > len(whole)
    assert bpe.load(tmp_path / "a.pretok") == tok
    monkeypatch.undo()
    assert bpe.load(tmp_path / "a.pretok") == tok
