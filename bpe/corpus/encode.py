"""Encode batches of documents, and long documents in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.documents import Batch, Position
from bpe.corpus.free_memory import MemoryTrimmer
from bpe.corpus.options import Options, special_of
from bpe.errors import CorpusError, SpecialTokenError, TextFileError, UnknownTokenError, shortened
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets

PART = 4 << 20
"""The least size of a part of a long document in bytes."""


class DocumentEncoder:
    """Encodes documents; errors name the file and the line."""

    def __init__(
        self, tokenizer: Tokenizer, files: Sequence[str], options: Options, threads: int | None
    ) -> None:
        self._tokenizer = tokenizer
        self._files = files
        self._special = special_of(options)
        self._max_text = options.max_text
        self._threads = threads
        self._memory = MemoryTrimmer()

    def encode(self, batch: Batch) -> tuple[Ids, Offsets]:
        """Return the ids of the documents of `batch`, and their offsets."""
        self._memory.add(sum(map(len, batch.texts)))
        try:
            return self._tokenizer.encode_batch_array(
                batch.texts, self._special, threads=self._threads
            )
        except SpecialTokenError as error:
            raise self._refused(batch.origin(error.text_index or 0), error, 0) from None
        except UnknownTokenError:
            for index, text in enumerate(batch.texts):
                self._encode_part(text, batch.origin(index), 0)
            raise

    def encode_blocks(self, blocks: Iterator[bytes], origin: Position) -> Iterator[Ids]:
        """Yield the ids of a document that comes in blocks; they equal those of the whole text."""
        held: list[bytes] = []
        size = done = 0
        enough = PART
        for block in blocks:
            held.append(block)
            size += len(block)
            if size < enough:
                continue
            text = b"".join(held)
            cut = self._tokenizer.safe_cut(text, self._special)
            if cut:
                yield self._encode_part(text[:cut], origin, done)
            held, size, done = [text[cut:]], size - cut, done + cut
            if size > self._max_text:
                raise TextFileError(
                    f"{self._place(origin)}: the document has more than {self._max_text} bytes "
                    "that must be encoded as a whole; split it, or pass a larger max_text="
                )
            # Without a cut, search again only when the size has doubled, so that the total time
            # stays linear.
            enough = max(PART, 2 * size)
        yield self._encode_part(b"".join(held), origin, done)

    def _encode_part(self, text: bytes, origin: Position, start: int) -> Ids:
        """Return the ids of a part of a document that begins at byte `start`."""
        self._memory.add(len(text))
        try:
            return self._tokenizer.encode_array(text, self._special, threads=self._threads)
        except SpecialTokenError as error:
            raise self._refused(origin, error, start) from None
        except UnknownTokenError as error:
            raise UnknownTokenError(f"{self._place(origin)}: {error}") from None

    def _place(self, origin: Position) -> str:
        return f"{self._files[origin.file]}, line {origin.line}"

    def _refused(self, origin: Position, error: SpecialTokenError, start: int) -> CorpusError:
        return CorpusError(
            f"{self._place(origin)}: the document holds the special token "
            f"{shortened(error.token)} at byte {start + error.position}; pass special='text' to "
            "encode it as ordinary text, or special='allow' to encode it as its id"
        )


def with_ids_around(
    ids: Ids,
    offsets: Offsets,
    before: Sequence[int],
    after: Sequence[int],
    dtype: np.dtype[Any],
) -> tuple[NDArray[np.integer], Offsets]:
    """Return `ids` and `offsets` with the ids `before` and `after` around each document.

    The ids have the type `dtype`.
    """
    count = len(offsets) - 1
    extra = len(before) + len(after)
    if not extra or not count:
        return ids.astype(dtype, copy=False), offsets
    larger: NDArray[np.int64] = offsets + extra * np.arange(count + 1)
    result = np.empty(len(ids) + extra * count, dtype)
    is_text = np.ones(len(result), bool)
    places = [(larger[:-1] + index, id) for index, id in enumerate(before)]
    places += [(larger[1:] - len(after) + index, id) for index, id in enumerate(after)]
    for place, id in places:
        is_text[place] = False
        result[place] = id
    result[is_text] = ids
    return result, larger
