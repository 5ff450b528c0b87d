r"""Read the text of a pattern as one engine does: a tree of what it says. Nothing is compiled.

Published patterns use little of what regular expressions have, and that little is known here. A
construct that only one engine reads in its way, or that was not compared, becomes an
`EngineSpecific`, which differs from that of every other engine. The parser rejects constructs that
change the meaning of the pattern around them, such as `(?x)`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from pretok.charsets.sets import (
    ALL_ATOMS,
    ASCII_MASKS,
    CASELESS,
    CONTROL,
    DIGIT,
    HAN,
    LETTER,
    LOWER,
    MARK,
    NOTHING,
    NUMBER,
    ONIGURUMA_WORD,
    PUNCTUATION,
    SYMBOL,
    UPPER,
    WHITE_SPACE,
    WORD,
    CharSet,
    code_points,
    intersection,
    union,
)
from pretok.patterns.ast import (
    Alternatives,
    Chars,
    EndAnchor,
    EngineSpecific,
    Group,
    Lookahead,
    Node,
    Repeat,
    Sequence,
)
from pretok.preset import ENGINES, Engine

MAX_PATTERN_LENGTH = 8192
"""The number of code points of a pattern that is read; the longest published one has 332."""
MAX_DEPTH = 40
"""How many groups and classes may be in each other; published patterns have three."""
MAX_DIGITS = 9
"""The number of digits of a count, as in `a{3}`."""


class UnreadablePatternError(ValueError):
    """The pattern is malformed, or has what would change how the rest of it is read."""


def read(pattern: str, engine: Engine) -> Alternatives:
    """Return what `pattern` says to `engine`; raises UnreadablePatternError.

    Take time n log n in the length of the pattern, which is MAX_PATTERN_LENGTH at most.
    """
    return _Reader(pattern, engine).whole()


def read_by_each(pattern: str) -> dict[Engine, Alternatives | None]:
    """Return what `pattern` says to each engine, None for one that cannot read it.

    Where the engines read it alike, the values are the same object.
    """
    found: dict[Engine, Alternatives | None] = {}
    for engine in ENGINES:
        reader = _Reader(pattern, engine)
        try:
            found[engine] = reader.whole()
        except UnreadablePatternError:
            found[engine] = None
        if not reader.is_of_engine:
            return dict.fromkeys(ENGINES, found[engine])
    return found


@lru_cache(maxsize=16)
def alternatives_of(pattern: str) -> tuple[str, ...]:
    """Return the texts of the alternatives of `pattern`: joined by "|" they are the pattern.

    Reading `pattern` gives what reading each of them gives, and fails if reading one of them fails.

    >>> alternatives_of("a|(?:b|c)|[|]")
    ('a', '(?:b|c)', '[|]')
    """
    parts: list[str] = []
    depth = classes = start = 0
    is_escaped = False
    for at, char in enumerate(pattern):
        if char not in "\\|[]()":
            is_escaped = False
        elif is_escaped or char == "\\":
            is_escaped = not is_escaped
        elif char == "|":
            if not depth and not classes:
                parts.append(pattern[start:at])
                start = at + 1
        elif char == "[":
            classes += 1
        elif classes:
            classes -= char == "]"
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
    return (*parts, pattern[start:])


def texts_of(pattern: str) -> list[str]:
    """Return the texts of the alternatives of `pattern`, line breaks as escapes.

    A pattern that is not readable is cut as well as can be.

    >>> texts_of("a|(?:b|c)|[|]")
    ['a', '(?:b|c)', '[|]']
    """
    parts = alternatives_of(pattern)
    return [part.replace("\r", "\\r").replace("\n", "\\n") for part in parts]


def printable(text: str) -> str:
    r"""Return `text`, part of a pattern, with an escape for each character that does not print.

    >>> print(printable("[\n\ud800é]"))
    [\n\x{D800}é]
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return repr(char)[1:-1] if char in "\r\n\t" else f"\\x{{{ord(char):X}}}"


_CONTROL_SPACE = code_points((0x09, 0x0D), (0x85, 0x85))
_PROPERTIES = {
    name: (Chars(chars), Chars(~chars))
    for name, chars in {
        "L": LETTER, "Ll": LOWER, "M": MARK, "N": NUMBER, "Nd": DIGIT, "P": PUNCTUATION,
        "S": SYMBOL, "C": CONTROL | _CONTROL_SPACE, "Han": HAN,
    }.items()
}  # fmt: skip
"""What `\\p{name}` and `\\P{name}` match."""
_TOGETHER = {
    frozenset({"Lu", "Lt"}): UPPER,
    frozenset({"Lm", "Lo"}): CASELESS,
    frozenset({"Nl", "No"}): NUMBER - DIGIT,
}
"""Properties that are a CharSet only together."""
_OTHER_PROPERTIES = (
    frozenset(["Lu", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nl", "No", "Z", "Zs", "Zl", "Zp", "Cn"])
    | frozenset(["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Cc", "Cf"])
    | frozenset(["Arabic", "Cyrillic", "Devanagari", "Greek", "Hangul", "Hebrew", "Hiragana"])
    | frozenset(["Katakana", "Khmer", "Lao", "Latin", "Myanmar", "Thai"])
)
"""Others that the engines give the same members; tests/pretok/patterns/test_parser.py asks them."""
# Oniguruma has two tables: that of \w alone takes the numbers of Latin-1 as well.
_WORDS: dict[tuple[Engine, bool], CharSet] = {
    ("hf", False): ONIGURUMA_WORD,
    ("hf", True): ONIGURUMA_WORD - code_points((0xB2, 0xB3), "\xb9", (0xBC, 0xBE)),
    ("tiktoken", False): WORD,
    ("tiktoken", True): WORD,
}
_SETS = {
    "s": Chars(WHITE_SPACE), "S": Chars(~WHITE_SPACE), "d": Chars(DIGIT), "D": Chars(~DIGIT)
}  # fmt: skip
_NO_LINE_BREAK = Chars(~code_points("\n"))
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_ALONE = frozenset("bBAzZG")
"""Escapes that are no character, and that the engines may not read alike."""
_MARKS: dict[str, Literal["lazy", "possessive"]] = {"?": "lazy", "+": "possessive"}


class _Reader:
    def __init__(self, pattern: str, engine: Engine) -> None:
        self._text = pattern
        self._read_by = engine
        self._at = 0
        self._depth = 0
        self.is_of_engine = False
        """Whether another engine may read what was read so far in another way."""

    @property
    def _engine(self) -> Engine:
        self.is_of_engine = True
        return self._read_by

    def whole(self) -> Alternatives:
        if len(self._text) > MAX_PATTERN_LENGTH:
            raise UnreadablePatternError(
                f"a pattern of {len(self._text):,} characters, more than {MAX_PATTERN_LENGTH:,},"
            )
        found = self._alternatives(ignore_case=False)
        if self._at < len(self._text):
            raise UnreadablePatternError(f"unopened ')' at {self._at}")
        return found

    def _alternatives(self, ignore_case: bool) -> Alternatives:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadablePatternError(f"more than {MAX_DEPTH} groups in each other")
        found: list[Sequence] = []
        while True:
            sequence: list[Node] = []
            while self._peek() not in ("", "|", ")"):
                sequence.append(self._repeated(self._node(ignore_case)))
            if not sequence:
                raise UnreadablePatternError(f"an empty alternative at {self._at}")
            if ignore_case:
                _require_simple_folds(sequence)
            found.append(tuple(sequence))
            if not self._take("|"):
                self._depth -= 1
                return tuple(found)

    def _repeated(self, node: Node) -> Node:
        char = self._peek()
        if char in ("?", "*", "+", "{") and isinstance(
            node, (Lookahead, EndAnchor, EngineSpecific)
        ):
            raise UnreadablePatternError(f"a place that is repeated at {self._at}")
        if char in ("?", "*", "+"):
            self._at += 1
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[char]
            mark = self._peek()
            self._at += mark in ("?", "+") and mark != ""
            node = Repeat(node, low, high, _MARKS.get(mark, "greedy"))
        elif char == "{":
            node = self._counted(node)
        if self._peek() in ("?", "*", "+", "{"):
            raise UnreadablePatternError(f"a quantifier behind another at {self._at}")
        return node

    def _counted(self, node: Node) -> Node:
        end = self._text.find("}", self._at)
        inside = self._text[self._at + 1 : max(end, 0)]
        first, comma, last = inside.partition(",")
        if not (inside.isascii() and first.isdecimal() and (last.isdecimal() or not last)):
            raise UnreadablePatternError(f"no quantifier at {self._at}")
        if len(first) > MAX_DIGITS or len(last) > MAX_DIGITS:
            raise UnreadablePatternError(f"a count of more than {MAX_DIGITS} digits at {self._at}")
        low = int(first)
        high = int(last) if last else None if comma else low
        if high is not None and not low <= high:
            raise UnreadablePatternError(f"a quantifier from {low} to {high} at {self._at}")
        self._at = end + 1
        counted = Repeat(node, low, high)
        if self._peek() == "?":
            raise UnreadablePatternError(f"a counted quantifier with a mark at {self._at}")
        if self._take("+"):
            # Oniguruma in Ruby's syntax repeats what is counted; fancy-regex gives nothing back.
            if self._engine == "hf":
                return Repeat(counted, 1, None)
            return replace(counted, mode="possessive")
        return counted

    def _node(self, ignore_case: bool) -> Node:
        start = self._at
        char = self._next()
        if char == "(":
            return self._group(start, ignore_case)
        if char == "$":
            return EndAnchor("line" if self._engine == "hf" else "text")
        if char in "^]}?*+{":
            raise UnreadablePatternError(f"{char!r} at {start}")
        if char == "\\" and self._peek() in _ALONE:
            return EngineSpecific(self._engine, char + self._next())
        if char == "[":
            found = self._class(start)
        elif char == "\\":
            found = self._escape()
        else:
            found = _NO_LINE_BREAK if char == "." else _literal(char)
        return _folded(found) if ignore_case else found

    def _group(self, start: int, ignore_case: bool) -> Node:
        for opening in ("?:", "?i:", "?=", "?!", "?>", "?<=", "?<!", ""):
            if self._take(opening):
                break
        if not opening and self._peek() == "?":
            raise UnreadablePatternError(f"a group of another kind at {start}")
        found = self._alternatives(ignore_case or opening == "?i:")
        if not self._take(")"):
            raise UnreadablePatternError(f"a '(' without its ')' at {start}")
        if opening == "?i:" and self._peek() in ("*", "+", "{"):
            raise UnreadablePatternError(f"(?i:...) repeated at {start}")
        if opening in ("?=", "?!"):
            return Lookahead(found, opening == "?!")
        if opening in ("?>", "?<=", "?<!"):
            return EngineSpecific(self._engine, self._text[start : self._at])
        return Group(found)

    def _escape(self, in_class: bool = False) -> Chars:
        at = self._at
        char = self._next()
        if char in "pP":
            return self._property(negated=char == "P")
        if char in _SETS:
            return _SETS[char]
        if char in "wW":
            chars = _WORDS[self._engine, in_class]
            return Chars(chars if char == "w" else ~chars)
        if char in _CONTROLS:
            return _literal(_CONTROLS[char])
        if char in "xu":
            return _literal(self._numbered(char))
        if char.isascii() and char.isprintable() and not char.isalnum() and char not in "<>":
            return _literal(char)
        raise UnreadablePatternError(f"the escape '\\{printable(char)}' at {at}")

    def _numbered(self, kind: str) -> str:
        at = self._at
        size = 2 if kind == "x" else 4
        digits = self._text[at : at + size]
        end = at + size
        if kind == "x" and self._peek() == "{":
            end = self._text.find("}", at) + 1
            digits = self._text[at + 1 : max(end - 1, 0)]
        elif len(digits) != size:
            digits = ""
        if not digits or not set(digits) <= set("0123456789abcdefABCDEF"):
            raise UnreadablePatternError(f"no code point at {at}")
        code = int(digits, 16)
        # Above 7F Oniguruma may take \xHH for a byte.
        if code > 0x10FFFF or (size == 2 and end == at + 2 and code > 0x7F):
            raise UnreadablePatternError(f"no code point at {at}")
        self._at = end
        return chr(code)

    def _property(self, negated: bool) -> Chars:
        at = self._at
        end = self._text.find("}", at)
        name = self._text[at + 1 : max(end, 0)]
        if self._peek() != "{" or not name.isalpha():
            raise UnreadablePatternError(f"no property at {at}")
        self._at = end + 1
        if name in _PROPERTIES:
            return _PROPERTIES[name][negated]
        shown = name if name in _OTHER_PROPERTIES else f"{name} of {self._engine}"
        return Chars(NOTHING, frozenset({shown}), negated)

    def _class(self, start: int) -> Chars:
        """Return the class whose "[" is at `start`."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadablePatternError(f"more than {MAX_DEPTH} classes in each other")
        negated = self._take("^")
        sides: list[list[Chars | tuple[int, int]]] = [[]]
        first = self._at
        while (char := self._peek()) != "]" or self._at == first:
            if char in ("", "]") or self._text.startswith(("[:", "--", "~~"), self._at):
                raise UnreadablePatternError(f"what is in the class at {start}")
            if self._take("&&"):
                sides.append([])
            else:
                sides[-1].append(self._item())
        self._at += 1
        self._depth -= 1
        if len(sides) == 1:
            found = _union(sides[0])
        else:
            known = [_union(side) for side in sides]
            if any(side.names or side.known == NOTHING for side in known):
                raise UnreadablePatternError(f"the intersection in the class at {start}")
            found = Chars(intersection(side.known for side in known))
        if found.names:
            return replace(found, negated=negated != found.negated)
        return Chars(~found.known if negated else found.known)

    def _item(self) -> Chars | tuple[int, int]:
        """Return what is next in a class: a set, or the first and last code point of a range."""
        at = self._at
        char = self._next()
        if char == "[":
            return self._class(at)
        low = self._escape(in_class=True) if char == "\\" else char
        if self._peek() != "-" or self._peek(1) in ("]", "-"):
            return (ord(low), ord(low)) if isinstance(low, str) else low
        self._at += 1
        char = self._next()
        high = self._escape(in_class=True) if char == "\\" else char
        one, other = _only_member(low), _only_member(high)
        if char == "[" or not one or not other:
            raise UnreadablePatternError(f"the range at {at}")
        if one > other:
            raise UnreadablePatternError(f"the range at {at} is not ascending")
        return ord(one), ord(other)

    def _peek(self, after: int = 0) -> str:
        return self._text[self._at + after : self._at + after + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise UnreadablePatternError("the pattern ends in the middle")
        self._at += 1
        return char

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) * found
        return found


def members(chars: CharSet, most: int = 32) -> str:
    """Return the code points of `chars`, ascending; "" if it is not of `most` at most.

    >>> members(code_points("c", "a", "é"))
    'acé'
    """
    bounds = [*(first for first, _ in chars.segments), 0x110000]
    found = ""
    for (first, mask), end in zip(chars.segments, bounds[1:], strict=True):
        if not mask:
            continue
        if end - first > 0x80 + most:
            return ""
        for code in range(first, end):
            one = ASCII_MASKS[code] if code < 0x80 else ALL_ATOMS
            shared = one & mask
            if shared and (shared != one or len(found) == most):
                return ""
            if shared:
                found += chr(code)
    return found


@lru_cache(maxsize=512)
def _literal(char: str) -> Chars:
    return Chars(code_points(char))


def _only_member(chars: Chars | str) -> str:
    """Return the only code point of `chars`; "" if it has others."""
    if isinstance(chars, str):
        return chars
    return "" if chars.names else members(chars.known, most=1)


def _union(items: list[Chars | tuple[int, int]]) -> Chars:
    """Return what a class of `items` matches, with what is a CharSet together put into it."""
    known: list[CharSet] = []
    ranges: list[tuple[int, int]] = []
    names: set[str] = set()
    for item in items:
        if isinstance(item, tuple):
            ranges.append(item)
        elif item.negated:
            # What is in a class beside \P{Lu} is not known apart from it.
            names.add(f"not {' '.join(sorted(item.names))}{item.known!r}")
        else:
            known.append(item.known)
            names |= item.names
    for together, charset in _TOGETHER.items():
        if together <= names:
            known.append(charset)
            names -= together
    if ranges:
        known.append(code_points(*ranges))
    return Chars(union(known), frozenset(names))


# (?i:s) is s, S and U+017F in both engines; (?i:k) is k, K and U+212A.
_ALSO = {"s": "\u017f", "k": "\u212a"}


def _folded(chars: Chars) -> Chars:
    texts = members(chars.known) if not chars.names else ""
    if not texts or not texts.isascii():
        raise UnreadablePatternError("(?i:...) of more than a few ASCII characters")
    folded = {form for char in texts.lower() for form in (char, char.upper(), *_ALSO.get(char, ""))}
    return Chars(code_points(*sorted(folded)))


def _require_simple_folds(sequence: list[Node]) -> None:
    """Refuse what folds together: U+00DF is ss and U+FB01 is fi to one engine only."""
    may_be = [set(members(node.known) if isinstance(node, Chars) else "sf") for node in sequence]
    repeated = any(isinstance(node, Repeat) and node.high != 1 for node in sequence)
    if repeated or any(a & set("sf") and b & set("stfil") for a, b in pairwise(may_be)):
        raise UnreadablePatternError("(?i:...) of letters that may fold together")
