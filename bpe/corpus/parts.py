"""Read documents in batches, and cut long documents into parts that can be encoded separately."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import chain

from bpe.corpus.documents import START, Batch, DocumentPart, Position, read_batches
from bpe.corpus.options import Options
from bpe.encoding.packed import PackedTexts
from bpe.errors import TextFileError
from bpe.text_files import cut_parts, joined
from bpe.tokenizer import Tokenizer

PART = 1 << 20
"""The minimum size in bytes of each part of a long document except the last part."""
HASHED = 1 << 16
"""A hash of the first bytes of a document, at most HASHED, decides whether the document is for
training or for validation."""


def read_parts(
    files: Sequence[str], options: Options, tokenizer: Tokenizer, start: Position = START
) -> Iterator[Batch]:
    """Yield the documents of `files` from `start` on, long ones in parts.

    The ids of the parts of a document, one after the other, are the ids of the whole document.
    Raises the errors of `read_batches`.
    """
    sizes: deque[int] = deque()  # other threads append to it
    cutter = _Cutter(files, options, tokenizer)
    for batch in read_batches(files, options, start, sizes.append):
        for part in [batch] if batch.blocks is None else cutter.parts(batch, batch.blocks):
            part.read = sum(sizes.popleft() for _ in range(len(sizes)))
            yield part


def is_held_out(text: bytes, options: Options) -> bool:
    """Return whether a document that begins with `text` belongs to the split for validation."""
    if not options.validation:
        return False
    digest = blake2b(text[:HASHED], digest_size=8).digest()
    return int.from_bytes(digest, "little") < options.validation * 2.0**64


class _Cutter:
    """Cuts long documents into parts."""

    def __init__(self, files: Sequence[str], options: Options, tokenizer: Tokenizer) -> None:
        self._files = files
        self._options = options
        self._special = options.special
        self._tokenizer = tokenizer

    def parts(self, batch: Batch, blocks: Iterator[bytes]) -> Iterator[Batch]:
        """Yield a batch for each part of the document of `batch`.

        Each yielded batch has the `lines` and the `position` of `batch`. Only the last yielded
        batch also has the other attributes of `batch`, such as `skipped`.
        """
        done, held_out = 0, False
        try:
            head = next(joined(blocks, HASHED), b"")
            held_out = is_held_out(head, self._options)
            rest = b""
            for text, is_last in self._texts(chain([head], blocks), batch.origin(0)):
                if is_last:
                    rest = text
                else:
                    part = DocumentPart(done, False, held_out)
                    yield Batch(
                        PackedTexts.of([text]), batch.lines, position=batch.position, part=part
                    )
                    done += len(text)
            yield replace(
                batch,
                texts=PackedTexts.of([rest]),
                blocks=None,
                part=DocumentPart(done, True, held_out),
            )
        except TextFileError as error:
            if not self._options.skip_bad:
                raise
            skipped = [*batch.skipped, str(error)]
            part = DocumentPart(done, True, held_out, is_whole=False)
            yield replace(
                batch, texts=PackedTexts.of([b""]), skipped=skipped, blocks=None, part=part
            )

    def _texts(self, blocks: Iterator[bytes], origin: Position) -> Iterator[tuple[bytes, bool]]:
        """Yield the text of each part, and whether it is the last one.

        Parts end only where `Tokenizer._safe_cut` allows it: a cut there does not change the ids.
        """
        return cut_parts(
            blocks,
            lambda text: self._tokenizer._safe_cut(text, self._special, in_parts=True),
            PART,
            self._options.max_text,
            lambda: TextFileError(
                f"{self._files[origin.file]}, line {origin.line}: the document has more than "
                f"{self._options.max_text} bytes that must be encoded as a whole; split it, or "
                "pass a larger max_text="
            ),
        )
