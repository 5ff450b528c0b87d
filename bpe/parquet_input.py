"""Read documents from Parquet files, with pyarrow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from bpe.encoding.columns import packed
from bpe.encoding.packed import PackedTexts
from bpe.errors import TextFileError
from bpe.optional import optional_package
from bpe.text_files import Watch, blocks_of_file

ROWS = 1024
"""The number of rows that are read at a time."""


def rows_of_file(
    name: str, field: str, watch: Watch
) -> Iterator[tuple[PackedTexts, NDArray[np.bool_]]]:
    """Yield the texts of each batch of rows of a Parquet file, and whether each text is a null.

    `watch` is called only for a compressed file, with the bytes that are read.

    Raises TextFileError if the file is damaged, or if it has no column `field` of strings;
    ModuleNotFoundError without pyarrow.
    """
    pyarrow = optional_package("pyarrow", f"{name}: reading Parquet")
    from pyarrow import parquet

    text_types = (pyarrow.string(), pyarrow.large_string())
    try:
        with _decompressed(name, watch) as file, parquet.ParquetFile(file) as table:
            schema = table.schema_arrow
            if field not in schema.names:
                raise TextFileError(
                    f"{name}: no column {field!r} among {schema.names!r:.200}; pass field= with "
                    "the column of the text"
                )
            found = schema.field(field).type
            if found not in text_types:
                raise TextFileError(f"{name}: column {field!r} is of type {found}; expected string")
            for batch in table.iter_batches(ROWS, columns=[field]):
                column = batch.column(0)
                is_null = column.is_null().to_numpy(zero_copy_only=False)
                yield packed(column.fill_null("")), is_null
    except (pyarrow.ArrowException, OSError) as error:
        # pyarrow raises an OSError without errno for a damaged file. An OSError with errno is an
        # error of the system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TextFileError(f"{name}: truncated or damaged ({error}); get the file again") from None


def _decompressed(name: str, watch: Watch) -> IO[bytes]:
    """Open the file `name`. If it is compressed, return a temporary file with its content."""
    if name.lower().endswith(".parquet"):
        return open(name, "rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115
    for block in blocks_of_file(name, watch=watch):
        file.write(block)
    file.seek(0)
    return file


def null_message(name: str, row: int, field: str) -> str:
    """Return the message for a row without a text."""
    return f"{name}, row {row}: {field!r} is null; expected a string"
