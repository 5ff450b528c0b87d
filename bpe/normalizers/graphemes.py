"""Find the extended grapheme clusters of Unicode 17, as the Rust crate unicode-segmentation does.

The library tokenizers 0.23.3 uses this crate to apply a charsmap. The tables here are the result of
measuring the library with all code points. A flag, which is a pair of regional indicators, is not
joined here. This has no effect: a flag has 8 bytes, and clusters of more than 5 bytes are replaced
character by character.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache

from bpe.normalizers.characters import CharacterSet


class Kind(IntEnum):
    """The kinds of characters that the rules of Unicode Standard Annex 29 distinguish."""

    OTHER = 0
    CONTROL = 1
    CR = 2
    LF = 3
    PREPEND = 4
    EXTEND = 5
    ZWNJ = 6
    ZWJ = 7
    LINKER = 8
    SPACING_MARK = 9
    L = 10
    V = 11
    T = 12
    LV = 13
    LVT = 14
    CONSONANT = 15
    PICTOGRAPHIC = 16


def clusters(text: str) -> Iterator[str]:
    """Yield the clusters of `text`. Takes linear time.

    >>> [len(cluster) for cluster in clusters("e\\u0301a\\r\\n")]
    [2, 1, 2]
    """
    if text.isascii() and "\r\n" not in text:
        yield from text
        return
    start = 0
    left = Kind.CONTROL
    # `before` is the kind of the last consonant or pictograph if only marks follow it, so that the
    # next consonant or pictograph may join it; else OTHER. `has_linker` says that one of these
    # marks is a linker.
    before, has_linker = Kind.OTHER, False
    for at, char in enumerate(text):
        right = kind_of(char)
        joins = _joins(left, right)
        if right == Kind.CONSONANT and before == Kind.CONSONANT:
            joins = joins or has_linker
        elif right == Kind.PICTOGRAPHIC and before == Kind.PICTOGRAPHIC:
            joins = joins or left == Kind.ZWJ
        if not joins and at:
            yield text[start:at]
            start = at
        if right in (Kind.CONSONANT, Kind.PICTOGRAPHIC):
            before, has_linker = right, False
        elif before == Kind.CONSONANT:
            has_linker = has_linker or right == Kind.LINKER
            if right not in (Kind.EXTEND, Kind.ZWJ, Kind.LINKER):
                before = Kind.OTHER
        elif right not in (Kind.EXTEND, Kind.ZWNJ, Kind.ZWJ, Kind.LINKER) or left == Kind.ZWJ:
            before = Kind.OTHER
        left = right
    if text:
        yield text[start:]


# For each kind of character, the kinds of characters that join it if they follow it directly.
_AFTER = {
    Kind.CR: (Kind.LF,),
    Kind.L: (Kind.L, Kind.V, Kind.LV, Kind.LVT),
    **dict.fromkeys((Kind.LV, Kind.V), (Kind.V, Kind.T)),
    **dict.fromkeys((Kind.LVT, Kind.T), (Kind.T,)),
}
_CONTROLS = (Kind.CONTROL, Kind.CR, Kind.LF)
_EXTENDERS = (Kind.EXTEND, Kind.ZWNJ, Kind.ZWJ, Kind.LINKER, Kind.SPACING_MARK)


def _joins(left: Kind, right: Kind) -> bool:
    """Return whether the kinds of two adjacent characters suffice to put them in one cluster."""
    if left in _CONTROLS or right in _CONTROLS:
        return right in _AFTER.get(left, ())
    return left == Kind.PREPEND or right in _EXTENDERS or right in _AFTER.get(left, ())


@lru_cache(maxsize=1 << 14)
def kind_of(char: str) -> Kind:
    """Return the kind of a character; caches results."""
    return next((kind for kind, members in _MEMBERS if members.has(char)), Kind.OTHER)


def edges() -> set[int]:
    """Return the code points where the kind may change between two characters of one category."""
    return {edge for _, members in _MEMBERS for edge in members.edges}


# `_MEMBERS` uses these lists. _NOT_EXTENDING has marks (category M) that are neither EXTEND nor
# SPACING_MARK. _NOT_SPACING has marks of category Mc that are EXTEND, not SPACING_MARK.
_NOT_EXTENDING = """
5C8-5C9 B53-B54 102B-102C 1038 1062-1064 1067-106D 1083 1087-108C 108F 109A-109C 1A61 1A63-1A64
1ADE-1ADF 1AEC-1AF0 AA7B AA7D 10ECB-10ECF 10EF0-10EF9 11720-11721 11DF0 1D127-1D128 1D250-1D252
1D25B-1D25C 1D25F 1D280-1D281
"""
_NOT_SPACING = """
9BE 9D7 B3E B57 BBE BD7 CC0 CC2 CC7-CC8 CCA-CCB CD5-CD6 D3E D57 DCF DDF 1715 1734 1B35 1B3B 1B3D
1B43-1B44 1BAA 1BF2-1BF3 302E-302F A953 A9C0 111C0 11235 1133E 1134D 11357 113B8 113C2 113C5
113C7-113C9 113CF 114B0 114BD 115AF 116B6 11930 1193D 11F41 16FF0-16FF1 1D165-1D166 1D16D-1D172
"""
_CONSONANTS = """
915-939 958-95F 978-97F 995-9A8 9AA-9B0 9B2 9B6-9B9 9DC-9DD 9DF 9F0-9F1 A95-AA8 AAA-AB0 AB2-AB3
AB5-AB9 AF9 B15-B28 B2A-B30 B32-B33 B35-B39 B5C-B5D B5F B71 C15-C28 C2A-C39 C58-C5A D15-D3A
1000-102A 103F 1050-1055 105A-105D 1061 1065-1066 106E-1070 1075-1081 108E 1780-17B3 1A20-1A54
1B0B-1B0C 1B13-1B33 1B45-1B4C 1B83-1BA0 1BAE-1BAF 1BBB-1BBD A989-A98B A98F-A9B2 A9E0-A9E4
A9E7-A9EF A9FA-A9FE AA60-AA6F AA71-AA73 AA7A AA7E-AA7F AAE0-AAEA ABC0-ABDA 10A00 10A10-10A13
10A15-10A17 10A19-10A35 11103-11126 11144 11147 11380-11389 1138B 1138E 11390-113B5 11900-11906
11909 1190C-11913 11915-11916 11918-1192F 11A00 11A0B-11A32 11A50 11A5C-11A83 11F04-11F10
11F12-11F33
"""
_LINKERS = """
94D 9CD ACD B4D C4D D4D 1039 17D2 1A60 1B44 1BAB A9C0 AAF6 10A3F 11133 113D0 1193E 11A47 11A99
11F42
"""
_PREPENDED = """
600-605 6DD 70F 890-891 8E2 D4E 110BD 110CD 111C2-111C3 113D1 1193F 11941 11A84-11A89 11D46 11F02
"""
_PICTOGRAPHS = """
A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA 24C2
25AA-25AB 25B6 25C0 25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626 262A
262E-262F 2638-263A 2640 2642 2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F 2692-2697
2699 269B-269C 26A0-26A1 26A7 26AA-26AB 26B0-26B1 26BD-26BE 26C4-26C5 26C8 26CE-26CF 26D1
26D3-26D4 26E9-26EA 26F0-26F5 26F7-26FA 26FD 2702 2705 2708-270D 270F 2712 2714 2716 271D 2721
2728 2733-2734 2744 2747 274C 274E 2753-2755 2757 2763-2764 2795-2797 27A1 27B0 27BF 2934-2935
2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299 1F004 1F02C-1F02F 1F094-1F09F 1F0AF-1F0B0 1F0C0
1F0CF-1F0D0 1F0F6-1F0FF 1F170-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AE-1F1E5 1F201-1F20F 1F21A
1F22F 1F232-1F23A 1F23C-1F23F 1F249-1F25F 1F266-1F321 1F324-1F393 1F396-1F397 1F399-1F39B
1F39E-1F3F0 1F3F3-1F3F5 1F3F7-1F3FA 1F400-1F4FD 1F4FF-1F53D 1F549-1F54E 1F550-1F567 1F56F-1F570
1F573-1F57A 1F587 1F58A-1F58D 1F590 1F595-1F596 1F5A4-1F5A5 1F5A8 1F5B1-1F5B2 1F5BC 1F5C2-1F5C4
1F5D1-1F5D3 1F5DC-1F5DE 1F5E1 1F5E3 1F5E8 1F5EF 1F5F3 1F5FA-1F64F 1F680-1F6C5 1F6CB-1F6D2
1F6D5-1F6E5 1F6E9 1F6EB-1F6F0 1F6F3-1F6FF 1F7DA-1F7FF 1F80C-1F80F 1F848-1F84F 1F85A-1F85F
1F888-1F88F 1F8AE-1F8AF 1F8BC-1F8BF 1F8C2-1F8CF 1F8D9-1F8FF 1F90C-1F93A 1F93C-1F945 1F947-1F9FF
1FA58-1FA5F 1FA6E-1FAFF 1FC00-1FFFD
"""


def _only(ranges: str) -> CharacterSet:
    return CharacterSet((), ranges, "")


# The kind of a character is the first one here whose set has the character.
_MEMBERS = (
    (Kind.CR, _only("D")),
    (Kind.LF, _only("A")),
    (Kind.ZWJ, _only("200D")),
    (Kind.ZWNJ, _only("200C")),
    (Kind.PREPEND, _only(_PREPENDED)),
    (Kind.LINKER, _only(_LINKERS)),
    (Kind.SPACING_MARK, CharacterSet(("Mc",), "E33 EB3", _NOT_EXTENDING + _NOT_SPACING)),
    (Kind.EXTEND, CharacterSet(("M",), "FF9E-FF9F 1F3FB-1F3FF E0020-E007F", _NOT_EXTENDING)),
    (Kind.CONTROL, CharacterSet(("Cc", "Cf", "Cs", "Zl", "Zp"), "2065 FFF0-FFF8", "")),
    (Kind.L, _only("1100-115F A960-A97C")),
    (Kind.V, _only("1160-11A7 D7B0-D7C6 16D63 16D67-16D6A")),
    (Kind.T, _only("11A8-11FF D7CB-D7FB")),
    (Kind.LV, _only(" ".join(f"{code:X}" for code in range(0xAC00, 0xD7A4, 28)))),
    (Kind.LVT, _only("AC00-D7A3")),
    (Kind.CONSONANT, _only(_CONSONANTS)),
    (Kind.PICTOGRAPHIC, _only(_PICTOGRAPHS)),
)
