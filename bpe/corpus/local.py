"""Define LocalEngine, which encodes documents in this process."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from bpe.corpus.documents import Position
from bpe.corpus.encode import DocumentEncoder, Encoded, encoded
from bpe.corpus.options import Options
from bpe.corpus.parts import read_parts
from bpe.corpus.threads import read_ahead
from bpe.tokenizer import Tokenizer


class LocalEngine:
    """Reads in one thread, and encodes in several."""

    def __init__(self, tokenizer: Tokenizer, threads: int | None) -> None:
        self._tokenizer = tokenizer
        self._threads = threads

    def encoded(self, files: list[str], options: Options, start: Position) -> Generator[Encoded]:
        """Yield the encoded documents of `files` from `start` on, in order and in batches."""
        encoder = DocumentEncoder(self._tokenizer, files, options, self._threads)
        with ThreadPoolExecutor(1) as pool:
            for batch in read_ahead(pool, read_parts(files, options, self._tokenizer, start)):
                ids, offsets = encoder.encode(batch)
                yield encoded(batch, ids, offsets, options)
