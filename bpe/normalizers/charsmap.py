"""Charsmap: the replacement rules of a SentencePiece normalizer, which are stored as a trie.

The blob (`precompiled_charsmap` of a model) has three parts: the size of the trie in bytes, the
trie, and the replacements. A zero byte ends each replacement. The size and the units of the trie
are little-endian words of 32 bits.

The trie is a double array of darts-clone. A unit with bit 31 holds the offset of a replacement. Any
other unit has a label in bits 0 to 7. Bit 8 says that a rule ends at the unit. Bits 10 to 30 give
the distance to the children of the unit; bit 9 says that the distance is multiplied by 256. The
child for a byte is at index ^ distance ^ byte, and has this byte as its label. If a rule ends at
the unit, the offset of the replacement is at index ^ distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from bpe.errors import VocabularyError
from bpe.once import once
from pretok.machine.backend import backend

MAX_RULE_BYTES = 256
"""The maximal size of the text that a rule replaces; in published models it is some 20 bytes."""
MAX_RULE_GROWTH = 1024
"""The maximal number of bytes that a rule makes of one byte; in published models it is 13."""

_VALUE = 1 << 31
_HAS_RULE = 1 << 8
_ROOT = 0


class Charsmap:
    """Finds the rules that match at an offset of a text, in time linear in the longest rule.

    `growth` is the maximal number of bytes that a rule makes of one byte, if each space becomes
    three bytes; at least 1. Raises VocabularyError if the blob is malformed.
    """

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        if len(blob) < 4 or size < 1024 or size % 1024 or size > len(blob) - 4:
            raise VocabularyError(
                f"the charsmap has {len(blob)} bytes, and a trie of {size} bytes; expected a trie "
                "whose size is a multiple of 1024 and fits into the charsmap; the file is damaged"
            )
        self._packed_units = np.frombuffer(blob, "<u4", size // 4, 4)
        self._pool = blob[4 + size :]
        _check_pool(self._pool)
        if backend() == "native":
            from pretok import _core

            problem, self.growth = _core.check_charsmap(blob)
            if problem:
                raise _malformed(problem)
        else:
            self.growth = _check(self._packed_units, self._replacements)

    @once
    def _units(self) -> list[int]:
        units: list[int] = self._packed_units.tolist()
        return units

    @once
    def _replacements(self) -> dict[int, str]:
        """The replacements by their offsets; a zero byte ends each replacement."""
        parts = self._pool[:-1].decode().split("\0") if self._pool else []
        starts = accumulate((len(part.encode()) + 1 for part in parts), initial=0)
        return dict(zip(starts, parts, strict=False))

    def longest(self, text: bytes, at: int) -> tuple[int, str]:
        """Return the size of the longest rule that matches at byte `at`, and its replacement.

        The size is in bytes, and 0 if no rule matches.
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
    """Return the distance from the unit `unit` to its children, to be combined with ^."""
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def _check_pool(pool: bytes) -> None:
    """Raise VocabularyError if the last replacement has no end, or one is not UTF-8."""
    if pool and pool[-1] != 0:
        raise VocabularyError("the last replacement of the charsmap has no end; it is truncated")
    try:
        pool.decode()
    except UnicodeDecodeError as error:
        at = pool.rfind(b"\0", 0, error.start) + 1
        raise VocabularyError(
            f"the replacement at byte {at} of the charsmap is not UTF-8; the file is damaged"
        ) from None


def _check(units: NDArray[np.uint32], replacements: dict[int, str]) -> int:
    """Return the growth of the rules.

    Raises VocabularyError if a rule is too long, cuts a character, has no replacement, or grows a
    text too much. `Charsmap::find_problem` (cpp/core/normalize/charsmap.cpp) does the same in C++.
    """
    # Each round goes one level down the trie. A row of `nodes` is a node of this level: (base of
    # its children, number of bytes that the current UTF-8 character still lacks). The child for a
    # byte is at index base ^ byte.
    nodes = np.array([[_children(int(units[_ROOT])), 0]], np.int64)
    labels = np.arange(256, dtype=np.int64)
    known = np.array(sorted(replacements), np.int64)
    # The size of each replacement, in bytes, if a space has three bytes.
    texts = (replacements[at] for at in known.tolist())
    sizes = np.array([len(text.encode()) + 2 * text.count(" ") for text in texts], np.int64)
    growth = 1
    for size in range(1, MAX_RULE_BYTES + 1):
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
        made = sizes[np.searchsorted(known, values & ~_VALUE)].max(initial=0)
        growth = max(growth, -(-int(made) // size))
        if growth > MAX_RULE_GROWTH:
            raise _malformed(f"has a rule that makes more than {MAX_RULE_GROWTH} bytes of one")
        nodes = np.unique(np.stack([below, lacks], 1), axis=0)
        if not len(nodes):
            return growth
    raise _malformed(f"has rules of more than {MAX_RULE_BYTES} bytes")


def _lacking(lacks: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many bytes a character lacks after the byte `label`; -1 if it is not UTF-8.

    Before `label`, the character lacks `lacks` bytes; 0 means that `label` begins a character.
    """
    begins = np.select(
        [label < 0x80, label < 0xC2, label < 0xE0, label < 0xF0, label < 0xF5], [0, -1, 1, 2, 3], -1
    )
    is_continuation = (label & 0xC0) == 0x80
    result: NDArray[np.int64] = np.where(
        lacks == 0, begins, np.where(is_continuation, lacks - 1, -1)
    )
    return result


def _malformed(problem: str) -> VocabularyError:
    return VocabularyError(f"the trie of the charsmap {problem}; the file is damaged")
