"""Encode columns of tables to columns of ids, without a Python object for each row or id."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bpe.encoding.packed import PackedTexts
from bpe.errors import SpecialTokenError, UnknownTokenError, named_error
from bpe.optional import optional_package
from bpe.types import Ids, Offsets

Encode = Callable[[PackedTexts], tuple[Ids, Offsets]]
"""Returns the ids of all texts, and the offsets of each text in them."""
MAX_OFFSET = (1 << 31) - 1
LARGE_TYPES = {"string_view": "large_string", "binary_view": "large_binary"}
"""The type to which a column of a view type is cast."""


def encode_column(encode: Encode, column: Any) -> Any:
    """Return the ids of each text of `column`; Tokenizer.encode_column explains it."""
    pyarrow = optional_package("pyarrow", "encode_column")
    if isinstance(column, pyarrow.Array):
        return _encoded_chunks(pyarrow, encode, [column])[0]
    chunked, restore = _arrow(pyarrow, column)
    chunks = chunked.chunks or [pyarrow.array([], chunked.type)]
    return restore(pyarrow.chunked_array(_encoded_chunks(pyarrow, encode, chunks)))


def _encoded_chunks(pyarrow: Any, encode: Encode, chunks: list[Any]) -> list[Any]:
    """Return the ids of the chunks of a column; errors have the index in the whole column."""
    lists: list[Any] = []
    start = 0
    for at, chunk in enumerate(chunks):
        try:
            lists.append(_encoded(pyarrow, encode, chunk))
        except SpecialTokenError as error:
            row = start + (error.text_index or 0)
            raise SpecialTokenError(error.token, error.position, row, "column") from None
        except UnknownTokenError as error:
            raise named_error(error, f"column.chunk({at})") from None
        start += len(chunk)
    return lists


def _arrow(pyarrow: Any, column: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return `column` as a ChunkedArray, and a function that makes such a column of another one."""
    if isinstance(column, pyarrow.ChunkedArray):
        return column, lambda result: result
    if isinstance(column, _class("pandas", "Series")):
        return _of_pandas(pyarrow, column), partial(_to_pandas, column)
    if isinstance(column, _class("datasets.arrow_dataset", "Column")):
        return _of_datasets(column), partial(_to_datasets, pyarrow, column)
    if not hasattr(column, "__arrow_c_stream__"):
        raise TypeError(
            f"column is of type {type(column).__name__}; expected a column of pyarrow, Polars, "
            "pandas or datasets"
        )
    chunked = pyarrow.chunked_array(column)
    if isinstance(column, _class("polars", "Series")):
        return chunked, lambda result: type(column)(column.name, result)
    return chunked, lambda result: result


def _class(module: str, name: str) -> Any:
    """Return a class if its module has been imported, else a tuple of no classes."""
    return getattr(sys.modules.get(module), name, ())


def _of_pandas(pyarrow: Any, column: Any) -> Any:
    """Return a Series of pandas as a ChunkedArray; NaN and None are nulls."""
    try:
        array = pyarrow.Array.from_pandas(column)
    except pyarrow.ArrowException as error:
        raise TypeError(f"the column has values of other types; expected str: {error}") from None
    return array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.chunked_array([array])


def _to_pandas(column: Any, result: Any) -> Any:
    import pandas

    values = pandas.arrays.ArrowExtensionArray(result)
    return pandas.Series(values, index=column.index, name=column.name)


def _of_datasets(column: Any) -> Any:
    """Return a column of a Dataset as a ChunkedArray."""
    if not hasattr(column.source, "with_format"):
        raise TypeError(
            "expected a column of a Dataset, got a field of a column; call flatten() of the Dataset"
        )
    data = column.source.with_format("arrow").select_columns(column.column_name)
    return data[:][column.column_name]


def _to_datasets(pyarrow: Any, column: Any, result: Any) -> Any:
    import datasets

    name = column.column_name
    return datasets.Dataset(pyarrow.table({name: result}))[name]


def packed(array: Any) -> PackedTexts:
    """Return the strings or bytes of an Array of pyarrow, without a copy.

    Raises TypeError for an array of another type, also for string_view and binary_view.
    The array must have no nulls, since the buffer may hold any bytes for a null.
    """
    import pyarrow

    is_large = _is_large(pyarrow, array.type)
    if not len(array):
        return PackedTexts.of([])
    _, places, data = array.buffers()
    width = np.int64 if is_large else np.int32
    offsets = np.frombuffer(places, width)[array.offset : array.offset + len(array) + 1]
    return PackedTexts(b"" if data is None else data, offsets.astype(np.int64, copy=False))


def _is_large(pyarrow: Any, type: Any) -> bool:
    """Return whether offsets of `type` have 64 bits; raise TypeError for a type without strings."""
    if type in (pyarrow.large_string(), pyarrow.large_binary()):
        return True
    if type in (pyarrow.string(), pyarrow.binary()):
        return False
    raise TypeError(f"the column is of type {type}; expected strings or binary; cast the column")


def _encoded(pyarrow: Any, encode: Encode, array: Any) -> Any:
    """Return the ids of an Array of pyarrow as a ListArray or LargeListArray."""
    if array.type == pyarrow.null():  # a column without any text has no other type
        array = array.cast(pyarrow.string())
    if str(array.type) in LARGE_TYPES:
        array = array.cast(LARGE_TYPES[str(array.type)])
    is_large = _is_large(pyarrow, array.type)
    mask = None
    if array.null_count:
        mask = array.is_null()
        array = array.fill_null("")
    ids, offsets = encode(packed(array))
    values = pyarrow.array(ids)
    if is_large:
        return pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), values, mask=mask)
    if len(ids) > MAX_OFFSET:
        raise ValueError(
            f"the column has {len(ids)} ids, more than 32-bit offsets can hold; cast it to "
            "large_string, or pass smaller columns"
        )
    offsets_32 = pyarrow.array(offsets.astype(np.int32))
    return pyarrow.ListArray.from_arrays(offsets_32, values, mask=mask)
