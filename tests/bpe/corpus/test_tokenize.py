"""bpe.corpus.tokenize: each document has the ids of `encode`, from every type of file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
import text_models
from bpe.corpus import documents as documents_module
from bpe.corpus import encode as encode_module
from bpe.corpus import parts as parts_module
from bpe.corpus import sinks as sinks_module
from bpe.corpus import work as work_module
from corpora import (
    END,
    content,
    expected_ids,
    random_documents,
    tokenizer,
    write,
    write_json_lines,
)
from pretok.machine.backend import BackendName
from support import seeded

OPTIONS: dict[str, Any] = {"special": "text", "eos": "<s>", "progress": False}
PACKED = ("", ".gz", ".zst")


def ids_of(corpus: bpe.corpus.Corpus, split: str = "train") -> list[list[int]]:
    return [corpus.document(index, split).tolist() for index in range(corpus.document_count(split))]


@pytest.mark.parametrize("packed", PACKED)
def test_every_type_of_file(backend: BackendName, tmp_path: Path, packed: str) -> None:
    tok = tokenizer(backend)
    texts = random_documents(50, 1)
    folder = tmp_path / "in"
    folder.mkdir()
    write_json_lines(folder / f"a.jsonl{packed}", texts[:30])
    (folder / "b").mkdir()
    for index, text in enumerate(texts[30:]):
        write(folder / "b" / f"{index:02}.TXT{packed}", text.encode())
    for name in (".hidden.txt", "other.csv"):
        (folder / name).write_text("left out", encoding="utf-8")
    corpus = bpe.corpus.tokenize(folder, tmp_path / "out", tok, **OPTIONS)
    assert ids_of(corpus) == expected_ids(tok, texts)
    manifest = corpus.manifest
    assert (manifest.documents, manifest.skipped) == (50, 0)
    assert manifest.text_bytes == sum(len(text.encode()) for text in texts)
    assert manifest.tokens == sum(map(len, expected_ids(tok, texts)))
    assert corpus.tokenizer() == tok
    assert not any(problem for _, problem in corpus.verify())


def test_each_line_of_a_text_file(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    path = write(tmp_path / "a.txt", b"hello\r\n\n world's\n12")
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, lines=True, **OPTIONS)
    assert ids_of(corpus) == expected_ids(tok, ["hello", "", " world's", "12"])
    path.write_bytes(b"hello\n")
    corpus = bpe.corpus.tokenize(path, tmp_path / "out2", tok, lines=True, **OPTIONS)
    assert ids_of(corpus) == expected_ids(tok, ["hello"])


def test_ids_around_a_document(backend: BackendName, tmp_path: Path) -> None:
    template = bpe.Template(before=(1, 2), after=(3,))
    tok = tokenizer(backend, template=template)
    path = write_json_lines(tmp_path / "a.jsonl", ["hello", "", " x"])
    plain = [tok.encode(text) for text in ("hello", "", " x")]
    cases: list[tuple[dict[str, Any], list[int], list[int]]] = [
        ({"add_special_tokens": True}, [1, 2], [3]),
        ({"bos": "<s>", "eos": 7}, [END], [7]),
        ({"bos": END}, [END], []),
        ({}, [], []),
    ]
    for number, (options, before, after) in enumerate(cases):
        corpus = bpe.corpus.tokenize(path, tmp_path / f"out{number}", tok, **options)
        assert ids_of(corpus) == [[*before, *ids, *after] for ids in plain]
        assert corpus.manifest.tokens == sum(map(len, ids_of(corpus)))


def test_special_tokens(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    path = write_json_lines(tmp_path / "a.jsonl", ["x", "é<s>"])
    with pytest.raises(bpe.CorpusError, match=r"a\.jsonl, line 2: .*'<s>' at byte 2; pass special"):
        bpe.corpus.tokenize(path, tmp_path / "out", tok)
    for special in ("allow", {"<s>"}):
        corpus = bpe.corpus.tokenize(path, tmp_path / f"out {special}", tok, special=special)
        assert ids_of(corpus)[1] == tok.encode("é<s>", "allow")


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_and_sizes_of_batches_change_nothing(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    tok = tokenizer(backend)
    inputs = [
        write_json_lines(tmp_path / "a.jsonl", random_documents(200, 2)),
        write(tmp_path / "long.txt", "".join(random_documents(300, 3)).encode()),
        write_json_lines(tmp_path / "b.jsonl.gz", random_documents(20, 4)),
    ]
    options = {"shard_tokens": 500, "validation": 0.3, **OPTIONS}
    bpe.corpus.tokenize(inputs, tmp_path / "out", tok, **options)
    expected = content(tmp_path / "out")
    chance = seeded(threads)
    for number in range(3):
        monkeypatch.setattr(documents_module, "BATCH", chance.randint(1, 2000))
        monkeypatch.setattr(documents_module, "LONG", chance.randint(1, 2000))
        monkeypatch.setattr(documents_module, "BLOCK", chance.randint(1, 200))
        monkeypatch.setattr(parts_module, "PART", chance.randint(1, 300))
        monkeypatch.setattr(work_module, "CHECKPOINT", chance.randint(1, 3000))
        monkeypatch.setattr(sinks_module, "SPOOL_BLOCK", 4 * chance.randint(1, 300))
        folder = tmp_path / f"out{number}"
        bpe.corpus.tokenize(inputs, folder, tok, threads=threads, **options)
        assert content(folder) == expected


@pytest.mark.parametrize("options", [{}, {"normalizer": "NFC"}, {"add_prefix_space": True}])
def test_long_documents_are_encoded_in_parts(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    tok = tokenizer(backend, **options)
    text = "e\u0301 é " + "".join(random_documents(400, 5)) + " e"
    path = write(tmp_path / "a.txt", text.encode())
    monkeypatch.setattr(documents_module, "BATCH", 100)
    monkeypatch.setattr(documents_module, "LONG", 100)
    monkeypatch.setattr(documents_module, "BLOCK", 37)
    monkeypatch.setattr(parts_module, "PART", 50)
    monkeypatch.setattr(parts_module, "HASHED", 64)
    parts = []
    encode_part = encode_module.DocumentEncoder._encode_part

    def counted(self: Any, part: bytes, *place: Any) -> Any:
        parts.append(part)
        return encode_part(self, part, *place)

    monkeypatch.setattr(encode_module.DocumentEncoder, "_encode_part", counted)
    for special in ("text", "allow"):
        # One thread, since several would append to `parts` in any order.
        corpus = bpe.corpus.tokenize(path, tmp_path / special, tok, special=special, threads=1)
        assert ids_of(corpus) == [tok.encode(text, special)]
    assert b"".join(parts) == text.encode() * 2
    if backend == "native":
        assert max(map(len, parts)) < 2000


def test_long_documents_of_a_model_with_a_prefix(
    native: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prefix comes before the document, but not before its parts."""
    file = text_models.file_of(
        **text_models.FALLBACK,
        **text_models.WORDS,
        normalizer=text_models.LLAMA,
        added_tokens=text_models.ADDED[:1],
    )
    tok = bpe.load(write(tmp_path / "tokenizer.json", json.dumps(file).encode()), backend=native)
    text = "ab cd  ab é" * 300
    path = write_json_lines(tmp_path / "a.jsonl", ["ab", text, "cd"])
    for name in ("BATCH", "LONG"):
        monkeypatch.setattr(documents_module, name, 100)
    monkeypatch.setattr(documents_module, "BLOCK", 37)
    monkeypatch.setattr(parts_module, "PART", 50)
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, max_text=1000)
    assert ids_of(corpus) == [tok.encode("ab"), tok.encode(text), tok.encode("cd")]


def test_max_text_limits_documents_that_cannot_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "BATCH", 100)
    monkeypatch.setattr(documents_module, "LONG", 100)
    monkeypatch.setattr(documents_module, "BLOCK", 37)
    monkeypatch.setattr(parts_module, "PART", 50)
    tok = tokenizer("python")
    path = write(tmp_path / "a.txt", b"x" * 400)
    with pytest.raises(bpe.TextFileError, match=r"a\.txt, line 1: the document has more than 300"):
        bpe.corpus.tokenize(path, tmp_path / "out", tok, max_text=300)
    corpus = bpe.corpus.tokenize(path, tmp_path / "out2", tok, max_text=400)
    assert ids_of(corpus) == [tok.encode("x" * 400)]


def test_equal_documents_go_to_the_same_split(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    texts = [f"document {index % 150}" for index in range(300)]
    first = write_json_lines(tmp_path / "a.jsonl", texts)
    second = write_json_lines(tmp_path / "b.jsonl", texts[::-1])
    found = []
    for path in (first, second):
        corpus = bpe.corpus.tokenize(path, tmp_path / path.stem, tok, validation=0.2, **OPTIONS)
        train, held_out = ids_of(corpus), ids_of(corpus, "val")
        assert sorted(train + held_out) == sorted(expected_ids(tok, texts))
        assert not {*map(tuple, train)} & {*map(tuple, held_out)}
        assert 30 < len(held_out) < 90
        found.append(sorted(held_out))
    assert found[0] == found[1]


def test_shuffle(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    texts = random_documents(300, 6)
    path = write_json_lines(tmp_path / "a.jsonl", texts)
    expected = expected_ids(tok, texts)
    orders: list[list[list[int]]] = []
    for seed in (1, 1, 2):
        folder = tmp_path / f"out{len(orders)}"
        corpus = bpe.corpus.tokenize(
            path, folder, tok, shuffle=seed, validation=0.1, shard_tokens=300, **OPTIONS
        )
        orders.append(ids_of(corpus))
        assert orders[-1] != [ids for ids in expected if ids in orders[-1]]
        assert sorted(orders[-1] + ids_of(corpus, "val")) == sorted(expected)
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("row", [1, 7, 64])
def test_packing_loses_nothing(backend: BackendName, tmp_path: Path, row: int) -> None:
    tok = tokenizer(backend)
    texts = ["", *random_documents(100, 7), "hello" * 200, ""]
    path = write_json_lines(tmp_path / "a.jsonl", texts)
    corpus = bpe.corpus.tokenize(
        path, tmp_path / "out", tok, pack=row, pad=9, shard_tokens=100, layout="npy", **OPTIONS
    )
    expected = expected_ids(tok, texts)
    assert ids_of(corpus) == expected
    lengths = np.concatenate(list(corpus.lengths())).tolist()
    assert lengths == list(map(len, expected))
    rows = [np.load(tmp_path / "out" / f"{shard.name}.npy") for shard in corpus.splits["train"]]
    assert {array.shape[1] for array in rows} == {row}
    assert {len(array) for array in rows[:-1]} == {max(1, 100 // row)}
    joined = np.concatenate(rows).ravel().tolist()
    padding = corpus.splits["train"][-1].padding
    assert joined == [id for ids in expected for id in ids] + [9] * padding
    assert padding < row


def test_many_empty_documents(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    path = write(tmp_path / "a.jsonl", b'{"text": ""}\n' * 3000)
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok)
    assert (corpus.document_count(), corpus.manifest.tokens) == (3000, 0)
    assert corpus.document(2999).tolist() == []
    empty = bpe.corpus.tokenize(write(tmp_path / "b.jsonl", b"\n"), tmp_path / "none", tok)
    assert (empty.document_count(), empty.splits) == (0, {"train": []})


def test_a_complete_corpus_is_not_written_again(backend: BackendName, tmp_path: Path) -> None:
    tok = tokenizer(backend)
    path = write_json_lines(tmp_path / "a.jsonl", ["x", "y"])
    out = tmp_path / "out"
    bpe.corpus.tokenize(path, out, tok)
    before = {item.name: item.stat().st_mtime_ns for item in out.iterdir()}
    bpe.corpus.tokenize(path, out, tok)
    assert {item.name: item.stat().st_mtime_ns for item in out.iterdir()} == before
    size = path.stat().st_size
    eos = tok.token_id("<s>")
    changes: list[tuple[dict[str, Any], str, str, str]] = [
        ({"eos": "<s>"}, r"the ids \[\] after each document",
         rf"the ids \[{eos}\] after each document", "value"),
        ({"dtype": "uint32"}, "dtype='uint16'", "dtype='uint32'", "value"),
        ({"shard_tokens": 5}, "shard_tokens=[0-9]+", "shard_tokens=5", "value"),
        ({"tokenizer": tokenizer(backend, preset="gpt2")}, "a tokenizer with sha256 [0-9a-f]{64}",
         "a tokenizer with sha256 [0-9a-f]{64}", "tokenizer"),
        ({"inputs": [path, write_json_lines(tmp_path / "b.jsonl", [])]}, r"1 input file\(s\)",
         r"2 input file\(s\)", "files, unchanged,"),
        ({"field": "body"}, "field='text'", "field='body'", "value"),
        ({}, rf"the file .*a.jsonl \({size} bytes\)", r"the file .*a.jsonl \([0-9]+ bytes\)",
         "files, unchanged,"),
    ]  # fmt: skip
    for options, made_with, has, what in changes:
        if not options:
            write_json_lines(path, ["x", "y", "z"])
        message = (
            f"the corpus in this folder was made with {made_with}, but this call has {has}; pass "
            f"the same {what} to continue, or choose another folder$"
        )
        arguments: dict[str, Any] = {"inputs": path, "tokenizer": tok, **options}
        with pytest.raises(bpe.CorpusError, match=message):
            bpe.corpus.tokenize(output=out, **arguments)


def test_no_inputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^inputs is empty; expected files, folders or glob"):
        bpe.corpus.tokenize([], tmp_path / "none", tokenizer("python"))
    assert not (tmp_path / "none").exists()
