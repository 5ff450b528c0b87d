"""Define TokenTexts, the tokens of a byte-level vocabulary as texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bpe.canonical.classes import Classes
from bpe.canonical.pairs import Bits, Pairs
from bpe.encoding.utf8 import MAX_CHAR
from bpe.normalizers.unicode_forms import UnicodeForm, begins_anew, unstable_code_points
from bpe.once import kept

Ids64 = NDArray[np.int64]
MAX_KEPT = 1 << 14
"""The maximal number of tokens and starts of characters whose completions are kept."""


class TokenTexts:
    """Texts that begin with the bytes of each token, and merge so that the token comes first.

    A token that ends inside a character has a text for each class of characters that can complete
    it. `ids`, which ascend, and `texts` are parallel. `inside` has the ids of tokens that begin
    inside a character. `is_open` says for each id whether the token ends inside a character.
    """

    def __init__(self, tokens: dict[int, bytes], size: int, classes: Classes, pairs: Pairs,
                 normalizes: bool) -> None:  # fmt: skip
        """Sort the tokens; `normalizes` says whether the tokenizer applies NFC."""
        self._classes, self._pairs, self.normalizes = classes, pairs, normalizes
        self._tokens = tokens
        self._firsts_by_size: dict[int, Ids64] = {}
        self.is_open: Bits = np.zeros(size, bool)
        self.depends: Bits = np.zeros(size, bool)
        """True for tokens that NFC may change because of the text before them."""
        self.inside: list[int] = []
        self.firsts = np.full(size, -1, np.int64)
        """The class of the first character of each token; -1 if it is incomplete."""
        ids, texts = [], []
        for id, token in sorted(tokens.items()):
            start, end = complete_part(token)
            if start:
                self.inside.append(id)
                continue
            try:
                text = token[:end].decode()
            except UnicodeDecodeError:
                continue
            if end == len(token):
                if self._keeps(id, text):
                    ids.append(id)
                    texts.append(text)
                continue
            self.is_open[id] = True
            for char in self.completions(id, token[end:], text):
                if self._keeps(id, text + char):
                    ids.append(id)
                    texts.append(text + char)
        self.ids: Ids64 = np.array(ids, np.int64)
        self.texts: list[str] = texts
        if ids:
            begins = np.array([ord(text[0]) for text in texts])
            self.firsts[self.ids] = classes.plain[classes.of[begins]]
            self.firsts[self.is_open & (self.firsts >= 0)] = -1

    def _keeps(self, id: int, text: str) -> bool:
        """Return whether NFC keeps the text of a token; record whether text before it matters."""
        if not self.normalizes or text.isascii():
            return True
        if not begins_anew(text[0]):
            self.depends[id] = True
        return self.is_normal(text)

    def completions(self, id: int, start: bytes, before: str) -> Iterator[str]:
        """Yield a character of each class that begins with the bytes `start`, which end the token.

        Merging the token and the rest of the character gives the token first. If NFC is applied, a
        character that it keeps after the text `before` is preferred.
        """
        for class_, first in self._first_completions(id, start):
            if self.is_normal(before + first):
                yield first
                continue
            codes = self._completing_codes(id, start)
            alike = map(chr, codes[self._classes.of[codes] == class_].tolist())
            yield next((char for char in alike if self.is_normal(before + char)), first)

    @kept(MAX_KEPT)
    def _first_completions(self, id: int, start: bytes) -> list[tuple[int, str]]:
        """Return each class of the characters that complete a token, with the first of them."""
        codes = self._completing_codes(id, start)
        classes, firsts = np.unique(self._classes.of[codes], return_index=True)
        return list(zip(classes.tolist(), map(chr, codes[firsts].tolist()), strict=True))

    def _completing_codes(self, id: int, start: bytes) -> Ids64:
        """Return the characters that complete a token; those that NFC never changes come first."""
        found = codes_beginning(start)
        codes: Ids64 = found[self._classes.of[found] != self._classes.surrogate]
        if not len(codes) or not self._pairs.is_made[id]:
            return np.zeros(0, np.int64)
        size = len(chr(int(codes[0])).encode()) - len(start)
        rest = codes & ((1 << 6 * size) - 1)
        codes = codes[self._pairs.apart(id)[self._first_ids(size)[rest]]]
        if self.normalizes:
            depends, changes = unstable_code_points()
            codes = codes[~changes[codes]]
            codes = codes[np.argsort(depends[codes], kind="stable")]
        return codes

    def _first_ids(self, size: int) -> Ids64:
        """Return the first id that each string of `size` continuation bytes merges to.

        The index of a string consists of six bits of each byte.
        """
        found = self._firsts_by_size.get(size)
        if found is not None:
            return found
        ends = [self._pairs.merged(bytes([0x80 + end]))[0] for end in range(64)]
        found = np.repeat(np.array(ends, np.int64), 64 ** (size - 1))
        joins = np.zeros((64, 64), bool)
        for first, second in product(range(64), repeat=2):
            joins[first, second] = self._pairs.joins(ends[first], ends[second])
        index = np.arange(64**size)
        has_join = np.zeros(64**size, bool)
        for place in range(size - 1):
            pair = index >> 6 * (size - 2 - place) & 0xFFF
            has_join |= joins[pair >> 6, pair & 63]
        for at in np.flatnonzero(has_join).tolist():
            data = bytes(0x80 | at >> 6 * (size - 1 - place) & 63 for place in range(size))
            found[at] = self._pairs.merged(data)[0]
        self._firsts_by_size[size] = found
        return found

    def is_normal(self, text: str) -> bool:
        """Return whether NFC keeps a text, if it is applied."""
        return not self.normalizes or UnicodeForm("NFC").normalize(text) == text

    def end_of_normal(self, text: str) -> str | None:
        """Return the end of a text that NFC may join with more text; None if NFC changes it."""
        if not self.is_normal(text):
            return None
        at = len(text)
        while at:
            at -= 1
            if begins_anew(text[at]):
                break
        return text[at:]

    def places(self, id: int) -> range:
        """Return the places of an id in `ids`."""
        return range(*np.searchsorted(self.ids, (id, id + 1)).tolist())

    def of(self, id: int, before: str) -> list[str]:
        """Return the texts of an id, with characters that NFC keeps after the text `before`."""
        if not self.is_open[id]:
            return [self.texts[at] for at in self.places(id)]
        token = self._tokens[id]
        _, end = complete_part(token)
        text = token[:end].decode()
        return [text + char for char in self.completions(id, token[end:], before + text)]


def complete_part(data: bytes) -> tuple[int, int]:
    """Return the start of the first character of `data`, and the end of the last complete one.

    The start is not 0 if `data` begins with continuation bytes.
    """
    start = 0
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    for size in range(1, min(MAX_CHAR - 1, len(data)) + 1):
        byte = data[-size]
        if byte & 0xC0 != 0x80:
            needed = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return start, len(data) - size if needed > size else len(data)
    return start, len(data)


def codes_beginning(start: bytes) -> Ids64:
    """Return the code points whose UTF-8 begins with the bytes `start` of an incomplete one."""
    lead = start[0]
    size = 2 if 0xC2 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4
    if not 0xC2 <= lead <= 0xF4:
        return np.zeros(0, np.int64)
    code = lead & (0xFF >> (size + 1))
    for byte in start[1:]:
        code = code << 6 | (byte & 0x3F)
    rest = 6 * (size - len(start))
    codes = np.arange(code << rest, (code + 1) << rest, dtype=np.int64)
    lowest = {2: 0x80, 3: 0x800, 4: 0x10000}[size]
    is_valid = (codes >= lowest) & (codes < 0x110000) & ~((codes >= 0xD800) & (codes < 0xE000))
    return codes[is_valid]
