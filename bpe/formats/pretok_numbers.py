"""Read and write the numbers and texts of .pretok files."""

from __future__ import annotations

from bpe.errors import VocabularyError
from bpe.vocabulary import ID_LIMIT


class Reader:
    """Reads values from offset `at` on; raises VocabularyError if one is missing or malformed."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    @property
    def left(self) -> int:
        """The number of bytes after `at`."""
        return len(self.data) - self.at

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if size > self.left:
            raise self.error("ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        """Return a LEB128 number of at most 32 bits, in its shortest form."""
        number = 0
        for shift in range(0, 35, 7):
            if not self.left:
                raise self.error("ends too early")
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                if (shift and not byte) or number >> 32:
                    raise self.error(
                        "has a number of more than 32 bits, or in more bytes than it needs"
                    )
                return number
        raise self.error("has a number of more than 32 bits")

    def count(self, min_size: int) -> int:
        """Return the number of elements of a list, each of at least `min_size` bytes."""
        count = self.number()
        if count > self.left // min_size:
            raise self.error(f"announces {count} elements, more than it can hold")
        return count

    def id(self) -> int:
        """Return a token id."""
        id = self.number()
        if id >= ID_LIMIT:
            raise self.error(f"has id {id}, expected an id below {ID_LIMIT}")
        return id

    def ids(self) -> tuple[int, ...]:
        """Return a list of token ids."""
        return tuple(self.id() for _ in range(self.count(1)))

    def text(self) -> str:
        """Return a text."""
        try:
            return self.take(self.count(1)).decode()
        except UnicodeDecodeError:
            raise self.error("has text that is not UTF-8") from None

    def error(self, problem: str) -> VocabularyError:
        """Return the error for a malformed file; `problem` is a verb phrase about the file."""
        return VocabularyError(f"the file {problem}, at offset {self.at}; pretok did not write it")


def encode_number(number: int) -> bytes:
    """Return `number` as LEB128, in its shortest form."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def encode_text(text: str) -> bytes:
    """Return the size of `text` in bytes, and its UTF-8."""
    data = text.encode()
    return encode_number(len(data)) + data
