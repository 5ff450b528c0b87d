"""Encode batches of documents, and parts of long documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.documents import NO_TEXTS, Batch, Position
from bpe.corpus.options import Options
from bpe.corpus.parts import is_held_out
from bpe.errors import CorpusError, SpecialTokenError, UnknownTokenError, shortened
from bpe.tokenizer import Tokenizer
from bpe.types import Ids, Offsets

Tokens = NDArray[np.integer]


@dataclass
class Encoded:
    """The tokens of a batch, as shards store them."""

    batch: Batch
    """The batch without its texts."""
    size: int
    """The size of the texts in bytes."""
    tokens: Tokens
    """The ids of the texts. A whole document includes the ids that `Options` puts around it."""
    offsets: Offsets
    """n + 1 offsets of n texts: text i has tokens[offsets[i]:offsets[i + 1]]."""
    held_out: NDArray[np.bool_] | None
    """An item is True if its document is in the split for validation.

    None without this split. Also None for a part of a long document; see `DocumentPart`.
    """


class DocumentEncoder:
    """Encodes documents in the calling thread; errors name the file and the line."""

    def __init__(self, tokenizer: Tokenizer, files: Sequence[str], options: Options) -> None:
        self._tokenizer = tokenizer
        self._files = files
        self._options = options
        self._special = options.special

    def encode(self, batch: Batch) -> Encoded:
        """Return the tokens of `batch`."""
        options, held_out = self._options, None
        ids, offsets = self._ids(batch)
        tokens: Tokens = ids.astype(options.dtype, copy=False)
        if batch.part is None:
            tokens, offsets = with_ids_around(ids, offsets, options)
            if options.validation:
                chosen = (is_held_out(text, options) for text in batch.texts)
                held_out = np.fromiter(chosen, bool, len(batch.texts))
        size = batch.texts.size
        return Encoded(replace(batch, texts=NO_TEXTS), size, tokens, offsets, held_out)

    def _ids(self, batch: Batch) -> tuple[Ids, Offsets]:
        """Return the ids of the texts of `batch`, and their offsets."""
        if batch.part is not None:
            ids = self._encode_part(batch.texts[0], batch.origin(0), batch.part.start)
            return ids, np.array([0, len(ids)])
        try:
            texts = batch.texts
            return self._tokenizer.encode_packed(
                texts.data, texts.offsets, self._special, threads=1
            )
        except SpecialTokenError as error:
            raise self._refused(batch.origin(error.text_index or 0), error, 0) from None
        except UnknownTokenError:
            # Encode each document alone: the error of the bad one names its place.
            for index, text in enumerate(batch.texts):
                self._encode_part(text, batch.origin(index), 0)
            raise

    def _encode_part(self, text: bytes, origin: Position, start: int) -> Ids:
        """Return the ids of the part of a document whose first byte is at offset `start`."""
        try:
            return self._tokenizer._encode_part(text, self._special, is_first=start == 0)
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


def with_ids_around(ids: Ids, offsets: Offsets, options: Options) -> tuple[Tokens, Offsets]:
    """Return `ids` and `offsets` with the ids that `options` puts around each document."""
    before, after, dtype = options.before, options.after, np.dtype(options.dtype)
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
