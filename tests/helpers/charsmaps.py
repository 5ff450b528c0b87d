"""Charsmaps of SentencePiece for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_VALUE = 1 << 31
_HAS_RULE = 1 << 8


def charsmap(rules: Mapping[bytes, str]) -> bytes:
    """Return the charsmap that replaces each key of `rules` with its value.

    A charsmap is a double-array trie of the keys, and a pool of replacements. The array is larger
    than necessary: each node gets its own block of 256 units.
    """
    pool = b""
    units = [0] * 256
    places = {b"": 0}  # for each prefix of a rule, the index of its unit
    values: dict[bytes, int] = {}
    for rule, replacement in rules.items():
        values[rule] = len(pool)
        pool += replacement.encode() + b"\0"
    for start in sorted({rule[:size] for rule in rules for size in range(len(rule) + 1)}):
        place, children = places[start], len(units)
        units += [0] * 256
        units[place] |= (place ^ children) << 10
        units[children] = 1  # the unit for byte 0; its wrong label, 1, means that it has no value
        if start in values:
            units[place] |= _HAS_RULE
            units[children] = _VALUE | values[start]
        for byte in {rule[len(start)] for rule in rules if rule.startswith(start) and rule > start}:
            places[start + bytes([byte])] = children + byte
            units[children + byte] = byte
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + pool
