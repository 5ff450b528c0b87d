"""Match an apostrophe and one of a list of suffixes."""

from __future__ import annotations

from dataclasses import dataclass

from pretok.charsets.alphabet import Alphabet
from pretok.charsets.classified_text import Text
from pretok.charsets.sets import CharSet, code_points
from pretok.errors import shortened
from pretok.rules.base import MAX_LITERAL, NO_MATCH, Matcher, Rule, RuleKind, serialize_texts

APOSTROPHE = code_points("'")
# Maps code points to lowercase ASCII letters. In every engine (?i:s) matches s, S and U+017F, and
# (?i:k) matches k, K and U+212A. No other letter outside ASCII folds to an ASCII letter.
FOLD = {**{c: c + 32 for c in range(ord("A"), ord("Z") + 1)}, 0x17F: ord("s"), 0x212A: ord("k")}


@dataclass(frozen=True, init=False)
class Contraction(Rule):
    """`'(?:s|t|re|...)`: an apostrophe (U+0027), then the first member of `suffixes` that matches.

    If `ignore_case` is true, letters match as in `(?i:...)`, so U+017F matches s, and U+212A
    matches k. A suffix has 1 to 255 ASCII letters, which must be lowercase if `ignore_case` is
    true. Raises DefinitionError for any other suffix, or if `suffixes` is empty.

    >>> print(Contraction("s", "ll", ignore_case=True))
    (?i:'s|'ll)
    """

    suffixes: tuple[str, ...]
    ignore_case: bool

    def __init__(self, *suffixes: str, ignore_case: bool = False) -> None:
        for suffix in suffixes:
            is_word = isinstance(suffix, str) and suffix.isascii() and suffix.isalpha()
            if not is_word or (ignore_case and suffix != suffix.lower()):
                letters = "lowercase ASCII letters" if ignore_case else "ASCII letters"
                self._raise_invalid(f"suffix {shortened(suffix)}; expected {letters}")
            if len(suffix) > MAX_LITERAL:
                self._raise_invalid(
                    f"suffix {shortened(suffix)}; expected at most {MAX_LITERAL} letters"
                )
        if not suffixes:
            self._raise_invalid("no suffixes; expected at least one")
        object.__setattr__(self, "suffixes", suffixes)
        object.__setattr__(self, "ignore_case", ignore_case)

    def __repr__(self) -> str:
        words = ", ".join(map(repr, self.suffixes))
        return f"Contraction({words}{', ignore_case=True' if self.ignore_case else ''})"

    def sets(self) -> list[CharSet]:
        return [APOSTROPHE]

    def first(self) -> list[CharSet]:
        return [APOSTROPHE]

    @property
    def look_ahead(self) -> int:
        return 1 + sum(map(len, self.suffixes))

    def matcher(self, alphabet: Alphabet) -> Matcher:
        suffixes, ignore_case = self.suffixes, self.ignore_case
        longest = max(map(len, suffixes))

        def match(text: Text, start: int) -> int:
            # '(?:s|t|re|ve|m|ll|d)
            if text.chars[start : start + 1] != "'":
                return NO_MATCH
            after = text.chars[start + 1 : start + 1 + longest]
            if ignore_case:
                after = after.translate(FOLD)
            for suffix in suffixes:
                if after.startswith(suffix):
                    return start + 1 + len(suffix)
                if text.partial and len(after) < len(suffix) and suffix.startswith(after):
                    return text.undecided(0)
            return NO_MATCH

        return match

    def serialize(self, alphabet: Alphabet) -> list[int]:
        words = [
            RuleKind.CONTRACTION,
            alphabet.mask(APOSTROPHE),
            int(self.ignore_case),
            len(self.suffixes),
        ]
        return words + serialize_texts(*self.suffixes)

    @property
    def pattern(self) -> str:
        body = "|".join(f"'{suffix}" for suffix in self.suffixes)
        return f"(?i:{body})" if self.ignore_case else body
