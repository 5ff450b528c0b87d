"""The system begins to write appended data to the disk before a shard ends."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from bpe.corpus import Corpus, tokenize, write_back
from bpe.tokenizer import Tokenizer
from corpora import tokenizer
from pretok.machine.backend import BackendName


@pytest.fixture
def small(backend: BackendName) -> Tokenizer:
    return tokenizer(backend)


def test_each_byte_is_written_back_once(
    small: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges: dict[int, list[tuple[int, int]]] = {}

    def begin(descriptor: int, start: int, size: int, flags: int) -> int:
        ranges.setdefault(descriptor, []).append((start, start + size))
        return 0

    monkeypatch.setattr(write_back, "INTERVAL", 1)
    monkeypatch.setattr(write_back, "_sync_file_range", lambda: begin)
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "hello hello"}\n' * 50)
    monkeypatch.setattr("bpe.corpus.documents.BLOCK", 100)
    monkeypatch.setattr("bpe.corpus.documents.BATCH", 100)
    corpus = tokenize(path, tmp_path / "out", small, progress=False)
    sizes = {
        int(file["bytes"]) for shard in corpus.splits["train"] for file in shard.files.values()
    }
    assert len(ranges) == 2  # the tokens, and the offsets
    for found in ranges.values():
        assert len(found) > 10
        assert all(end == start for (_, end), (start, _) in pairwise(found))
    assert {found[-1][1] for found in ranges.values()} == sizes


def test_a_system_that_cannot_begin_to_write(
    small: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: object) -> None:
        raise OSError

    path = tmp_path / "texts.txt"
    path.write_text("hello hello")
    monkeypatch.setattr(write_back, "INTERVAL", 1)
    monkeypatch.setattr("ctypes.CDLL", refuse)
    tokenize(path, tmp_path / "out", small, progress=False)
    assert Corpus(tmp_path / "out").document(0).tolist() == small.encode("hello hello")
