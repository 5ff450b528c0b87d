"""Normalize text to NFC of Unicode 9, as Hugging Face's tokenizers does.

cpp/core/unicode/nfc.hpp is the C++ version, with the same results.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import unicodedata2

# Characters newer than Unicode 9 that the NFC of a later version reorders or composes. The library
# tokenizers 0.23 keeps them, and moves no character past them. The list is the result of comparing
# tokenizers 0.23 with unicodedata2 18.0.
_LEFT_ALONE = """
5C8-5C9 7FD 897-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1AF0 1DF6-1DFA A82C 105C9 105D2 105DA
105E4 10D24-10D27 10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFB 10EFD-10EFF 10F46-10F50
10F82-10F85 11070 1133B 11382-11385 1138B 1138E 11390-11391 113B8 113BB 113C2 113C5 113C7-113C9
113CE-113D0 1145E 11839-1183A 11930 11935 11938 1193D-1193E 11943 119E0 11A34 11A47 11A99 11D42
11D44-11D45 11D97 11F41-11F42 1611E-16129 1612F 16D63 16D67-16D6A 16FF0-16FF1 1D127-1D128
1D250-1D252 1D25B-1D25C 1D25F 1D280-1D281 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF
1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5
"""


@cache
def left_alone() -> frozenset[str]:
    """Return the characters that NFC of Unicode 9 keeps, and that no character moves past."""
    ranges = [part.partition("-") for part in _LEFT_ALONE.split()]
    return frozenset(
        chr(code)
        for first, _, last in ranges
        for code in range(int(first, 16), int(last or first, 16) + 1)
    )


def is_normal(text: str) -> bool:
    """Return True only if `text` is in NFC of Unicode 9; the check is fast for such text.

    May return False for text in NFC that has characters newer than Unicode 9.

    >>> is_normal("café"), is_normal("cafe\\u0301")
    (True, False)
    """
    # The check may use the Unicode version of Python: text that is in NFC of a later version is
    # also in NFC of Unicode 9.
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def normalize(text: str) -> str:
    """Return `text` in NFC.

    >>> normalize("cafe\\u0301")
    'café'
    """
    if is_normal(text):
        return text
    return "".join(
        run if run in left_alone() else unicodedata2.normalize("NFC", run) for run in _runs(text)
    )


def _runs(text: str) -> Iterator[str]:
    """Yield `text` in runs; each character of _LEFT_ALONE is a run of its own."""
    start = 0
    for at in [at for at, char in enumerate(text) if char in left_alone()]:
        if start < at:
            yield text[start:at]
        yield text[at]
        start = at + 1
    if start < len(text):
        yield text[start:]


def alignment(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return `text` in NFC, and the span in `text` of each code point of the result.

    The span of a composed or reordered code point covers the base character and all its marks.
    """
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    bounds = [at for at, char in enumerate(text) if at == 0 or not _joins(char)]
    for start, end in pairwise([*bounds, len(text)]):
        part = text[start:end]
        normal = normalize(part)
        parts.append(normal)
        if normal == part:
            spans += [(at, at + 1) for at in range(start, end)]
        else:
            spans += [(start, end)] * len(normal)
    return "".join(parts), spans


def _joins(char: str) -> bool:
    """Return whether NFC may compose or reorder `char` with the character before it."""
    return char >= "\u0300" and (unicodedata2.combining(char) != 0 or char in _joining_starters())


@cache
def _joining_starters() -> frozenset[str]:
    """Return the characters of combining class 0 that NFC may compose with an earlier character."""
    # The vowels and final consonants of Hangul, which compose by arithmetic. All other characters
    # that compose with an earlier one are in the decomposition of another character.
    joining = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for code in range(0x110000):
        text = unicodedata2.decomposition(chr(code))
        if not text or text.startswith("<"):
            continue
        first, *rest = (chr(int(part, 16)) for part in text.split())
        joining.update(rest)
        # Three Tibetan vowels have combining class 0, but decompose to marks of another class.
        if unicodedata2.combining(first) != 0:
            joining.add(chr(code))
    return frozenset(joining)
