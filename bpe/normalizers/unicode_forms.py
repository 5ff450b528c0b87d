"""Define UnicodeForm: NFC, NFD, NFKC and NFKD of Unicode 9, as in Hugging Face's tokenizers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from bpe.normalizers.aligned_text import AlignedText, Change
from bpe.normalizers.growth import Growth
from bpe.normalizers.step import TextStep

FormName: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[FormName, ...] = ("NFC", "NFD", "NFKC", "NFKD")
COMPATIBLE_GROWTH, CANONICAL_GROWTH = 11, 3

MIN_DECOMPOSED = 0xC0
"""No smaller character has a canonical decomposition."""
MAX_CODE_POINT = 0x10FFFF
FIRST_MARK = "\u0300"
"""No smaller character is a mark, or composes with the character before it."""

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
# Characters newer than Unicode 9 that NFKD of a later version decomposes, besides `left_alone`. The
# library tokenizers 0.23 keeps them. The list is the result of comparing it with unicodedata2 18.0.
_COMPATIBLE = """
558 58B-58C 209D-209F 32FF A7F1-A7F4 AB69 10781-10785 10787-107B0 107B2-107BF 1B123-1B126
1CCD6-1CCF9 1D6A6 1DF95 1DFCD-1DFFF 1E030-1E06D 1F16C 1FBF0-1FBF9
"""


@cache
def left_alone() -> frozenset[str]:
    """Return the characters that NFC of Unicode 9 keeps, and that no character moves past."""
    return _characters(_LEFT_ALONE)


@cache
def _kept(form: FormName) -> frozenset[str]:
    """Return the characters that `form` keeps, and that no character moves past."""
    if form in ("NFC", "NFD"):
        return left_alone()
    return left_alone() | _characters(_COMPATIBLE)


def _characters(listed: str) -> frozenset[str]:
    ranges = [part.partition("-") for part in listed.split()]
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


@dataclass(frozen=True)
class UnicodeForm(TextStep):
    """Converts text to a normal form of Unicode.

    >>> UnicodeForm("NFKC").normalize("ﬁ ①")
    'fi 1'
    """

    type: FormName

    @property
    def name(self) -> str:
        """The form."""
        return self.type

    def __str__(self) -> str:
        return self.type

    def grow(self, growth: Growth) -> None:
        """Add the growth of the longest decomposition."""
        growth.spell(COMPATIBLE_GROWTH if self.type in ("NFKC", "NFKD") else CANONICAL_GROWTH)

    def normalize(self, text: str) -> str:
        """Return `text` in the form."""
        # Python has a later Unicode version. But text that is in its form is also in the form of
        # Unicode 9, so it is kept.
        if text.isascii() or unicodedata.is_normalized(self.type, text):
            return text
        kept = _kept(self.type)
        if kept.isdisjoint(text):
            return str(unicodedata2.normalize(self.type, text))
        parts: list[str] = []
        start = 0
        for at in [at for at, char in enumerate(text) if char in kept]:
            parts += unicodedata2.normalize(self.type, text[start:at]), text[at]
            start = at + 1
        return "".join([*parts, unicodedata2.normalize(self.type, text[start:])])

    def align(self, text: AlignedText) -> AlignedText:
        """Return `text` in the form."""
        if text.text.isascii():
            return text
        changes = self._decomposed(text.chars)
        return text.transformed(_composed(changes) if self.type in ("NFC", "NFKC") else changes)

    def _decomposed(self, chars: list[str]) -> Iterator[Change]:
        """Yield the decomposition of `chars`, with marks in canonical order."""
        marks: list[tuple[int, Change]] = []
        compatible = self.type in ("NFKC", "NFKD")
        for char in chars:
            for index, part in enumerate(_decomposition(char, compatible)):
                change = part, int(index > 0)
                order = _combining(part)
                if order == 0:
                    yield from _in_order(marks)
                    marks = []
                    yield change
                else:
                    marks.append((order, change))
        yield from _in_order(marks)


def _in_order(marks: list[tuple[int, Change]]) -> list[Change]:
    return [change for _, change in sorted(marks, key=lambda mark: mark[0])]


def _composed(changes: Iterator[Change]) -> Iterator[Change]:
    """Yield `changes`, a decomposed text, with characters composed."""
    starter: Change | None = None
    # The marks after `starter` that did not compose, and the combining class of the last one.
    marks: list[Change] = []
    last = 0
    for char, change in changes:
        order = _combining(char)
        if starter is None:
            if order != 0:
                yield char, change
            else:
                starter = char, change
            continue
        if not marks or (order != 0 and last < order):
            composed = _composition(starter[0], char)
            if composed:
                # The composed character also stands for the old characters of `char`.
                starter = composed, starter[1] + change - 1
                continue
        if order == 0:
            yield starter
            yield from marks
            starter, marks = (char, change), []
        else:
            marks.append((char, change))
            last = order
    if starter is not None:
        yield starter
    yield from marks


@lru_cache(maxsize=1 << 14)
def _decomposition(char: str, compatible: bool) -> str:
    if char < "\x80" or char in _kept("NFKD" if compatible else "NFD"):
        return char
    return str(unicodedata2.normalize("NFKD" if compatible else "NFD", char))


def _combining(char: str) -> int:
    if char < "\u0300" or char in left_alone():
        return 0
    return int(unicodedata2.combining(char))


@lru_cache(maxsize=1 << 14)
def _composition(first: str, second: str) -> str:
    """Return the primary composite of two characters, or ""."""
    if first in left_alone() or second in left_alone():
        return ""
    composed = str(unicodedata2.normalize("NFC", first + second))
    if len(composed) != 1:
        return ""
    parts = f"{ord(first):04X} {ord(second):04X}"
    is_hangul = "\uac00" <= composed <= "\ud7a3"
    return composed if is_hangul or unicodedata2.decomposition(composed) == parts else ""


@cache
def _second_characters() -> frozenset[str]:
    """Return the characters that may compose with the character before them."""
    jamo = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))
    seconds = {chr(code) for code in jamo}
    for code in range(MIN_DECOMPOSED, MAX_CODE_POINT + 1):
        parts = unicodedata2.decomposition(chr(code))
        if " " in parts and parts[0] != "<":
            seconds.add(chr(int(parts.split()[1], 16)))
    return frozenset(seconds)


def begins_anew(char: str) -> bool:
    """Return True only if NFC changes no text before `char` because of it, and vice versa.

    >>> begins_anew("e"), begins_anew("é"), begins_anew("\u0301")
    (True, True, False)
    """
    if char < FIRST_MARK:
        return True
    first = unicodedata2.normalize("NFD", char)[0]
    return not unicodedata2.combining(first) and first not in _second_characters()


@cache
def unstable_code_points() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each code point whether `begins_anew` is false, and whether NFC changes it."""
    depends, changes = (np.zeros(MAX_CODE_POINT + 1, bool) for _ in range(2))
    form = UnicodeForm("NFC")
    seconds = _second_characters()
    for code in range(MIN_DECOMPOSED, MAX_CODE_POINT + 1):
        char = chr(code)
        if unicodedata2.combining(char) or char in seconds or unicodedata2.decomposition(char):
            depends[code] = not begins_anew(char)
            changes[code] = form.normalize(char) != char
    return depends, changes
