"""Define `lowercase`, and the sets of characters that the normalizers of tokenizers 0.23.3 use.

The library takes general categories from two old versions of Unicode. Here, a set is stored as
categories of unicodedata2 18.0 and the characters that differ. A test compares all code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import unicodedata2

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""First and last code points, ascending."""


def ranges(listed: str) -> Ranges:
    """Parse a list of hexadecimal code points and ranges, such as "1-8 B"."""
    ranges = [part.partition("-") for part in listed.split()]
    return tuple(sorted((int(first, 16), int(last or first, 16)) for first, _, last in ranges))


class CharacterSet:
    """The characters of some general categories, without `fewer` but with `more`."""

    def __init__(self, categories: tuple[str, ...], more: str, fewer: str) -> None:
        self._categories = categories
        self._more, self._fewer = ranges(more), ranges(fewer)

    @property
    def edges(self) -> set[int]:
        """The code points where membership may change between two characters of one category."""
        return {edge for first, last in self._more + self._fewer for edge in (first, last + 1)}

    def has(self, char: str) -> bool:
        """Return whether the set has `char`."""
        if _within(self._more, char):
            return True
        return unicodedata2.category(char).startswith(self._categories) and not _within(
            self._fewer, char
        )


def _within(ranges: Ranges, char: str) -> bool:
    at = bisect_right(ranges, (ord(char), 0x110000)) - 1
    return at >= 0 and ord(char) <= ranges[at][1]


@lru_cache(maxsize=1 << 14)
def is_in(characters: CharacterSet, char: str) -> bool:
    """Return whether `characters` has `char`; caches results."""
    return characters.has(char)


def _members(listed: str) -> Iterator[int]:
    for first, last in ranges(listed):
        yield from range(first, last + 1)


NMT_DROPPED = tuple(_members("1-8 B E-1F 7F 8F 9F"))
"""Code points that Nmt removes."""
NMT_SPACES = tuple(_members("9-A C-D 20 1680 200B-200F 2028-2029 2581 FEFF FFFD"))
"""Code points that Nmt replaces by U+0020."""

CONTROLS = CharacterSet((), """
0-8 B-C E-1F 7F-9F AD 600-605 61C 6DD 70F 180E 200B-200F 202A-202E 2060-2064 2066-206F E000-F8FF
FEFF FFF9-FFFB FFFD 110BD 1BCA0-1BCA3 1D173-1D17A E0001 E0020-E007F F0000-FFFFD 100000-10FFFD
""", "")  # fmt: skip
"""Characters that BertNormalizer removes to clean a text."""
CHINESE = CharacterSet(
    (), "3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B81F 2B920-2CEAF 2F800-2FA1F", ""
)
"""Characters around which BertNormalizer puts spaces."""
COMBINING_MARKS = CharacterSet(("M",), "1CF2-1CF3", """
5C8-5C9 7FD 897-89F 8CA-8D3 9FE AFA-AFF B53-B55 C04 C3C CF3 D00 D3B-D3C D81 EBA ECE 1715 180F
1ABF-1AF0 1CF7 1DF6-1DFA A82C A8FF 10D24-10D27 10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFF
10F46-10F50 10F82-10F85 11070 11073-11074 110C2 11145-11146 111C9 111CE-111CF 11241 1133B
113B8-113C0 113C2 113C5 113C7-113CA 113CC-113D0 113D2 113E1-113E2 1145E 1182C-1183A 11930-11935
11937-11938 1193B-1193E 11940 11942-11943 119D1-119D7 119DA-119E0 119E4 11A01-11A0A 11A33-11A39
11A3B-11A3E 11A47 11A51-11A5B 11A8A-11A99 11B60-11B67 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45
11D47 11D8A-11D8E 11D90-11D91 11D93-11D97 11DF0 11EF3-11EF6 11F00-11F01 11F03 11F34-11F3A
11F3E-11F42 11F5A 13440 13447-13455 1611E-1612F 16F4F 16F7F-16F87 16FE4 16FF0-16FF1 1CF00-1CF2D
1CF30-1CF46 1D127-1D128 1D250-1D252 1D25B-1D25C 1D25F 1D280-1D281 1E08F 1E130-1E136 1E2AE
1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5
""")  # fmt: skip
"""Characters that StripAccents removes: category M of Unicode 9."""
NONSPACING_MARKS = CharacterSet(("Mn",), "1734 1171E", """
5C8-5C9 7FD 897-89F 8CA-8E1 9FE AFA-AFF B53-B55 C04 C3C D00 D3B-D3C D81 EBA ECE 180F 1885-1886
1ABF-1AF0 1DF6-1DFB A82C A8C5 A8FF A9BD 10D24-10D27 10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFF
10F46-10F50 10F82-10F85 11070 11073-11074 110C2 111C9 111CF 1123E 11241 1133B 113BB-113C0 113CE
113D0 113D2 113E1-113E2 11438-1143F 11442-11444 11446 1145E 1182F-11837 11839-1183A 1193B-1193C
1193E 11943 119D4-119D7 119DA-119DB 119E0 11A01-11A0A 11A33-11A38 11A3B-11A3E 11A47 11A51-11A56
11A59-11A5B 11A8A-11A96 11A98-11A99 11B60 11B62-11B64 11B66 11C30-11C36 11C38-11C3D 11C3F
11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47
11D90-11D91 11D95 11D97 11DF0 11EF3-11EF4 11F00-11F01 11F36-11F3A 11F40 11F42 11F5A 13440
13447-13455 1611E-16129 1612D-1612F 16F4F 16FE4 1CF00-1CF2D 1CF30-1CF46 1D127-1D128 1D25B-1D25C
1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF
1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5 1E944-1E94A
""")  # fmt: skip
"""Characters that BertNormalizer removes after NFD: category Mn of Unicode 8."""

# The capital letters that are new in Unicode 14 to 17, and the small letter of the first letter of
# each range. Python 3.10 has Unicode 13, so its str.lower does not know these letters.
_NEW_CAPITALS = """
1C89:1C8A 2C2F:2C5F A7C0:A7C1 A7CB:264 A7CC:A7CD A7CE:A7CF A7D0:A7D1 A7D2:A7D3 A7D4:A7D5 A7D6:A7D7
A7D8:A7D9 A7DA:A7DB A7DC:19B 10570-1057A:10597 1057C-1058A:105A3 1058C-10592:105B3 10594-10595:105BB
10D50-10D65:10D70 16EA0-16EB8:16EBB
"""
_SMALL_LETTERS = {
    chr(code): chr(int(small, 16) + code - first)
    for capitals, _, small in (part.partition(":") for part in _NEW_CAPITALS.split())
    for first, last in ranges(capitals)
    for code in range(first, last + 1)
}


def lowercase(char: str) -> str:
    """Return the lower case of one character in Unicode 17; it may be several characters."""
    return _SMALL_LETTERS.get(char) or char.lower()
