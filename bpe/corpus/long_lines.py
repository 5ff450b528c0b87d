"""Read the text of a long line of JSON in parts.

The line is an object, and the text is its member `field`. Only one block of the text is in memory
at a time. All other bytes of the line stay in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from bpe.encoding.utf8 import encode_utf8
from bpe.errors import TextFileError
from bpe.text_files import text_of_line

LONGEST_ESCAPE = 12
r"""The number of bytes of the longest escape, a surrogate pair such as \ud83d\ude00."""
BACKSLASH = ord("\\")
HIGH_SURROGATES = (b"d8", b"d9", b"da", b"db")


def long_json_text(
    blocks: Iterator[bytes], field: str, where: str, max_rest: int
) -> Iterator[bytes]:
    """Yield the text under `field` in parts. `blocks` are the bytes of the line.

    json.loads decodes each part of the text. At the end it parses the line, with an empty string in
    place of the text. Raises TextFileError, which names `where`, if the line is damaged, or has
    more than `max_rest` bytes besides its text. Also raises it if two members may have the name
    `field`, because a name with an escape, such as "t\\u0065xt", is compared only at the end.
    """
    line = _Line(blocks, where, max_rest)
    name = field.encode("utf-8", "surrogatepass")
    key, depth, has_text, has_escaped_key = b"", 0, False, False
    while line.go_to_string():
        between = line.between
        depth += between.count(b"{") + between.count(b"[")
        depth -= between.count(b"}") + between.count(b"]")
        is_value = between.strip() == b":"
        if depth == 1 and is_value and key == name:
            if has_text:
                raise _two_texts(where, field)
            has_text = True
            for part in line.string_parts():
                yield _unescaped(part, field, where)
        else:
            key = line.string()
            has_escaped_key |= depth == 1 and not is_value and b"\\" in key
    # This text is empty if the loop has yielded the text. Otherwise the name has an escape, and the
    # text is in the rest of the line.
    text = text_of_line(line.rest(), field, where)
    if has_text and (text or has_escaped_key):
        raise _two_texts(where, field)
    yield encode_utf8(text)


def _two_texts(where: str, field: str) -> TextFileError:
    return TextFileError(
        f"{where}: this long line has two members {field!r}, or a member name with a backslash "
        "escape; write each name once, without backslash escapes"
    )


def _unescaped(part: bytes, field: str, where: str) -> bytes:
    """Return the text of a part of a JSON string."""
    try:
        text: str = json.loads(f'"{part.decode()}"')
    except ValueError as error:
        raise TextFileError(
            f"{where}: {field!r} is not a JSON string in UTF-8 ({error}); expected an object with "
            f"a text under {field!r}"
        ) from None
    return encode_utf8(text)


class _Line:
    """A line of JSON, read string by string."""

    def __init__(self, blocks: Iterator[bytes], where: str, max_rest: int) -> None:
        self._blocks = blocks
        self._where = where
        self._room = max_rest
        self._data = b""
        self._at = 0  # the offset of the next byte in `_data`
        self._rest: list[bytes] = []  # the pieces of the line that `rest` joins
        self.between = b""
        """The bytes between the previous string and the one that `go_to_string` went to."""

    def go_to_string(self) -> bool:
        """Go to the next string, after its opening quote; return False at the end of the line."""
        parts = []
        while (end := self._data.find(b'"', self._at)) < 0:
            parts.append(self._keep(self._data[self._at :]))
            if not self._read_on(b""):
                return False
        parts.append(self._keep(self._data[self._at : end]))
        self._keep(b'"')
        self._at = end + 1
        self.between = b"".join(parts)
        return True

    def string(self) -> bytes:
        """Return the bytes of the string with its escapes, and go to its end."""
        string = b"".join(map(self._keep, self._parts()))
        self._keep(b'"')
        return string

    def string_parts(self) -> Iterator[bytes]:
        """Yield the string in parts, which do not end within an escape. `rest` leaves it out."""
        yield from self._parts()
        self._keep(b'"')

    def rest(self) -> bytes:
        """Return the line, with an empty string in place of each string of `string_parts`."""
        return b"".join(self._rest)

    def _parts(self) -> Iterator[bytes]:
        while (end := self._end_of_string()) < 0:
            cut = _safe_end(self._data, self._at)
            yield self._data[self._at : cut]
            if not self._read_on(self._data[cut:]):
                raise TextFileError(f"{self._where}: not JSON: a string has no closing quote")
        yield self._data[self._at : end]
        self._at = end + 1

    def _end_of_string(self) -> int:
        """Return the offset of the closing quote in the data, or -1."""
        at = self._at
        while (quote := self._data.find(b'"', at)) >= 0:
            if not _backslashes_before(self._data, quote, self._at) % 2:
                return quote
            at = quote + 1
        return -1

    def _read_on(self, held: bytes) -> bool:
        """Replace the data by `held` and the next block; return False at the end of the line."""
        block = next(self._blocks, None)
        self._data, self._at = held + (block or b""), 0
        return block is not None

    def _keep(self, part: bytes) -> bytes:
        """Add `part` to the rest, and return it."""
        self._room -= len(part)
        if self._room < 0:
            # The limit is the argument `max_text` of bpe.corpus.tokenize.
            raise TextFileError(
                f"{self._where}: the members besides the text are too long; remove some of them, "
                "or pass a larger max_text="
            )
        self._rest.append(part)
        return part


def _backslashes_before(data: bytes, at: int, start: int) -> int:
    """Return the number of backslashes directly before `at`, in data[start:at]."""
    first = at
    while first > start and data[first - 1] == BACKSLASH:
        first -= 1
    return at - first


def _safe_end(data: bytes, start: int) -> int:
    """Return an offset near the end of `data` at which a JSON string can be cut.

    The bytes of the string begin at `start`, not within an escape, and go beyond `data`. The offset
    is neither within an escape, nor between the escapes of a surrogate pair, nor within a sequence
    of UTF-8.
    """
    # A cut at the end of `data` could divide an escape, or a surrogate pair of two escapes. They
    # begin in the last LONGEST_ESCAPE bytes; 4 more bytes are a margin. So cut before the last
    # escape, or before the pair of which it is the second half.
    last = data.rfind(b"\\", max(start, len(data) - LONGEST_ESCAPE - 4))
    if last < 0:
        # Leave out a code point that may be incomplete.
        for cut in range(len(data) - 1, max(start, len(data) - 3) - 1, -1):
            if data[cut] < 0x80:
                break
            if data[cut] >= 0xC0:
                return cut
        return len(data)
    if _backslashes_before(data, last + 1, start) % 2 == 0:
        return last + 1  # after an escaped backslash
    high = data[last - 6 : last] if last - 6 >= start else b""
    # After an even number of backslashes, "u" would be a letter and not part of an escape.
    is_high = high[:2] == b"\\u" and high[2:4].lower() in HIGH_SURROGATES
    if is_high and _backslashes_before(data, last - 5, start) % 2:
        return last - 6
    return last
