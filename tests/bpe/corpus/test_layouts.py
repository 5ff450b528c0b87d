"""Each layout of a corpus holds the expected ids.

Readers in this file follow the formats that the training programs published.
"""

from __future__ import annotations

import struct
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe.errors import CorpusError
from corpora import END, expected_ids, random_documents, tokenizer, write_json_lines
from pretok.machine.backend import BackendName

TEXTS = ["", *random_documents(60, 21), "hello" * 50, ""]
LAYOUTS = ("bin", "llmc", "megatron", "npy", "parquet")


def need(layout: str) -> None:
    """Skip the test if the layout needs a package that is not installed."""
    if layout == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def made(
    tmp_path: Path, backend: BackendName, layout: str, **options: Any
) -> tuple[bpe.corpus.Corpus, list[list[int]]]:
    """Return a corpus of TEXTS, and the expected ids of each text."""
    need(layout)
    tok = tokenizer(backend)
    path = write_json_lines(tmp_path / "a.jsonl", TEXTS)
    options = {"special": "text", "eos": END, "shard_tokens": 150, **options}
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, layout=layout, **options)
    return corpus, expected_ids(tok, TEXTS)


def joined(rows: list[Any]) -> list[int]:
    return [int(id) for row in rows for id in row]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_nanogpt(tmp_path: Path, backend: BackendName, dtype: str) -> None:
    corpus, expected = made(tmp_path, backend, "bin", dtype=dtype)
    found = []
    for path in sorted((tmp_path / "out").glob("train-*.bin")):
        # nanoGPT: data = np.memmap(os.path.join(data_dir, 'train.bin'), dtype=np.uint16, mode='r')
        data = np.memmap(path, dtype=dtype, mode="r")
        offsets = np.load(path.with_name(f"{path.stem}.offsets.npy"), mmap_mode="r")
        found += [data[start:end].tolist() for start, end in pairwise(offsets)]
    assert found == expected
    assert len(corpus.splits["train"]) > 2


@pytest.mark.parametrize(("dtype", "magic", "version"), [
    ("uint16", 20240520, 1), ("uint32", 20240801, 7)
])  # fmt: skip
def test_llmc(tmp_path: Path, backend: BackendName, dtype: str, magic: int, version: int) -> None:
    _, expected = made(tmp_path, backend, "llmc", dtype=dtype)
    found = []
    for path in sorted((tmp_path / "out").glob("*.bin")):
        # llmc/dataloader.h: 256 ints, then tokens; header[2] is the number of tokens.
        data = path.read_bytes()
        header = struct.unpack("<256i", data[:1024])
        assert header[:2] == (magic, version)
        assert not any(header[3:])
        assert len(data) == 1024 + header[2] * np.dtype(dtype).itemsize
        found.append(np.frombuffer(data, dtype, offset=1024))
    assert joined(found) == joined(expected)


def megatron(prefix: str) -> tuple[list[list[int]], list[int]]:
    """Return the sequences and the document indexes, read like Megatron-LM's IndexedDataset."""
    with open(f"{prefix}.idx", "rb") as stream:
        assert stream.read(9) == b"MMIDIDX\x00\x00"
        assert struct.unpack("<Q", stream.read(8)) == (1,)
        (code,) = struct.unpack("<B", stream.read(1))
        dtype = {1: np.uint8, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.float64,
                 7: np.float32, 8: np.uint16}[code]  # fmt: skip
        (sequences,) = struct.unpack("<Q", stream.read(8))
        (documents,) = struct.unpack("<Q", stream.read(8))
        data = stream.read()
    lengths = np.frombuffer(data, np.int32, sequences)
    pointers = np.frombuffer(data, np.int64, sequences, lengths.nbytes)
    indices = np.frombuffer(data, np.int64, documents, lengths.nbytes + pointers.nbytes)
    assert len(data) == lengths.nbytes + pointers.nbytes + indices.nbytes
    tokens = Path(f"{prefix}.bin").read_bytes()
    rows = [
        np.frombuffer(tokens, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths, pointers, strict=True)
    ]
    assert lengths.shape[0] == indices[-1]
    return rows, indices.tolist()


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
@pytest.mark.parametrize("block", [1 << 20, 3])
def test_megatron(
    tmp_path: Path, backend: BackendName, monkeypatch: pytest.MonkeyPatch, dtype: str, block: int
) -> None:
    monkeypatch.setattr("bpe.corpus.layouts.megatron.BLOCK", block)
    corpus, expected = made(tmp_path, backend, "megatron", dtype=dtype)
    found = []
    for shard in corpus.splits["train"]:
        rows, indices = megatron(str(tmp_path / "out" / shard.name))
        assert indices == list(range(shard.documents + 1))
        found += rows
    assert found == expected


def test_npy(tmp_path: Path, backend: BackendName) -> None:
    corpus, expected = made(tmp_path, backend, "npy")
    arrays = [np.load(tmp_path / "out" / f"{shard.name}.npy") for shard in corpus.splits["train"]]
    assert {(array.dtype.name, array.ndim) for array in arrays} == {("uint16", 1)}
    assert joined(arrays) == joined(expected)


@pytest.mark.parametrize(("tokens", "rows"), [(1 << 20, 1 << 20), (100, 1 << 20), (40, 3)])
def test_parquet(
    tmp_path: Path, backend: BackendName, monkeypatch: pytest.MonkeyPatch, tokens: int, rows: int
) -> None:
    need("parquet")
    from pyarrow import parquet

    monkeypatch.setattr("bpe.corpus.layouts.parquet.GROUP_TOKENS", tokens)
    monkeypatch.setattr("bpe.corpus.layouts.parquet.GROUP_ROWS", rows)
    corpus, expected = made(tmp_path, backend, "parquet")
    found = []
    for path in sorted((tmp_path / "out").glob("*.parquet")):
        table = parquet.read_table(path)
        assert str(table.schema.field("input_ids").type) == "list<element: int32>"
        found += table.column("input_ids").to_pylist()
    assert found == expected
    assert not list((tmp_path / "out").glob("*.part"))
    assert [corpus.document(index).tolist() for index in range(len(expected))] == expected


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pack", [None, 16])
def test_a_corpus_is_read_back(
    tmp_path: Path, backend: BackendName, layout: str, pack: int | None
) -> None:
    corpus, expected = made(tmp_path, backend, layout, pack=pack)
    found = [corpus.document(index).tolist() for index in range(corpus.document_count())]
    assert found == expected
    assert not any(problem for _, problem in corpus.verify())
    with pytest.raises(IndexError, match=f"document {len(TEXTS)} of split 'train'; the split has"):
        corpus.document(len(TEXTS))


@pytest.mark.parametrize("layout", ["megatron", "parquet"])
def test_rows_of_packed_documents(tmp_path: Path, backend: BackendName, layout: str) -> None:
    corpus, expected = made(tmp_path, backend, layout, pack=16)
    rows: list[list[int]] = []
    for shard in corpus.splits["train"]:
        if layout == "megatron":
            rows += megatron(str(tmp_path / "out" / shard.name))[0]
        else:
            from pyarrow import parquet

            table = parquet.read_table(tmp_path / "out" / f"{shard.name}.parquet")
            rows += table.column("input_ids").to_pylist()
    assert {len(row) for row in rows} == {16}
    padding = corpus.splits["train"][-1].padding
    assert joined(rows) == joined(expected) + [END] * padding


def test_parquet_needs_pyarrow(
    tmp_path: Path, backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    tok = tokenizer(backend)
    path = write_json_lines(tmp_path / "a.jsonl", TEXTS)
    with pytest.raises(ModuleNotFoundError, match="layout 'parquet' needs the package pyarrow"):
        bpe.corpus.tokenize(path, tmp_path / "out", tok, layout="parquet")
    assert not (tmp_path / "out").exists()
    (tmp_path / "b.parquet").touch()
    with pytest.raises(ModuleNotFoundError, match="reading Parquet needs the package pyarrow"):
        bpe.corpus.tokenize(tmp_path / "b.parquet", tmp_path / "out", tok)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_shard_of_another_size_is_an_error(tmp_path: Path, layout: str) -> None:
    corpus, expected = made(tmp_path, "python", layout)
    shard = corpus.splits["train"][0]
    for name, description in shard.files.items():
        path = tmp_path / "out" / name
        data = path.read_bytes()
        path.write_bytes(data[:-6])
        message = rf"{name}: expected {description['bytes']} bytes, got {len(data) - 6}; "
        with pytest.raises(CorpusError, match=message):
            corpus.document(0)
        with pytest.raises(CorpusError, match=message):
            list(corpus.lengths())
        path.write_bytes(data)
    assert corpus.document(0).tolist() == expected[0]
