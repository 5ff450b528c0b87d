"""Match literal texts, alone or around a run."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import OUT, UNLIMITED, Text
from pretok.charsets.notation import literal_regex, set_regex
from pretok.charsets.sets import NOTHING, CharSet, code_points
from pretok.errors import DefinitionError, shortened
from pretok.rules.base import MAX_LITERAL, NO_MATCH, Matcher, Rule, RuleKind, serialize_texts, times


@dataclass(frozen=True, init=False)
class Literal(Rule):
    r"""`(?:one|two|...)`: the first member of `texts` that occurs at the position.

    Raises DefinitionError if `texts` is empty, or if a member is not a str of 1 to 255 code points.

    >>> print(Literal("    ", "  ", "[x]"))
    (?:    |  |\[x\])
    """

    texts: tuple[str, ...]

    def __init__(self, *texts: str) -> None:
        for text in texts:
            _require_text("Literal", "text", text)
        if not texts:
            raise DefinitionError("Literal: no texts; expected at least one")
        object.__setattr__(self, "texts", texts)

    def __repr__(self) -> str:
        return f"Literal({', '.join(map(repr, self.texts))})"

    def sets(self) -> list[CharSet]:
        return [*self.first(), *_chars(*(text[1:] for text in self.texts))]

    def first(self) -> list[CharSet]:
        return _chars(*(text[0] for text in self.texts))

    @property
    def look_ahead(self) -> int:
        return sum(map(len, self.texts))

    def matcher(self, alphabet: Alphabet) -> Matcher:
        texts = self.texts

        def match(text: Text, start: int) -> int:
            for literal in texts:
                end = _literal(text, start, literal)
                if end != NO_MATCH:
                    return end
            return NO_MATCH

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        first, *rest = map(alphabet.mask, self.sets())
        words = [RuleKind.LITERAL, first, rest[0] if rest else 0, len(self.texts)]
        return words + serialize_texts(*self.texts)

    @property
    def pattern(self) -> str:
        body = "|".join(map(literal_regex, self.texts))
        return f"(?:{body})" if len(self.texts) > 1 else body


@dataclass(frozen=True, repr=False)
class Enclosed(Rule):
    """`before body{at_least,at_most} after`: a run of `body` between two literal texts.

    `at_most=None` means no limit. The first code point of `after` must not be in `body`; otherwise
    matching would need backtracking. The first code point of `before` may be in `body` only if
    `at_most` is 255 or less; otherwise the rule could scan a long run of `body` again at each code
    point of the run, in quadratic time. Raises DefinitionError for other arguments.

    >>> print(Enclosed("<n:", code_points("0-9"), ">"))
    <n:[0-9]+>
    """

    before: str
    body: CharSet
    after: str
    at_most: int | None = None
    at_least: int = 1

    def __post_init__(self) -> None:
        _require_text("Enclosed", "before", self.before)
        _require_text("Enclosed", "after", self.after)
        self._require_sets("body")
        self._require_count("at_most", optional=True)
        self._require_count("at_least")
        self._require_range(self.at_least, "at_most")
        is_short = self.at_most is not None and self.at_most <= MAX_LITERAL
        shared = _chars(self.before[0])[0] & self.body
        if shared and not is_short:
            raise DefinitionError(
                f"Enclosed: the first code point of before, {shared!r}, is in body; matching would "
                "not take linear time; choose another body, or set at_most to "
                f"{MAX_LITERAL} or less"
            )
        begin = _chars(self.after[0])[0]
        self._require_disjoint(("the start of after", begin), ("body", self.body))

    def sets(self) -> list[CharSet]:
        return [*self.first(), *_chars(self.before[1:] + self.after), self.body]

    def first(self) -> list[CharSet]:
        return _chars(self.before[0])

    @property
    def look_ahead(self) -> int:
        overlaps = bool(_chars(self.before[0])[0] & self.body)
        body_size = self.at_most if overlaps and self.at_most else 0
        return len(self.before) + len(self.after) + body_size

    def matcher(self, alphabet: Alphabet) -> Matcher:
        before, after, body = self.before, self.after, alphabet.mask(self.body)
        at_least, at_most = self.at_least, self.at_most

        def match(text: Text, start: int) -> int:
            begin = _literal(text, start, before)
            if begin < 0:
                return begin
            limit = text.size if at_most is None else begin + at_most
            end = text.members[body].find(OUT, begin, limit)
            if end < 0:
                end = limit
            if end == text.size and text.partial and (at_most is None or end < limit):
                return text.undecided(body, UNLIMITED if at_most is None else limit - end)
            if end - begin < at_least:
                return NO_MATCH
            return _literal(text, end, after)

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        masks = map(alphabet.mask, self.sets())
        words = [RuleKind.ENCLOSED, *masks, self.at_most or 0, self.at_least]
        return words + serialize_texts(self.before, self.after)

    @property
    def pattern(self) -> str:
        body = f"{set_regex(self.body)}{times(self.at_least, self.at_most)}"
        return f"{literal_regex(self.before)}{body}{literal_regex(self.after)}"


def _literal(text: Text, start: int, literal: str) -> int:
    """Return the end of `literal` if it occurs at `start`, else NO_MATCH or UNDECIDED."""
    if text.chars.startswith(literal, start):
        return start + len(literal)
    is_prefix = text.partial and literal.startswith(text.chars[start : start + len(literal)])
    return text.undecided(0) if is_prefix and text.size - start < len(literal) else NO_MATCH


def _chars(*texts: str) -> list[CharSet]:
    """Return a list of one set with all characters of `texts`; [] if there are no characters."""
    chars = NOTHING
    for char in sorted(set("".join(texts))):
        chars |= code_points(char)
    return [chars] if chars else []


def _require_text(owner: str, field: str, value: object) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_LITERAL:
        raise DefinitionError(
            f"{owner}: {field} {shortened(value)}; expected a str of 1 to {MAX_LITERAL} code points"
        )
