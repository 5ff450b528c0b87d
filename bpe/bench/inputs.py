"""The texts to measure with: files, or made-up ones; whole, and cut into documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bpe.bench.text import SIZE, generated_texts
from pretok.errors import PretokError, short_path
from pretok.files import naming

BLOCK = 1 << 24
MOST_BYTES = 1 << 32
DOCUMENT = 3000
"""About how many code points a document has."""


def read_texts(files: Sequence[Path], most: int | None = None) -> dict[str, str]:
    """Return the texts of `files` by name, or made-up ones; of each the first `most` code points.

    Raises PretokError for a file that is empty or not UTF-8, or has the name of another; OSError.
    """
    texts: dict[str, str] = {}
    for path in files:
        if path.stem in texts:
            raise PretokError(f"{path}: the name of another file that is given too; rename one")
        texts[path.stem] = _read(path)
    texts = texts or generated_texts(SIZE if most is None else min(most, SIZE))
    return {name: text[:most] for name, text in texts.items()}


def documents(text: str) -> list[str]:
    """Return `text` cut into documents, at the last line end or space before DOCUMENT if any."""
    found = []
    start = 0
    while start < len(text):
        end = start + DOCUMENT
        if end < len(text):
            cut = max(text.rfind("\n", start, end), text.rfind(" ", start + DOCUMENT // 2, end))
            end = cut + 1 if cut > start else end
        found.append(text[start:end])
        start = end
    return found


def _bytes_of(path: Path) -> bytes:
    if path.is_char_device() or path.is_block_device():
        raise PretokError(f"{short_path(path)}: this is a device; give text files")
    parts: list[bytes] = []
    got = 0
    with naming(path), path.open("rb") as file:
        while part := file.read(BLOCK):
            parts.append(part)
            got += len(part)
            if got > MOST_BYTES:
                raise PretokError(
                    f"{short_path(path)}: more than {MOST_BYTES:,} bytes; give smaller texts"
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
