"""Encode columns of Arrow and Polars to columns of ids, without a Python object for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bpe.encoding.packed import PackedTexts
from bpe.types import Ids, Offsets

Encode = Callable[[PackedTexts], tuple[Ids, Offsets]]
"""Returns the ids of all texts, and the offsets of each text in them."""
MAX_OFFSET = (1 << 31) - 1
LARGE_TYPES = {"string_view": "large_string", "binary_view": "large_binary"}
"""The type to which a column of a view type is cast."""


def encode_column(encode: Encode, column: Any) -> Any:
    """Return the ids of each text of `column`; Tokenizer.encode_column explains it."""
    try:
        import pyarrow
    except ImportError:
        raise ModuleNotFoundError(
            "encode_column needs the package pyarrow; install it with `pip install pyarrow`"
        ) from None
    if isinstance(column, pyarrow.Array):
        return _encoded(pyarrow, encode, column)
    chunked = column
    if not isinstance(column, pyarrow.ChunkedArray):
        if not hasattr(column, "__arrow_c_stream__"):
            raise TypeError(
                f"column is of type {type(column).__name__}; expected a column of pyarrow or Polars"
            )
        chunked = pyarrow.chunked_array(column)
    lists = [_encoded(pyarrow, encode, chunk) for chunk in chunked.chunks]
    if not lists:
        empty = pyarrow.array([], chunked.type)
        lists = [_encoded(pyarrow, encode, empty)]
    result = pyarrow.chunked_array(lists)
    if type(column).__module__.partition(".")[0] != "polars":
        return result
    import polars

    return polars.Series(column.name, result)


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
