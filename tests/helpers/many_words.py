"""Texts with a given number of different words, and a vocabulary for them."""

from __future__ import annotations

from bpe import Vocabulary
from vocabularies import BYTES

TOKENS = [b"th", b"he", b" the", b"12", b"  ", b"ab", b"\r\n", "中".encode()]
VOCABULARY = Vocabulary(BYTES | dict(enumerate(TOKENS, 256)))

LETTERS = str.maketrans("0123456789", "ghijklmnop")


def words(count: int, first: int = 0) -> str:
    """Return a text of `count` different words.

    Every fifth word is long and has Chinese characters. The words have consecutive numbers from
    `first` on. Each number has its own word, so texts without common numbers share no word.
    """
    parts = []
    for number in range(first, first + count):
        word = f" {number:x}".translate(LETTERS)
        parts.append(word if number % 5 else f"{word}{'long' * 6},{chr(0x4E00 + number % 20000)}中")
    return "".join(parts)
