"""Damaged inputs: bpe.corpus.tokenize raises an error that names the file and the line.

With skip_bad=True, it skips the damaged documents and counts them in the manifest.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe.corpus import documents
from corpora import random_documents, tokenizer, write, write_json_lines, zstandard_frame
from pretok.machine.backend import BackendName

GOOD = b'{"text": "x"}\n'
PACKED = gzip.compress(b"hello world\n" * 200, mtime=0)
PACKED_LINES = gzip.compress(GOOD * 9, mtime=0)
PACKED_DAMAGE = gzip.compress(b"\n\xe4\xb8 x", mtime=0)
LONG = b"x " * 300


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in small blocks; more than 500 bytes are a long document."""
    monkeypatch.setattr(documents, "BATCH", 500)
    monkeypatch.setattr(documents, "LONG", 500)
    monkeypatch.setattr(documents, "BLOCK", 100)


@pytest.mark.parametrize(
    ("name", "content", "message", "kept"),
    [
        ("a.jsonl", GOOD + b"{\n" + GOOD, "a.jsonl, line 2: not JSON in UTF-8 (", 2),
        ("a.jsonl", GOOD * 2 + b'{"text": "\xff"}\n', "a.jsonl, line 3: not JSON in UTF-8 (", 2),
        ("a.jsonl", b'\n\n{"body": "x"}\n', "a.jsonl, line 3: no 'text' among the keys", 0),
        ("a.jsonl", GOOD + b'{"text": 5}', "a.jsonl, line 2: 'text' is of type int; expected", 1),
        ("a.jsonl", GOOD + b"[1]", "a.jsonl, line 2: a JSON list; expected an object", 1),
        ("a.jsonl", GOOD + b"[" * 99_999, "a.jsonl, line 2: ", 1),
        (
            "a.jsonl.gz",
            PACKED_LINES[:-9],
            "a.jsonl.gz, after line 7: truncated",
            7,
        ),
        ("a.jsonl.gz", b"no gzip", "a.jsonl.gz: truncated or damaged (", 0),
        ("a.jsonl.zst", zstandard_frame(GOOD)[:-3], "a.jsonl.zst: truncated or damaged (", 0),
        ("a.txt", b"\xff", "a.txt, line 1: byte 0xff at offset 0 is not UTF-8; convert", 0),
        ("a.txt", LONG + b"\n\xe4\xb8", "a.txt, line 2: byte 0xe4 at offset 601 is not UTF-8", 0),
        (
            "a.txt.gz",
            PACKED_DAMAGE,
            "a.txt.gz, line 2: byte 0xe4 at offset 1",
            0,
        ),
        ("a.txt.gz", PACKED[:-5], "a.txt.gz: truncated or damaged (", 0),
        ("lines.txt", b"x\n\xff\ny\n", "lines.txt, line 2: byte 0xff is not UTF-8; convert", 2),
    ],
)
def test_damage_is_named_or_counted(
    tmp_path: Path, name: str, content: bytes, message: str, kept: int
) -> None:
    tok = tokenizer("python")
    folder = tmp_path / "in"
    folder.mkdir()
    first = write_json_lines(folder / "0.jsonl", ["hello", ""])
    path = folder / name
    path.write_bytes(content)
    last = write_json_lines(folder / "z.jsonl", ["12"])
    inputs, lines = [first, path, last], name == "lines.txt"
    with pytest.raises(bpe.TextFileError) as raised:
        bpe.corpus.tokenize(inputs, tmp_path / "out", tok, lines=lines)
    assert str(raised.value).startswith(str(folder / message))
    corpus = bpe.corpus.tokenize(inputs, tmp_path / "rest", tok, lines=lines, skip_bad=True)
    manifest = corpus.manifest
    # The two undamaged files have 3 documents; the damaged file keeps `kept`.
    assert (manifest.documents, manifest.skipped) == (3 + kept, 1)
    assert message.split(" (")[0] in manifest.skipped_examples[0]
    assert corpus.document(2 + kept).tolist() == tok.encode("12")
    assert [item["bytes"] for item in manifest.inputs] == [item.stat().st_size for item in inputs]


def test_the_manifest_lists_only_the_first_damaged_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.corpus.work.MAX_EXAMPLES", 3)
    path = write(tmp_path / "a.jsonl", b"{\n" * 100 + GOOD)
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"), skip_bad=True)
    assert (corpus.manifest.documents, corpus.manifest.skipped) == (1, 100)
    assert len(corpus.manifest.skipped_examples) == 3


def test_long_lines_with_and_without_damage(
    backend: BackendName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe.corpus.parts.PART", 200)
    tok = tokenizer(backend)
    texts = ["x", 'y\\\n中 "' * 900, "z", "\U0001f600 " * 500, ""]
    folder = tmp_path / "in"
    folder.mkdir()
    write_json_lines(folder / "a.jsonl", texts)
    write_json_lines(folder / "b.jsonl", texts[::-1])
    (folder / "bad.jsonl").write_bytes(
        GOOD + b'{"text": "' + b"x " * 900 + b"\xff" + b'"}\n' + GOOD
    )
    with pytest.raises(bpe.TextFileError, match=r"bad\.jsonl, line 2: 'text' is not a JSON string"):
        bpe.corpus.tokenize(folder, tmp_path / "out", tok)
    corpus = bpe.corpus.tokenize(folder, tmp_path / "rest", tok, skip_bad=True, validation=0.5)
    found = [
        tok.decode(corpus.document(index, split))
        for split in ("train", "val")
        for index in range(corpus.document_count(split))
    ]
    assert sorted(found) == sorted([*texts, *texts, "x", "x"])
    path = write(tmp_path / "lines.txt", b"a\r\n" + b"x " * 900 + b"\r\n\nb")
    corpus = bpe.corpus.tokenize(path, tmp_path / "lines", tok, lines=True)
    found = [tok.decode(corpus.document(index)) for index in range(corpus.document_count())]
    assert found == ["a", "x " * 900, "", "b"]


def test_a_byte_without_a_token(tmp_path: Path) -> None:
    tokens = {byte: bytes([byte]) for byte in range(256) if byte != 0xF1}
    tok = bpe.Tokenizer(bpe.Vocabulary(tokens, []), "gpt2", backend="python")
    path = write_json_lines(tmp_path / "a.jsonl", ["x", "x\U00040000"])
    with pytest.raises(bpe.UnknownTokenError, match=r"a\.jsonl, line 2: the text holds byte 0xf1"):
        bpe.corpus.tokenize(path, tmp_path / "out", tok)


def test_missing_unknown_and_repeated_inputs(tmp_path: Path) -> None:
    tok = tokenizer("python")
    write_json_lines(tmp_path / "a.jsonl", random_documents(3, 1))
    (tmp_path / "a.csv").write_bytes(b"x\0")
    (tmp_path / "empty").mkdir()
    for name, message in (
        ("empty", "empty: no file to read; expected files that end in .txt, .jsonl, .parquet"),
        ("*.txt", r"\*.txt: no file matches this pattern"),
        ("a.csv", "a.csv: byte 1 is NUL, so the file is not a text; expected a text in UTF-8, or"),
    ):
        with pytest.raises(bpe.TextFileError, match=message):
            bpe.corpus.tokenize(tmp_path / name, tmp_path / "out", tok)
    for name in ("b.jsonl", "b"):
        with pytest.raises(FileNotFoundError):
            bpe.corpus.tokenize(tmp_path / name, tmp_path / "out", tok)
    with pytest.raises(bpe.CorpusError, match=r"a\.csv: expected a folder"):
        bpe.corpus.tokenize(tmp_path / "a.jsonl", tmp_path / "a.csv", tok)
    with pytest.raises(bpe.TextFileError, match="the inputs have this file twice"):
        bpe.corpus.tokenize([tmp_path, tmp_path / "a.jsonl"], tmp_path / "out", tok)
    assert not (tmp_path / "out").exists()


def test_glob_patterns(tmp_path: Path) -> None:
    tok = tokenizer("python")
    for name in ("b/2.txt", "b/10.txt", "a.txt", "c/d/e.txt"):
        path = tmp_path / "in" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(name, encoding="utf-8")
    (tmp_path / "in" / "x.csv").write_text("x.csv", encoding="utf-8")
    for number, (pattern, names) in enumerate({
        "in": ["a.txt", "b/10.txt", "b/2.txt", "c/d/e.txt"],
        "in/*": ["a.txt", "b/10.txt", "b/2.txt", "c/d/e.txt", "x.csv"],
        "in/[bc]": ["b/10.txt", "b/2.txt", "c/d/e.txt"],
        "in/**/*": ["a.txt", "b/10.txt", "b/2.txt", "c/d/e.txt", "x.csv"],
        "in/b/?.txt": ["b/2.txt"],
        "in/**/d": ["c/d/e.txt"],
        "in/**/": ["a.txt", "b/10.txt", "b/2.txt", "c/d/e.txt", "x.csv"],
        "in/**/[bd2]*": ["b/10.txt", "b/2.txt", "c/d/e.txt"],
    }.items()):  # fmt: skip
        corpus = bpe.corpus.tokenize(str(tmp_path / pattern), tmp_path / f"out{number}", tok)
        found = [tok.decode(corpus.document(index)) for index in range(corpus.document_count())]
        assert found == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "tar"}, "layout='tar'; expected one of 'bin', 'llmc'"),
        ({"dtype": "int8"}, "dtype='int8'; expected None, 'uint16' or 'uint32'"),
        ({"eos": "no"}, "or the id of one token; its special tokens are '<s>'"),
        ({"bos": 999_999}, "bos=999999 is not a token of this vocabulary"),
        ({"bos": "<s>", "add_special_tokens": True}, "add_special_tokens= cannot be combined"),
        ({"special": "no"}, "special='no'"),
        ({"shard_tokens": 0}, "shard_tokens=0; expected None or an int of at least 1"),
        ({"pack": 2}, "pack= needs an id that fills the last row; pass pad= or eos="),
        ({"pad": 2}, "pad= fills the last row of pack=; pass pack= too"),
        ({"validation": 1.0}, "validation=1.0; expected a fraction from 0 to below 1"),
        ({"shuffle": -1}, "shuffle=-1; expected None or a seed"),
        ({"threads": 0}, "threads=0; expected"),
        ({"max_text": 0}, "max_text=0; expected"),
    ],
)
def test_wrong_options_are_reported_before_the_work(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x"])
    with pytest.raises(ValueError, match=r".") as raised:
        bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"), **options)  # type: ignore[arg-type]
    assert message in str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eos": True}, "eos=True; expected the text or the id of a token"),
        ({"bos": 1.5}, "bos=1.5; expected the text or the id of a token"),
        ({"pack": 2, "pad": False}, "pad=False; expected the text or the id of a token"),
        ({"field": 3}, "field is of type int; expected a str"),
        ({"dtype": np.dtype("uint16")}, r"dtype is of type \S*; expected a str"),
        ({"tokenizer": "gpt2"}, "expected a bpe.Tokenizer, got str; pass bpe.load"),
    ],
)
def test_options_of_wrong_types(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x"])
    with pytest.raises(TypeError, match=message):
        bpe.corpus.tokenize(path, tmp_path / "out", **{"tokenizer": tokenizer("python"), **options})
    assert not (tmp_path / "out").exists()


def test_an_id_may_be_an_integer_of_numpy(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x"])
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"), eos=np.int64(3))  # type: ignore[arg-type]
    assert corpus[0].tolist()[-1] == 3
    assert bpe.corpus.Corpus(tmp_path / "out").manifest.options["after"] == [3]


def test_damaged_files_of_a_corpus(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x"])
    out = tmp_path / "out"
    corpus = bpe.corpus.tokenize(path, out, tokenizer("python"))
    for name in ("train-00000.bin", "tokenizer.pretok"):
        before = (out / name).read_bytes()
        (out / name).write_bytes(before[:-1] + b"?")
        assert [item for item, problem in corpus.verify() if problem] == [name]
        (out / name).write_bytes(before)
    (out / "train-00000.offsets.npy").unlink()
    assert dict(corpus.verify())["train-00000.offsets.npy"].startswith("the file is missing")
    for text in ("", "[]", "{}", '{"format": "pretok corpus", "version": 2}', "\xff"):
        (out / "manifest.json").write_text(text, encoding="latin-1")
        with pytest.raises(bpe.CorpusError, match="not the manifest of a corpus"):
            bpe.corpus.Corpus(out)
    with pytest.raises(bpe.CorpusError, match=r"no manifest\.json"):
        bpe.corpus.Corpus(tmp_path)
