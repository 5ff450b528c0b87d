"""Parquet files with a list of ids in each row: a document, or with packing a row of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.layouts.layout import Layout, Staged
from bpe.errors import CorpusError
from bpe.formats.files import whole_file
from bpe.optional import optional_package
from bpe.types import Offsets

COLUMN = "input_ids"
GROUP_TOKENS = 1 << 20
GROUP_ROWS = 1 << 20
"""A group of rows ends with the row that brings it to GROUP_TOKENS tokens or GROUP_ROWS rows."""


class ParquetLayout(Layout):
    """One column of lists of int32. Hugging Face's datasets and torch need no conversion."""

    name = "parquet"
    suffix = ".parquet"
    is_raw = False
    max_row = 1 << 24  # a list is in memory as a whole

    def check(self) -> None:
        """Raise ModuleNotFoundError if pyarrow is missing."""
        _pyarrow()

    def finish(self, staged: Staged, place: Path) -> list[Path]:
        """Write the Parquet file."""
        pyarrow = _pyarrow()
        from pyarrow import parquet

        path = place.with_name(place.name + self.suffix)
        schema = pyarrow.schema([(COLUMN, pyarrow.list_(pyarrow.int32()))])
        with (
            whole_file(path) as file,
            parquet.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for group in _groups(staged.rows):
                tokens = staged.read(int(group[0]), int(group[-1])).astype(np.int32)
                offsets = (group - group[0]).astype(np.int32)
                lists = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(tokens))
                writer.write_table(pyarrow.table({COLUMN: lists}, schema))
        return [path]

    def read(
        self, place: Path, dtype: np.dtype[Any], rows: Offsets, start: int, end: int
    ) -> NDArray[np.integer]:
        """Return tokens start:end of the shard at `place`."""
        pyarrow = _pyarrow()
        from pyarrow import parquet

        path = place.with_name(place.name + self.suffix)
        parts: list[NDArray[np.integer]] = [np.zeros(0, np.uint32)]
        try:
            with parquet.ParquetFile(path) as file:
                for index, group in enumerate(_groups(rows)):
                    first, last = int(group[0]), int(group[-1])
                    if first < end and start < last:
                        lists = file.read_row_group(index).column(COLUMN).combine_chunks()
                        # A damaged id may be negative; as uint32 it is too large.
                        tokens = lists.flatten().to_numpy().view(np.uint32)
                        if not np.array_equal(np.diff(lists.offsets.to_numpy()), np.diff(group)):
                            raise ValueError(f"row group {index} has rows of other lengths")
                        parts.append(tokens[max(0, start - first) : end - first])
        except (pyarrow.ArrowException, AttributeError, KeyError, ValueError, OSError) as error:
            # pyarrow raises an OSError without errno for a damaged file.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise CorpusError(
                f"{path}: {str(error)[:200]}; the file is damaged: restore it, or make the corpus "
                "again"
            ) from None
        return np.concatenate(parts)


def _pyarrow() -> Any:
    return optional_package("pyarrow", "layout 'parquet'")


def _groups(rows: Offsets) -> Iterator[Offsets]:
    """Yield the offsets of each group of rows: the starts of its rows, and the end of the last."""
    first = 0
    while first < len(rows) - 1:
        some = rows[first : first + GROUP_ROWS + 1]
        last = int(np.searchsorted(some, int(some[0]) + GROUP_TOKENS))
        group = some[: max(1, last) + 1]
        yield group
        first += len(group) - 1
