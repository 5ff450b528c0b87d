r"""Parse a pattern by the grammar of one engine, without compiling a regex.

The parser knows the few constructs of published patterns. A construct becomes an `EngineSpecific`
if its meaning depends on the engine, or if no test compares its meaning between the engines. An
`EngineSpecific` never equals a construct of another engine. The parser rejects constructs that
change the meaning of the pattern around them, such as `(?x)`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pretok.charsets.sets import NOTHING, intersection
from pretok.patterns import ast, char_sets
from pretok.patterns.alternatives import printable
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.preset import Engine

MAX_PATTERN_LENGTH = 8192
"""Maximum code points of a pattern; the longest published one has 332."""
MAX_DEPTH = 40
"""Maximum nesting of groups and classes; published patterns have three levels."""
MAX_DIGITS = 9
"""Maximum digits of a count, such as the 3 in `a{3}`."""


def read(pattern: str, engine: Engine) -> ast.Alternatives:
    """Parse `pattern` by the grammar of `engine`, in time O(n log n) for n code points.

    Raises UnreadablePatternError if the parser rejects `pattern`, or if `pattern` is longer than
    MAX_PATTERN_LENGTH.
    """
    return _Reader(pattern, engine).whole()


_ANCHOR_ESCAPES = frozenset("bBAzZG")
"""Escapes that match a position; their meaning may depend on the engine."""
_MODES: dict[str, Literal["lazy", "possessive"]] = {"?": "lazy", "+": "possessive"}


class _Reader:
    """A recursive-descent parser of one pattern by the grammar of one engine."""

    def __init__(self, pattern: str, engine: Engine) -> None:
        self._text = pattern
        self._engine = engine
        self._at = 0
        self._depth = 0

    def whole(self) -> ast.Alternatives:
        if len(self._text) > MAX_PATTERN_LENGTH:
            raise UnreadablePatternError(
                f"the pattern has {len(self._text):,} characters; expected at most "
                f"{MAX_PATTERN_LENGTH:,}"
            )
        alternatives = self._alternatives(ignore_case=False)
        if self._at < len(self._text):
            raise UnreadablePatternError(f"')' without '(' at index {self._at}")
        return alternatives

    def _alternatives(self, ignore_case: bool) -> ast.Alternatives:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadablePatternError(f"more than {MAX_DEPTH} nested groups")
        alternatives: list[ast.Sequence] = []
        while True:
            sequence: list[ast.Node] = []
            while self._peek() not in ("", "|", ")"):
                start = self._at
                node = self._repeated(self._node(ignore_case), start)
                sequence.append(replace(node, start=start, end=self._at))
            if not sequence:
                raise UnreadablePatternError(f"empty alternative at index {self._at}")
            if ignore_case:
                char_sets.require_simple_folds(sequence)
            alternatives.append(tuple(sequence))
            if not self._take("|"):
                self._depth -= 1
                return tuple(alternatives)

    def _repeated(self, node: ast.Node, start: int) -> ast.Node:
        char = self._peek()
        if char in ("?", "*", "+", "{") and isinstance(
            node, (ast.Lookahead, ast.EndAnchor, ast.EngineSpecific)
        ):
            raise UnreadablePatternError(
                f"quantifier after an anchor or look-around at index {self._at}"
            )
        if char in ("?", "*", "+"):
            self._at += 1
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[char]
            mark = self._peek()
            self._at += mark in ("?", "+")
            node = ast.Repeat(node, low, high, _MODES.get(mark, "greedy"))
        elif char == "{":
            node = self._counted(node, start)
        if self._peek() in ("?", "*", "+", "{"):
            raise UnreadablePatternError(f"quantifier after a quantifier at index {self._at}")
        return node

    def _counted(self, node: ast.Node, start: int) -> ast.Node:
        end = self._text.find("}", self._at)
        inside = self._text[self._at + 1 : max(end, 0)]
        first, comma, last = inside.partition(",")
        if not (inside.isascii() and first.isdecimal() and (last.isdecimal() or not last)):
            raise UnreadablePatternError(f"'{{' without a valid count at index {self._at}")
        if len(first) > MAX_DIGITS or len(last) > MAX_DIGITS:
            raise UnreadablePatternError(
                f"repetition count of more than {MAX_DIGITS} digits at index {self._at}"
            )
        low = int(first)
        high = int(last) if last else None if comma else low
        if high is not None and not low <= high:
            raise UnreadablePatternError(f"count from {low} down to {high} at index {self._at}")
        self._at = end + 1
        counted = ast.Repeat(node, low, high)
        if self._peek() == "?":
            raise UnreadablePatternError(f"'?' after a counted quantifier at index {self._at}")
        if self._take("+"):
            # x{n}+ is (?:x{n})+ in Oniguruma's Ruby syntax, but possessive in fancy-regex.
            if self._engine == "hf":
                inner = replace(counted, start=start, end=self._at - 1)
                return ast.Repeat(ast.Group(((inner,),)), 1, None)
            return replace(counted, mode="possessive")
        return counted

    def _node(self, ignore_case: bool) -> ast.Node:
        start = self._at
        char = self._next()
        if char == "(":
            return self._group(start, ignore_case)
        if char == "$":
            return ast.EndAnchor("line" if self._engine == "hf" else "text")
        if char in "^]}?*+{":
            raise UnreadablePatternError(f"unexpected {char!r} at index {start}")
        if char == "\\" and self._peek() in _ANCHOR_ESCAPES:
            return ast.EngineSpecific(self._engine, char + self._next())
        if char == "[":
            chars = self._class(start)
        elif char == "\\":
            chars = self._escape()
        else:
            chars = char_sets.NO_LINE_BREAK if char == "." else char_sets.literal(char)
        return char_sets.folded(chars) if ignore_case else chars

    def _group(self, start: int, ignore_case: bool) -> ast.Node:
        for opening in ("?:", "?i:", "?=", "?!", "?>", "?<=", "?<!", ""):
            if self._take(opening):
                break
        if not opening and self._peek() == "?":
            raise UnreadablePatternError(
                f"the group at index {start} begins with {self._text[start : start + 3]!r}; "
                "expected (, (?:, (?i:, (?=, (?!, (?>, (?<= or (?<!"
            )
        alternatives = self._alternatives(ignore_case or opening == "?i:")
        if not self._take(")"):
            raise UnreadablePatternError(f"'(' without ')' at index {start}")
        if opening == "?i:" and self._peek() in ("*", "+", "{"):
            raise UnreadablePatternError(f"quantifier after the (?i:...) at index {start}")
        if opening in ("?=", "?!"):
            return ast.Lookahead(alternatives, opening == "?!")
        if opening in ("?>", "?<=", "?<!"):
            return ast.EngineSpecific(self._engine, self._text[start : self._at])
        return ast.Group(alternatives)

    def _escape(self, in_class: bool = False) -> ast.Chars:
        at = self._at
        char = self._next()
        if char in "pP":
            return self._property(negated=char == "P")
        if char in char_sets.ESCAPED_SETS:
            return char_sets.ESCAPED_SETS[char]
        if char in "wW":
            chars = char_sets.WORDS[self._engine, in_class]
            return ast.Chars(chars if char == "w" else ~chars)
        if char in char_sets.ESCAPED_CONTROLS:
            return char_sets.literal(char_sets.ESCAPED_CONTROLS[char])
        if char in "xu":
            return char_sets.literal(self._numbered(char))
        if char.isascii() and char.isprintable() and not char.isalnum() and char not in "<>":
            return char_sets.literal(char)
        raise UnreadablePatternError(f"unsupported escape '\\{printable(char)}' at index {at}")

    def _numbered(self, escape: str) -> str:
        at = self._at
        size = 2 if escape == "x" else 4
        digits = self._text[at : at + size]
        end = at + size
        if escape == "x" and self._peek() == "{":
            end = self._text.find("}", at) + 1
            digits = self._text[at + 1 : max(end - 1, 0)]
        elif len(digits) != size:
            digits = ""
        if not digits or not set(digits) <= set("0123456789abcdefABCDEF"):
            raise UnreadablePatternError(f"invalid code point at index {at}")
        code = int(digits, 16)
        if code > 0x10FFFF:
            raise UnreadablePatternError(f"invalid code point at index {at}")
        # Reject \xHH above 7F, because Oniguruma may read it as a byte.
        if size == 2 and end == at + 2 and code > 0x7F:
            raise UnreadablePatternError(
                f"'\\x{digits}' at index {at}, which may be a byte; write '\\x{{{digits}}}'"
            )
        self._at = end
        return chr(code)

    def _property(self, negated: bool) -> ast.Chars:
        at = self._at
        end = self._text.find("}", at)
        name = self._text[at + 1 : max(end, 0)]
        if self._peek() != "{" or not name.isalpha():
            raise UnreadablePatternError(f"invalid \\p{{...}} at index {at}")
        self._at = end + 1
        if name in char_sets.PROPERTIES:
            return char_sets.PROPERTIES[name][negated]
        shown = name if name in char_sets.OTHER_PROPERTIES else f"{name} of {self._engine}"
        return ast.Chars(NOTHING, frozenset({shown}), negated)

    def _class(self, start: int) -> ast.Chars:
        """Return the class whose "[" is at `start`."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadablePatternError(f"more than {MAX_DEPTH} nested classes")
        negated = self._take("^")
        sides: list[list[ast.Chars | tuple[int, int]]] = [[]]
        first = self._at
        while (char := self._peek()) != "]" or self._at == first:
            if char == "":
                raise UnreadablePatternError(f"the class at index {start} is not closed")
            if char == "]":
                raise UnreadablePatternError(
                    f"the class at index {start} begins with ']'; write '\\]'"
                )
            if self._text.startswith(("[:", "--", "~~"), self._at):
                raise UnreadablePatternError(
                    f"the class at index {start} has {self._text[self._at : self._at + 2]!r}, "
                    "which pretok does not read"
                )
            if self._take("&&"):
                sides.append([])
            else:
                sides[-1].append(self._item())
        self._at += 1
        self._depth -= 1
        if len(sides) == 1:
            chars = char_sets.union_of(sides[0])
        else:
            unions = [char_sets.union_of(side) for side in sides]
            if any(union.properties or union.chars == NOTHING for union in unions):
                raise UnreadablePatternError(
                    f"unsupported intersection in the class at index {start}"
                )
            chars = ast.Chars(intersection(union.chars for union in unions))
        if chars.properties:
            return replace(chars, negated=negated != chars.negated)
        return ast.Chars(~chars.chars if negated else chars.chars)

    def _item(self) -> ast.Chars | tuple[int, int]:
        """Parse the next item of a class: a set, or the first and last code point of a range."""
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
        first, last = char_sets.only_member(low), char_sets.only_member(high)
        if char == "[" or not first or not last:
            raise UnreadablePatternError(f"invalid range at index {at}")
        if first > last:
            raise UnreadablePatternError(f"descending range at index {at}")
        return ord(first), ord(last)

    def _peek(self, offset: int = 0) -> str:
        """Return the character at `_at + offset`, or "" after the end; do not advance."""
        return self._text[self._at + offset : self._at + offset + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise UnreadablePatternError("unexpected end")
        self._at += 1
        return char

    def _take(self, text: str) -> bool:
        """If the pattern continues with `text`, skip `text` and return True; else return False."""
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True
