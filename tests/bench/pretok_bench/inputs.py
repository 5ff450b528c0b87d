"""Read or generate the texts to measure with, and cut them into documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pretok.errors import PretokError, short_path
from pretok.files import naming
from pretok_bench.text import SIZE, generated_texts

BLOCK = 1 << 24
"""The number of bytes of a file to read at a time."""
MAX_BYTES = 1 << 32
"""The maximum size of a file in bytes."""
DOCUMENT = 3000
"""The maximum number of code points of a document. Most documents are nearly this long."""


def read_texts(files: Sequence[Path], max_size: int | None = None) -> dict[str, str]:
    """Return the text of each file by the name of the file without suffix.

    If `files` is empty, return generated texts. Truncate each text to `max_size` code points (None:
    no limit). Raises PretokError if a file is empty or not UTF-8, or if two files have the same
    name. Raises OSError if a file cannot be read.
    """
    texts: dict[str, str] = {}
    for path in files:
        if path.stem in texts:
            raise PretokError(f"{path}: another file is also called {path.stem}; rename one")
        texts[path.stem] = _read(path)
    texts = texts or generated_texts(SIZE if max_size is None else min(max_size, SIZE))
    return {name: text[:max_size] for name, text in texts.items()}


def documents(text: str) -> list[str]:
    """Cut `text` into documents of at most DOCUMENT code points.

    Cut after the last line end in the next DOCUMENT code points, or after the last space in the
    second half of these code points, whichever is later. If there is neither, cut after DOCUMENT
    code points.
    """
    parts = []
    start = 0
    while start < len(text):
        end = start + DOCUMENT
        if end < len(text):
            cut = max(text.rfind("\n", start, end), text.rfind(" ", start + DOCUMENT // 2, end))
            end = cut + 1 if cut > start else end
        parts.append(text[start:end])
        start = end
    return parts


def unseen_documents(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return every second text, and the other texts, of which none is equal to another text."""
    seen = list(texts[::2])
    known = set(seen)
    return seen, [text for text in dict.fromkeys(texts[1::2]) if text not in known]


def _bytes_of(path: Path) -> bytes:
    """Return the contents of a file; raises PretokError for a device or too many bytes."""
    if path.is_char_device() or path.is_block_device():
        raise PretokError(f"{short_path(path)}: this is a device; give text files")
    parts: list[bytes] = []
    size = 0
    with naming(path), path.open("rb") as file:
        while part := file.read(BLOCK):
            parts.append(part)
            size += len(part)
            if size > MAX_BYTES:
                raise PretokError(
                    f"{short_path(path)}: more than {MAX_BYTES:,} bytes; give smaller texts"
                )
    return b"".join(parts)


def _read(path: Path) -> str:
    try:
        text = _bytes_of(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PretokError(f"{path}: not UTF-8 at byte {error.start}; give text files") from None
    if not text:
        raise PretokError(f"{path}: empty; give a text to measure with")
    return text
