"""Reading a corpus: length, index and iteration give the documents of `document`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe
from bpe.corpus import Corpus
from corpora import expected_ids, random_documents, tokenizer, write_json_lines
from support import seeded

TEXTS = random_documents(300, 31)


@pytest.mark.parametrize(
    "options", [{}, {"pack": 16, "pad": 0}, {"layout": "npy"}, {"validation": 0.4}]
)
@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
def test_every_way_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], chunk: int
) -> None:
    monkeypatch.setattr("bpe.corpus.reader.CHUNK", chunk)
    tok = tokenizer("python")
    path = write_json_lines(tmp_path / "a.jsonl", TEXTS)
    options = {"special": "text", "eos": "<s>", "shard_tokens": 400, **options}
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tok, **options)
    found = [ids.tolist() for ids in corpus]
    assert len(corpus) == len(found) == corpus.document_count()
    assert found == [corpus[index].tolist() for index in range(len(corpus))]
    assert found == [corpus.document(index).tolist() for index in range(len(corpus))]
    if "validation" in options:
        found += [ids.tolist() for ids in corpus.iter_documents("val")]
        assert sorted(found) == sorted(expected_ids(tok, TEXTS))
    else:
        assert found == expected_ids(tok, TEXTS)
        assert len(corpus.splits["train"]) > 3
    assert all(ids.dtype == np.uint32 for ids in corpus)


def test_an_index_counts_from_either_end(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["hello", "x", "12"])
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"))
    tokens = sum(map(len, corpus))
    assert repr(corpus) == f"<Corpus {str(tmp_path / 'out')!r}, 3 documents, {tokens} tokens>"
    assert corpus[-1].tolist() == corpus.document(2).tolist()
    assert corpus[np.int64(2)].tolist() == corpus[2].tolist()  # type: ignore[index]
    for index in (3, -4):
        with pytest.raises(IndexError, match="of split 'train'; the split has 3 documents"):
            _ = corpus[index]
    with pytest.raises(TypeError):
        _ = corpus["x"]  # type: ignore[index]


def test_an_empty_corpus(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", [])
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"))
    assert (len(corpus), list(corpus)) == (0, [])


def test_a_pickled_corpus_opens_its_shards_again(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", ["x"] * 5000)
    corpus = bpe.corpus.tokenize(path, tmp_path / "out", tokenizer("python"))
    order = list(range(5000))
    seeded(1).shuffle(order)
    assert {corpus[index].tolist()[0] for index in order[:50]} == {120}
    data = pickle.dumps(corpus)
    assert len(data) < 4000
    assert len(pickle.loads(data)) == 5000
    assert pickle.loads(data)[4999].tolist() == [120]
    assert isinstance(pickle.loads(data), Corpus)
