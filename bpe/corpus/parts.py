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
    for batch in read_batches(files, options, start, sizes.append):
        blocks = batch.blocks
        parts = [batch] if blocks is None else _parts(batch, blocks, files, options, tokenizer)
        for part in parts:
            part.read = sum(sizes.popleft() for _ in range(len(sizes)))
            yield part


def is_held_out(text: bytes, options: Options) -> bool:
    """Return whether a document that begins with `text` belongs to the split for validation."""
    if not options.validation:
        return False
    digest = blake2b(text[:HASHED], digest_size=8).digest()
    return int.from_bytes(digest, "little") < options.validation * 2.0**64


def _parts(
    batch: Batch,
    blocks: Iterator[bytes],
    files: Sequence[str],
    options: Options,
    tokenizer: Tokenizer,
) -> Iterator[Batch]:
    """Yield a batch for each part of the long document of `batch`, which comes in `blocks`.

    Parts end only where `Tokenizer._safe_cut` allows it: a cut there does not change the ids. Each
    yielded batch has the `lines` and the `position` of `batch`. Only the last yielded batch also
    has the other attributes of `batch`, such as `skipped`.
    """
    done, held_out, rest = 0, False, b""
    origin = batch.origin(0)
    try:
        head = next(joined(blocks, HASHED), b"")
        held_out = is_held_out(head, options)
        texts = cut_parts(
            chain([head], blocks),
            lambda text: tokenizer._safe_cut(text, options.special),
            PART,
            options.max_text,
            lambda: TextFileError(
                f"{files[origin.file]}, line {origin.line}: the document has more than "
                f"{options.max_text} bytes that must be encoded as a whole; split it, or pass a "
                "larger max_text="
            ),
        )
        for text, is_last in texts:
            if is_last:
                rest = text
            else:
                part = DocumentPart(done, False, held_out)
                packed = PackedTexts.of([text])
                yield Batch(packed, batch.lines, position=batch.position, part=part)
                done += len(text)
        part, skipped = DocumentPart(done, True, held_out), batch.skipped
    except TextFileError as error:
        if not options.skip_bad:
            raise
        part = DocumentPart(done, True, held_out, is_whole=False)
        rest, skipped = b"", [*batch.skipped, str(error)]
    yield replace(batch, texts=PackedTexts.of([rest]), skipped=skipped, blocks=None, part=part)
