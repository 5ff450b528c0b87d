"""The character sets of patterns: properties, escapes, classes and case-insensitive letters."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from pretok.charsets import sets
from pretok.charsets.sets import CharSet, code_points, union
from pretok.patterns.ast import Chars, Node, Repeat
from pretok.preset import Engine


class UnreadablePatternError(ValueError):
    """The pattern is malformed, or has an unsupported construct."""


_CONTROL_SPACE = code_points((0x09, 0x0D), (0x85, 0x85))
PROPERTIES = {
    name: (Chars(chars), Chars(~chars))
    for name, chars in {
        "L": sets.LETTER, "Ll": sets.LOWER, "M": sets.MARK, "N": sets.NUMBER, "Nd": sets.DIGIT,
        "P": sets.PUNCTUATION, "S": sets.SYMBOL, "C": sets.CONTROL | _CONTROL_SPACE,
        "Han": sets.HAN,
    }.items()
}  # fmt: skip
"""Maps the name of a property to the nodes of `\\p{name}` and `\\P{name}`."""
_COMBINED = {
    frozenset({"Lu", "Lt"}): sets.UPPER,
    frozenset({"Lm", "Lo"}): sets.CASELESS,
    frozenset({"Nl", "No"}): sets.NUMBER - sets.DIGIT,
}
"""Maps a combination of properties to the CharSet of its members.

A CharSet can only be a union of atoms (pretok.charsets.sets). The single properties are not such
unions, but their combination is.
"""
OTHER_PROPERTIES = (
    frozenset(["Lu", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nl", "No", "Z", "Zs", "Zl", "Zp", "Cn"])
    | frozenset(["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Cc", "Cf"])
    | frozenset(["Arabic", "Cyrillic", "Devanagari", "Greek", "Hangul", "Hebrew", "Hiragana"])
    | frozenset(["Katakana", "Khmer", "Lao", "Latin", "Myanmar", "Thai"])
)
"""Further properties, which Chars holds by name only, because no CharSet expresses them.

They have the same members in both engines, hf and tiktoken. tests/pretok/patterns/test_parser.py
compares the members.
"""
# Maps (engine, True if \w is inside brackets) to the set of \w. Oniguruma has two tables for \w:
# only the table for \w outside brackets has the superscript digits and the fractions of Latin-1.
WORDS: dict[tuple[Engine, bool], CharSet] = {
    ("hf", False): sets.ONIGURUMA_WORD,
    ("hf", True): sets.ONIGURUMA_WORD - code_points((0xB2, 0xB3), "\xb9", (0xBC, 0xBE)),
    ("tiktoken", False): sets.WORD,
    ("tiktoken", True): sets.WORD,
}
ESCAPED_SETS = {
    "s": Chars(sets.WHITE_SPACE), "S": Chars(~sets.WHITE_SPACE),
    "d": Chars(sets.DIGIT), "D": Chars(~sets.DIGIT),
}  # fmt: skip
NO_LINE_BREAK = Chars(~code_points("\n"))
ESCAPED_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}


MAX_MEMBERS = 32
"""The default of `max_members` in `members`."""


def members(chars: CharSet, max_members: int = MAX_MEMBERS) -> str:
    """Return the code points of `chars` in ascending order.

    Returns "" if `chars` has more than `max_members` code points, or if the code points depend on
    the Unicode version.

    >>> members(code_points("c", "a", "é"))
    'acé'
    """
    bounds = [*(first for first, _ in chars.segments), 0x110000]
    text = ""
    for (first, mask), end in zip(chars.segments, bounds[1:], strict=True):
        if not mask:
            continue
        if end - first > 0x80 + max_members:
            return ""
        for code in range(first, end):
            atoms = sets.ASCII_MASKS[code] if code < 0x80 else sets.ALL_ATOMS
            shared = atoms & mask
            # Outside ASCII, the atom of a code point depends on the Unicode version. So only a mask
            # of all atoms has the code point in every version.
            if shared and (shared != atoms or len(text) == max_members):
                return ""
            if shared:
                text += chr(code)
    return text


@lru_cache(maxsize=512)
def literal(char: str) -> Chars:
    """Return the node that matches only `char`."""
    return Chars(code_points(char))


def only_member(chars: Chars | str) -> str:
    """Return the only code point of `chars`; "" if `members` does not find exactly one.

    A str is returned unchanged.
    """
    if isinstance(chars, str):
        return chars
    return "" if chars.properties else members(chars.chars, max_members=1)


def union_of(items: list[Chars | tuple[int, int]]) -> Chars:
    """Return the union of `items`, with combinations of properties replaced by their CharSet."""
    found: list[CharSet] = []
    ranges: list[tuple[int, int]] = []
    properties: set[str] = set()
    for item in items:
        if isinstance(item, tuple):
            ranges.append(item)
        elif item.negated:
            # Chars cannot express a union with a negated property, so the whole item becomes one
            # property with a name that no pattern can contain. Two unions are then equal only if
            # they are written with the same negated item.
            properties.add(f"not {' '.join(sorted(item.properties))}{item.chars!r}")
        else:
            found.append(item.chars)
            properties |= item.properties
    for combination, charset in _COMBINED.items():
        if combination <= properties:
            found.append(charset)
            properties -= combination
    if ranges:
        found.append(code_points(*ranges))
    return Chars(union(found), frozenset(properties))


# In both engines (?i:s) matches s, S and U+017F, and (?i:k) matches k, K and U+212A.
_NON_ASCII_FOLDS = {"s": "\u017f", "k": "\u212a"}


def folded(chars: Chars) -> Chars:
    """Return the node that `chars` becomes inside `(?i:...)`.

    Raises UnreadablePatternError unless `chars` consists of a few ASCII characters.
    """
    texts = members(chars.chars) if not chars.properties else ""
    if not texts or not texts.isascii():
        raise UnreadablePatternError(
            f"(?i:...) has a set of more than {MAX_MEMBERS} characters or a character outside "
            "ASCII; expected a few ASCII characters"
        )
    all_cases = set(texts.lower() + texts.upper())
    all_cases |= {_NON_ASCII_FOLDS[char] for char in all_cases & _NON_ASCII_FOLDS.keys()}
    return Chars(code_points(*sorted(all_cases)))


def require_simple_folds(sequence: list[Node]) -> None:
    """Raise UnreadablePatternError if one character may match two adjacent letters of `sequence`.

    A repeat in `sequence` is an error too. Only one of the engines folds U+00DF to ss and U+FB01 to
    fi, and so lets one character match two letters.
    """
    # A node that is not Chars may begin and end with any letter, so it counts as both s and f.
    letters = [set(members(node.chars) if isinstance(node, Chars) else "sf") for node in sequence]
    has_repeat = any(isinstance(node, Repeat) and node.high != 1 for node in sequence)
    if has_repeat or any(a & set("sf") and b & set("stfil") for a, b in pairwise(letters)):
        raise UnreadablePatternError(
            "(?i:...) has a repeat, or adjacent letters such as 'ss' or 'fi' that one engine also "
            "matches with one character (U+00DF, U+FB01)"
        )
