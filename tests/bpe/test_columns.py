"""encode_column and encode_packed give the ids of `encode`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
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


@pytest.mark.parametrize(
    "offsets", [np.array([0.5, 2.0]), [[0, 2]], 5, None, ["0", "2"], np.array([False, True])]
)
def test_packed_texts_with_offsets_of_another_type(backend: BackendName, offsets: Any) -> None:
    with pytest.raises(TypeError, match="expected offsets in one row of integers, got "):
        tokenizer(backend).encode_packed(b"hello", offsets)


def test_packed_texts_of_another_type(backend: BackendName) -> None:
    message = "expected texts in one bytes object or buffer, got str; pass data.encode()"
    with pytest.raises(TypeError, match=message):
        tokenizer(backend).encode_packed("hello", np.array([0, 5]))  # type: ignore[arg-type]


@given(st.lists(st.lists(st.binary(max_size=5), max_size=4), max_size=4), st.integers(0, 5))
def test_packed_texts_are_lists(parts: list[list[bytes]], count: int) -> None:
    texts = [text for part in parts for text in part]
    joined = PackedTexts.joined([PackedTexts.of(part) for part in parts])
    assert list(joined) == texts
    assert [joined[index] for index in range(len(joined))] == texts
    assert list(joined.after(count)) == texts[count:]
    assert joined.size == len(joined.bytes_view()) == sum(map(len, texts))


def test_columns_of_arrow(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    expected = tok.encode_batch(TEXTS, "text")
    for kind, offsets in ((pyarrow.string(), "list"), (pyarrow.large_string(), "large_list")):
        array = pyarrow.array(TEXTS, kind)
        found = tok.encode_column(array, "text")
        found.validate(full=True)
        assert str(found.type).startswith(f"{offsets}<")
        assert found.type.value_type == pyarrow.uint32()
        assert found.to_pylist() == expected
        assert tok.encode_column(array[3:9], "text", threads=2).to_pylist() == expected[3:9]
        chunked = pyarrow.chunked_array([array[:4], array[4:4], array[4:]])
        found = tok.encode_column(chunked, "text")
        assert found.num_chunks == 3
        assert found.to_pylist() == expected
        for empty in (array[:0], pyarrow.chunked_array([], kind)):
            assert tok.encode_column(empty).to_pylist() == []
    nulls = pyarrow.array(["hello", None, ""])
    assert tok.encode_column(nulls).to_pylist() == [tok.encode("hello"), None, []]


@pytest.mark.parametrize(
    "kind",
    ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"],
)
def test_types_of_strings(backend: BackendName, kind: str) -> None:
    pyarrow = need("pyarrow")
    if not hasattr(pyarrow, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    tok = tokenizer(backend)
    texts: list[str | bytes | None] = ["hello", None, "", "中😀", " world's é"]
    if "binary" in kind:  # also with bytes that are not UTF-8
        texts = [b"\xff", *(text and text.encode() for text in texts), b"hell\xc3"]  # type: ignore[union-attr]
    expected = [None if text is None else tok.encode(text) for text in texts]
    array = pyarrow.array(texts, getattr(pyarrow, kind)())
    for found, rows in (
        (tok.encode_column(array), expected),
        (tok.encode_column(array[:1]), expected[:1]),
        (tok.encode_column(array[2:]), expected[2:]),
        (tok.encode_column(pyarrow.chunked_array([array[1:], array[:1]])),
         [*expected[1:], expected[0]]),
    ):  # fmt: skip
        found.validate(full=True)
        assert found.to_pylist() == rows
        is_large = kind.startswith("large") or kind.endswith("view")
        assert str(found.type).startswith("large_list<" if is_large else "list<")


def test_other_columns(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    for array in (
        pyarrow.array([1]), pyarrow.array([1, None]),
        pyarrow.array([b"ab", None], pyarrow.binary(2)), pyarrow.array([True, None]),
        pyarrow.array(["a", None]).dictionary_encode(), pyarrow.array([["a"], None]),
        pyarrow.array([{"view": "a"}]),
        *(pyarrow.array([["a"]], getattr(pyarrow, kind)(pyarrow.string()))
          for kind in ("list_view", "large_list_view") if hasattr(pyarrow, kind)),
    ):  # fmt: skip
        for column in (array, array[:0], pyarrow.chunked_array([array])):
            with pytest.raises(TypeError) as raised:
                tok.encode_column(column)
            assert str(raised.value) == (
                f"the column is of type {array.type}; expected strings or binary; cast the column"
            )
    with pytest.raises(TypeError, match="column is of type list; expected a column of pyarrow"):
        tok.encode_column(["hello"])


def test_columns_without_any_text(backend: BackendName) -> None:
    """A part of a table may have only nulls, and then pyarrow does not know their type."""
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    for size in (0, 2):
        for column in (pyarrow.nulls(size), pyarrow.chunked_array([pyarrow.nulls(size)])):
            found = tok.encode_column(column)
            assert (str(found.type), found.to_pylist()) == ("list<item: uint32>", [None] * size)


def test_columns_without_any_text_of_pandas_and_polars(backend: BackendName) -> None:
    need("pyarrow")
    pandas, polars = need("pandas"), need("polars")
    tok = tokenizer(backend)
    for size in (0, 2):
        found = tok.encode_column(pandas.Series([None] * size, dtype="object"))
        assert (len(found), found.isna().all()) == (size, True)
        found = tok.encode_column(polars.Series([None] * size))
        assert (found.dtype, found.to_list()) == (polars.List(polars.UInt32), [None] * size)


def test_errors_have_the_row_of_the_column(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    tok = tokenizer(backend)
    array = pyarrow.array(["a", "b", None, "é<s>"])
    for column, row in (
        (array, 3), (array[2:], 1), (pyarrow.chunked_array([array[:2], array[:0], array[2:]]), 3),
    ):  # fmt: skip
        with pytest.raises(bpe.SpecialTokenError, match=rf"^column\[{row}\] holds") as caught:
            tok.encode_column(column)
        assert (caught.value.text_index, caught.value.position) == (row, 2)
    tokens = {id: bytes([id]) for id in range(256) if id != 0xF1}
    tok = bpe.Tokenizer(bpe.Vocabulary(tokens, []), "gpt2", backend=backend)
    chunks = [pyarrow.array(["a"]), pyarrow.array(["b", "\U00040000"])]
    with pytest.raises(bpe.UnknownTokenError, match=r"^column\.chunk\(1\): texts\[1\]: .*0xf1"):
        tok.encode_column(pyarrow.chunked_array(chunks))


def test_columns_of_polars(backend: BackendName) -> None:
    need("pyarrow")
    polars = need("polars")
    tok = tokenizer(backend)
    column = polars.Series("text", [*TEXTS, None])
    found = tok.encode_column(column, "text")
    assert found.name == "text"
    assert found.dtype == polars.List(polars.UInt32)
    assert found.to_list() == [*tok.encode_batch(TEXTS, "text"), None]
    binary = polars.Series([b"hello", None, b"\xff"])
    assert tok.encode_column(binary).to_list() == [tok.encode("hello"), None, tok.encode(b"\xff")]
    for other in (polars.Series(["a", None], dtype=polars.Categorical), polars.Series([1, None]),
                  polars.Series([["a"]])):  # fmt: skip
        with pytest.raises(TypeError, match=r"the column is of type .*; expected strings"):
            tok.encode_column(other)
    frame = polars.DataFrame({"text": TEXTS})
    with_ids = frame.with_columns(tok.encode_column(frame["text"], "text").alias("ids"))
    assert with_ids["ids"].list.len().to_list() == [len(tok.encode(text, "text")) for text in TEXTS]


def test_an_expression_of_polars(backend: BackendName) -> None:
    need("pyarrow")
    polars = need("polars")
    tok = tokenizer(backend)
    ids = polars.col("text").map_batches(
        lambda texts: tok.encode_column(texts, "text"), return_dtype=polars.List(polars.UInt32)
    )
    frame = polars.DataFrame({"text": [*TEXTS, None]})
    expected = [*tok.encode_batch(TEXTS, "text"), None]
    assert frame.select(ids)["text"].to_list() == expected
    assert frame.lazy().select(ids.alias("ids")).collect()["ids"].to_list() == expected


def test_columns_of_pandas(backend: BackendName) -> None:
    pyarrow = need("pyarrow")
    pandas = need("pandas")
    tok = tokenizer(backend)
    expected = [*tok.encode_batch(TEXTS, "text"), None]
    index = [f"row {row}" for row in range(len(expected))]
    large = pandas.ArrowDtype(pyarrow.large_string())
    for kind in (None, "object", "str", "string", "string[pyarrow]", large):
        column = pandas.Series([*TEXTS, None], index=index, name="text", dtype=kind)
        found = tok.encode_column(column, "text")
        assert (found.name, list(found.index)) == ("text", index)
        assert found.dtype.pyarrow_dtype.value_type == pyarrow.uint32()
        rows = [None if pandas.api.types.is_scalar(row) else list(row) for row in found]
        assert rows == expected, kind
    frame = pandas.DataFrame({"text": TEXTS})[::3]
    frame["ids"] = tok.encode_column(frame["text"], "text")
    assert [list(row) for row in frame["ids"]] == expected[:-1][::3]
    data = pandas.Series([b"\xff", None, b"hello"], dtype="object")
    assert list(tok.encode_column(data)[2]) == tok.encode("hello")
    assert len(tok.encode_column(pandas.Series([], dtype="str"))) == 0
    category = pandas.Series(["a"], dtype="category")
    for other in (pandas.Series([1]), category, pandas.Series([["a"]])):
        with pytest.raises(TypeError, match=r"the column is of type .*; expected strings"):
            tok.encode_column(other)
    with pytest.raises(TypeError, match="the column has values of other types; expected str"):
        tok.encode_column(pandas.Series(["a", 1], dtype="object"))
