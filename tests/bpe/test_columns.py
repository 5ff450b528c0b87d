"""bpe.columns.encode and Tokenizer.encode_packed give the ids of `encode`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe import columns
from bpe.encoding.packed import PackedTexts
from corpora import random_documents, tokenizer
from pretok.machine.backend import BackendName
from support import need

TEXTS = ["", "hello", " world's é", "中😀", "", *random_documents(40, 51)]
KINDS = [{}, {"normalizer": "NFC"}, {"add_prefix_space": True}]


def rows(ids: Any, offsets: Any) -> list[list[int]]:
    return [part.tolist() for part in np.split(ids, offsets[1:-1])] if len(offsets) > 1 else []


@pytest.mark.parametrize("options", KINDS, ids=["plain", "nfc", "prefix"])
def test_packed_texts(backend: BackendName, options: dict[str, Any]) -> None:
    tok = tokenizer(backend, **options)
    texts = [*TEXTS, "e\u0301", "\u0301 x"]  # must not be normalized as one text
    packed = PackedTexts.of([text.encode() for text in texts])
    for threads in (None, 1, 3):
        found = tok.encode_packed(packed.data, packed.offsets, "text", threads=threads)
        expected = tok.encode_batch_array(texts, "text")
        assert rows(*found) == rows(*expected)
        assert [array.dtype for array in found] == [array.dtype for array in expected]
    some = tok.encode_packed(bytearray(packed.data), packed.offsets[3:9], "text")
    assert rows(*some) == tok.encode_batch(texts[3:8], "text")
    for offsets in ([], [0], [5]):
        ids, ends = tok.encode_packed(b"hello", np.array(offsets, np.int64))
        assert (ids.tolist(), ends.tolist()) == ([], [0])


def test_packed_texts_with_errors(backend: BackendName) -> None:
    tok = tokenizer(backend)
    with pytest.raises(bpe.SpecialTokenError, match=r"texts\[1\] .* '<s>' at offset 2"):
        tok.encode_packed("abé<s>".encode(), np.array([0, 2, 7]))
    for offsets in ([-1, 2], [0, 3, 2], [0, 6]):
        with pytest.raises(ValueError, match="expected ascending offsets"):
            tok.encode_packed(b"hello", np.array(offsets))


@given(st.lists(st.lists(st.binary(max_size=5), max_size=4), max_size=4), st.integers(0, 5))
def test_packed_texts_are_lists(parts: list[list[bytes]], count: int) -> None:
    texts = [text for part in parts for text in part]
    joined = PackedTexts.joined([PackedTexts.of(part) for part in parts])
    assert list(joined) == texts
    assert [joined[index] for index in range(len(joined))] == texts
    assert list(joined.after(count)) == texts[count:]
    assert joined.size == len(joined.all_bytes()) == sum(map(len, texts))


def test_columns_of_arrow(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    expected = tok.encode_batch(TEXTS, "text")
    for kind, offsets in ((pyarrow.string(), "list"), (pyarrow.large_string(), "large_list")):
        array = pyarrow.array(TEXTS, kind)
        found = columns.encode(tok, array, "text")
        found.validate(full=True)
        assert str(found.type).startswith(f"{offsets}<")
        assert found.type.value_type == pyarrow.uint32()
        assert found.to_pylist() == expected
        assert columns.encode(tok, array[3:9], "text", threads=2).to_pylist() == expected[3:9]
        chunked = pyarrow.chunked_array([array[:4], array[4:4], array[4:]])
        found = columns.encode(tok, chunked, "text")
        assert found.num_chunks == 3
        assert found.to_pylist() == expected
        for empty in (array[:0], pyarrow.chunked_array([], kind)):
            assert columns.encode(tok, empty).to_pylist() == []
    nulls = pyarrow.array(["hello", None, ""])
    assert columns.encode(tok, nulls).to_pylist() == [tok.encode("hello"), None, []]
    binary = pyarrow.array([b"hello", b"\xff"])
    assert columns.encode(tok, binary).to_pylist() == [tok.encode(b"hello"), tok.encode(b"\xff")]


def test_other_columns(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    with pytest.raises(TypeError, match="the column is of type int64; expected strings"):
        columns.encode(tok, pyarrow.array([1]))
    with pytest.raises(TypeError, match="column is of type list; expected a column of pyarrow"):
        columns.encode(tok, ["hello"])


def test_columns_of_polars(backend: BackendName) -> None:
    need("pyarrow")
    polars = need("polars")
    tok = tokenizer(backend)
    column = polars.Series("text", [*TEXTS, None])
    found = columns.encode(tok, column, "text")
    assert found.name == "text"
    assert found.dtype == polars.List(polars.UInt32)
    assert found.to_list() == [*tok.encode_batch(TEXTS, "text"), None]
    frame = polars.DataFrame({"text": TEXTS})
    with_ids = frame.with_columns(columns.encode(tok, frame["text"], "text").alias("ids"))
    assert with_ids["ids"].list.len().to_list() == [len(tok.encode(text, "text")) for text in TEXTS]
