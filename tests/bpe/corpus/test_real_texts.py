"""Corpora of real texts and vocabularies have the ids of `encode` for each document."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import bpe
import vocabularies
from bpe.corpus import documents, parts
from corpora import parquet_file, write, write_json_lines
from paths import shared
from pretok.machine.backend import BackendName
from support import FULL

SIZE = 1 << 30 if FULL else 60_000
"""The maximum number of bytes of each text."""


def texts() -> dict[str, str]:
    """Return the shared texts by name."""
    return {
        path.stem: path.read_bytes()[:SIZE].decode("utf-8", "ignore")
        for path in sorted(shared("texts").glob("*.txt"))
    }


@pytest.mark.parametrize("name", ["cl100k", "qwen2"])
def test_shared_texts(
    name: str, native: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With these small sizes, most texts are long documents, which are encoded in parts.
    monkeypatch.setattr(documents, "BATCH", 30_000)
    monkeypatch.setattr(documents, "LONG", 30_000)
    monkeypatch.setattr(documents, "BLOCK", 10_000)
    monkeypatch.setattr(parts, "PART", 5_000)
    if name == "qwen2":
        tok = vocabularies.qwen2_with_merges(native)
    else:
        tok = vocabularies.tokenizer(name, native)
    folder = tmp_path / "in"
    folder.mkdir()
    expected = []
    for number, (stem, text) in enumerate(texts().items()):
        pieces = [text[at : at + 1500] for at in range(0, len(text), 1500)]
        place = folder / f"{number:02}-{stem}"
        kind = number % 5
        if kind < 2:
            write(place.with_suffix([".txt", ".txt.gz"][kind]), text.encode())
            pieces = [text]
        elif kind < 4 or find_spec("pyarrow") is None:
            write_json_lines(place.with_suffix(".jsonl.zst" if kind == 2 else ".jsonl"), pieces)
        else:
            write(place.with_suffix(".parquet"), parquet_file(pieces))
        expected += [tok.encode(part, "text") for part in pieces]
    corpus = bpe.corpus.tokenize(
        folder, tmp_path / "out", tok, special="text", shard_tokens=50_000, layout="megatron"
    )
    assert corpus.document_count() == len(expected)
    for index, ids in enumerate(expected):
        assert corpus.document(index).tolist() == ids
    assert corpus.tokenizer() == tok
