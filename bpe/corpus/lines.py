"""Parse the lines of files: lines of JSON, and lines of text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Protocol

from bpe.corpus.long_lines import long_json_text
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.text_files import split_lines, text_of_line


class LineParser(Protocol):
    """Finds the document of each line."""

    def texts(self, block: bytes) -> list[bytes | None]:
        """Return the document of each line of `block`, or None for lines that `text` must read."""
        ...

    def text(self, line: bytes, where: str) -> bytes | None:
        """Return the document of a line, or None if it is blank.

        Raises TextFileError, which names `where`.
        """
        ...

    def long_text(self, blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
        """Yield the document of a long line in parts; raise TextFileError, which names `where`."""
        ...


class JsonLines:
    """Each line is a JSON object, with the document under one of its names.

    A long line may have `max_rest` bytes besides its document.
    """

    def __init__(self, field: str, max_rest: int) -> None:
        self._field = field
        self._max_rest = max_rest
        try:
            from pretok import _core
        except ImportError:
            self._native = None
        else:
            self._native = _core.json_texts

    def texts(self, block: bytes) -> list[bytes | None]:
        """Return the documents of the lines that the native parser reads, else None."""
        if self._native is None:
            return [None] * len(split_lines(block))
        return self._native(block, self._field.encode("utf-8", "surrogatepass"))

    def text(self, line: bytes, where: str) -> bytes | None:
        """Return the document of a line, or None if it is blank."""
        return encode_utf8(text_of_line(line, self._field, where)) if line.strip() else None

    def long_text(self, blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
        """Yield the document of a long line in parts."""
        return long_json_text(blocks, self._field, where, self._max_rest)


class TextLines:
    """Each line is a document, without its LF or CRLF."""

    def texts(self, block: bytes) -> list[bytes | None]:
        """Return the lines, or a None for each if `block` is not UTF-8."""
        lines = split_lines(block)
        try:
            block.decode()
        except UnicodeDecodeError:
            return [None] * len(lines)
        return [line.removesuffix(b"\r") for line in lines]

    def text(self, line: bytes, where: str) -> bytes | None:
        """Return the line; raise TextFileError if it is not UTF-8."""
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(where, error) from None
        return line.removesuffix(b"\r")

    def long_text(self, blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
        """Yield the line in parts, without a CR at its end."""
        decode = codecs.getincrementaldecoder("utf-8")().decode
        held = b""
        try:
            for block in blocks:
                decode(block)
                block = held + block
                held = b"\r" if block.endswith(b"\r") else b""
                yield block.removesuffix(held)
            decode(b"", True)
        except UnicodeDecodeError as error:
            raise _not_utf8(where, error) from None


def _not_utf8(where: str, error: UnicodeDecodeError) -> TextFileError:
    return TextFileError(
        f"{where}: byte 0x{error.object[error.start]:02x} is not UTF-8; convert the file to UTF-8, "
        "or pass skip_bad=True to leave this document out"
    )
