"""Documents from Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe.corpus import documents
from corpora import END, content, expected_ids, parquet_file, random_documents, tokenizer, write
from pretok.machine.backend import BackendName

pyarrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
TEXTS = random_documents(100, 31)


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_rows_are_documents(
    tmp_path: Path, backend: BackendName, monkeypatch: pytest.MonkeyPatch, packed: str
) -> None:
    monkeypatch.setattr("bpe.parquet_input.ROWS", 7)
    monkeypatch.setattr(documents, "BATCH", 300)
    monkeypatch.setattr(documents, "LONG", 300)
    tok = tokenizer(backend)
    for text_type in (pyarrow.string(), pyarrow.large_string()):
        data = parquet_file(TEXTS, text_type, row_group_size=30)
        path = write(tmp_path / f"{text_type}.parquet{packed}", data)
        out = tmp_path / str(text_type)
        corpus = bpe.corpus.tokenize(path, out, tok, special="text", eos=END)
        found = [corpus.document(index).tolist() for index in range(corpus.document_count())]
        assert found == expected_ids(tok, TEXTS)
        assert corpus.manifest.inputs[0]["bytes"] == path.stat().st_size


def test_interrupted_work_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe.parquet_input.ROWS", 7)
    monkeypatch.setattr(documents, "BATCH", 300)
    monkeypatch.setattr(documents, "LONG", 300)
    tok = tokenizer("python")
    path = write(tmp_path / "a.parquet", parquet_file(TEXTS, row_group_size=30))
    bpe.corpus.tokenize(path, tmp_path / "whole", tok, special="text")
    encode = bpe.Tokenizer.encode_packed
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return encode(*arguments, **options)

    monkeypatch.setattr(bpe.Tokenizer, "encode_packed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bpe.corpus.tokenize(path, tmp_path / "out", tok, special="text")
    bpe.corpus.tokenize(path, tmp_path / "out", tok, special="text")
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("data", "options", "message", "kept"),
    [
        (b"PAR1 no", {}, "a.parquet: truncated or damaged (", 0),
        (parquet_file(TEXTS)[:-20], {}, "a.parquet: truncated or damaged (", 0),
        (parquet_file(["x"]), {"field": "no"}, "a.parquet: no column 'no' among ['id', 'text']", 0),
        (parquet_file(["x"]), {"field": "id"}, "a.parquet: column 'id' is of type int64; exp", 0),
        (parquet_file(["x", None, "y"]), {}, "a.parquet, row 2: 'text' is null; expected", 2),
    ],
)
def test_damage(
    tmp_path: Path, data: bytes, options: dict[str, Any], message: str, kept: int
) -> None:
    tok = tokenizer("python")
    path = write(tmp_path / "a.parquet", data)
    with pytest.raises(bpe.TextFileError) as raised:
        bpe.corpus.tokenize(path, tmp_path / "out", tok, **options)
    assert str(raised.value).startswith(str(tmp_path / message))
    corpus = bpe.corpus.tokenize(path, tmp_path / "rest", tok, skip_bad=True, **options)
    assert (corpus.manifest.documents, corpus.manifest.skipped) == (kept, 1)
