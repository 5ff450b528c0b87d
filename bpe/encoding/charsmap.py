"""Charsmap: the replacement rules of SentencePiece, which a model stores as a trie.

The blob is the size of a double array in bytes, the double array, and the replacements, each
ended by a zero byte; all numbers are little-endian words of 32 bits. A unit of the double array
(darts-clone) has a label in bits 0 to 7. Bit 8 says that a rule ends at the unit. The bits from 9
on give the distance to the children of the unit. A unit with bit 31 holds the offset of a
replacement instead.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bpe.errors import VocabularyError

MAX_RULE_BYTES = 256
"""A rule has at most this many bytes; the published ones have some twenty."""

_VALUE = 1 << 31
_HAS_RULE = 1 << 8
_ROOT = 0


class Charsmap:
    """Finds rules at a place of a text. Takes time linear in the longest rule.

    Raises VocabularyError if the blob is malformed.
    """

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        if len(blob) < 4 or size < 1024 or size % 1024 or size > len(blob) - 4:
            raise VocabularyError(
                f"the charsmap has {len(blob)} bytes, and a trie of {size} bytes; expected a trie "
                "whose size is a multiple of 1024 and fits into the charsmap; the file is damaged"
            )
        units = np.frombuffer(blob, "<u4", size // 4, 4)
        self._replacements = _replacements(blob[4 + size :])
        _check(units, self._replacements)
        self._units: list[int] = units.tolist()

    def longest(self, text: bytes, at: int) -> tuple[int, str]:
        """Return the size in bytes of the longest rule at `at`, and its replacement.

        The size is 0 if no rule matches.
        """
        rules = list(self._rules(text, at))
        return rules[-1] if rules else (0, "")

    def shortest(self, text: bytes) -> str | None:
        """Return the replacement of the shortest rule that `text` begins with, or None."""
        return next((replacement for _, replacement in self._rules(text, 0)), None)

    def _rules(self, text: bytes, at: int) -> Iterator[tuple[int, str]]:
        """Yield the size and the replacement of each rule that matches at `at`, shortest first."""
        units = self._units
        node = _children(units[_ROOT])
        for end in range(at, min(len(text), at + MAX_RULE_BYTES)):
            byte = text[end]
            unit = units[node ^ byte]
            if unit & (_VALUE | 0xFF) != byte:
                return
            node = node ^ byte ^ _children(unit)
            if unit & _HAS_RULE:
                yield end + 1 - at, self._replacements[units[node] & ~_VALUE]


def _children(unit: int) -> int:
    """Return the distance from a node to its children."""
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def _replacements(pool: bytes) -> dict[int, str]:
    """Return the replacement that begins at each offset after a zero byte, and at offset 0."""
    if pool and pool[-1] != 0:
        raise VocabularyError("the last replacement of the charsmap has no end; it is truncated")
    replacements = {}
    at = 0
    try:
        for part in pool[:-1].split(b"\0") if pool else ():
            replacements[at] = part.decode()
            at += len(part) + 1
    except UnicodeDecodeError:
        raise VocabularyError(
            f"the replacement at byte {at} of the charsmap is not UTF-8; the file is damaged"
        ) from None
    return replacements


def _check(units: NDArray[np.uint32], replacements: dict[int, str]) -> None:
    """Raise VocabularyError if a rule is too long, cuts a character or has no replacement."""
    # A row of `nodes` is (place of the children, number of bytes that the current character lacks).
    nodes = np.array([[_children(int(units[_ROOT])), 0]], np.int64)
    labels = np.arange(256, dtype=np.int64)
    known = np.array(sorted(replacements), np.int64)
    for _ in range(MAX_RULE_BYTES):
        if nodes[:, 0].max(initial=0) >= len(units):
            raise _malformed("points outside of itself")
        targets = nodes[:, :1] ^ labels
        child, label = np.nonzero((units[targets] & (_VALUE | 0xFF)) == labels)
        at = targets[child, label]
        lacks = _lacking(nodes[child, 1], label)
        if (lacks < 0).any():
            raise _malformed("has a rule that is not UTF-8")
        child_units = units[at].astype(np.int64)
        below = at ^ (child_units >> 10 << ((child_units & 1 << 9) >> 6))
        ends = (child_units & _HAS_RULE) != 0
        if below.max(initial=0) >= len(units):
            raise _malformed("points outside of itself")
        values = units[below[ends]].astype(np.int64)
        if (lacks[ends] != 0).any() or (values < _VALUE).any():
            raise _malformed("has a rule that ends within a character or has no replacement")
        if not np.isin(values & ~_VALUE, known).all():
            raise _malformed("refers to a replacement that does not exist")
        nodes = np.unique(np.stack([below, lacks], 1), axis=0)
        if not len(nodes):
            return
    raise _malformed(f"has rules of more than {MAX_RULE_BYTES} bytes")


def _lacking(lacks: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many bytes a character lacks after a byte; -1 if the byte may not follow."""
    begins = np.select(
        [label < 0x80, label < 0xC2, label < 0xE0, label < 0xF0, label < 0xF5],
        [0, -1, 1, 2, 3],
        -1,
    )
    is_continuation = (label & 0xC0) == 0x80
    result: NDArray[np.int64] = np.where(
        lacks == 0, begins, np.where(is_continuation, lacks - 1, -1)
    )
    return result


def _malformed(problem: str) -> VocabularyError:
    return VocabularyError(f"the trie of the charsmap {problem}; the file is damaged")
