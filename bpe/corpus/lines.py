"""Parse the lines of files: lines of JSON, and lines of text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bpe.corpus.long_lines import long_json_text
from bpe.corpus.utf8_check import Utf8Check
from bpe.encoding.packed import PackedTexts
from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.text_files import split_lines, text_of_line
from pretok.machine.backend import native_core

Known: TypeAlias = tuple[PackedTexts, NDArray[np.bool_]]
"""The documents of lines, and a flag for each line that says whether it was parsed."""


class JsonLines:
    """Each line is a JSON object. Its member `field` holds the document.

    A long line is read in blocks. All its bytes other than the document stay in memory, so they may
    be at most `max_rest` bytes.
    """

    def __init__(self, field: str, max_rest: int) -> None:
        self._field = field
        self._max_rest = max_rest
        core = native_core()
        self._native = core and core.json_texts

    def texts(self, block: bytes) -> Known:
        """Return the documents of the lines of `block`, and a flag for each line.

        The flag is False if the parser in C++ could not parse the line. The document then means
        nothing, and the caller must pass the line to `text`.
        """
        if self._native is None:
            return _unknown(len(split_lines(block)))
        name = self._field.encode("utf-8", "surrogatepass")
        data, offsets, is_known = self._native(block, name)
        return PackedTexts(data, offsets), is_known.view(bool)

    def text(self, line: bytes, where: str) -> bytes | None:
        """Return the document of a line, or None if the line is blank.

        Raises TextFileError if the line is malformed; its message names the place `where`.
        """
        return encode_utf8(text_of_line(line, self._field, where)) if line.strip() else None

    def long_text(self, blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
        """Yield the document of a long line in parts."""
        return long_json_text(blocks, self._field, where, self._max_rest)


class TextLines:
    """Each line is a document, without its LF or CRLF."""

    def texts(self, block: bytes) -> Known:
        """Return the lines. If `block` is not UTF-8, all flags are False."""
        lacks_feed = bool(block) and not block.endswith(b"\n")
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
            if lacks_feed:
                block = block.removesuffix(b"\r")
        feeds = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
        ends = feeds - np.arange(len(feeds))
        if lacks_feed:
            ends = np.append(ends, len(block) - len(feeds))
        if not _is_utf8(block):
            return _unknown(len(ends))
        texts = PackedTexts(block.replace(b"\n", b""), np.concatenate([[0], ends]))
        return texts, np.ones(len(ends), bool)

    def text(self, line: bytes, where: str) -> bytes | None:
        """Return the line; raise TextFileError if it is not UTF-8."""
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(where, error) from None
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
            raise not_utf8(where, error) from None


LineParser: TypeAlias = JsonLines | TextLines


def _is_utf8(block: bytes) -> bool:
    """Return whether `block` is UTF-8."""
    check = Utf8Check()
    check.add(block)
    return check.is_complete


def _unknown(count: int) -> Known:
    """Return the result of `texts` if it could parse none of `count` lines."""
    return PackedTexts(b"", np.zeros(count + 1, np.int64)), np.zeros(count, bool)


def not_utf8(where: str, error: UnicodeDecodeError, offset: str = "") -> TextFileError:
    """Return the error for a document that is not UTF-8."""
    return TextFileError(
        f"{where}: byte 0x{error.object[error.start]:02x}{offset} is not UTF-8; convert the file "
        "to UTF-8, or pass skip_bad=True to leave this document out"
    )
