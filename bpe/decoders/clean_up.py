"""Define CleanUp, which removes spaces before punctuation from text that comes in parts."""

from __future__ import annotations

_RULES = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"),
          (" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))  # fmt: skip
"""The replacements of transformers' option clean_up_tokenization_spaces, in order."""


class CleanUp:
    """Makes the replacements of _RULES in the whole text, one rule after the other.

    Each text to replace begins with a space, and no proper prefix of it ends with one. So after a
    mismatch, no part of the matched prefix can begin another match.

    >>> clean = CleanUp()
    >>> clean.feed("I do n") + clean.feed("'t know .") + clean.finish()
    "I don't know."
    """

    def __init__(self) -> None:
        self._held = [""] * len(_RULES)

    def feed(self, text: str) -> str:
        """Return the text that `text` completes."""
        parts: list[str] = []
        for char in text:
            self._put(0, char, parts)
        return "".join(parts)

    def finish(self) -> str:
        """Return the text that is held back."""
        parts: list[str] = []
        for rule in range(len(_RULES)):
            self._release(rule, parts)
        return "".join(parts)

    def _put(self, rule: int, char: str, parts: list[str]) -> None:
        if rule == len(_RULES):
            parts.append(char)
            return
        old, new = _RULES[rule]
        if not old.startswith(self._held[rule] + char):
            self._release(rule, parts)
        if not old.startswith(self._held[rule] + char):
            self._put(rule + 1, char, parts)
            return
        self._held[rule] += char
        if self._held[rule] == old:
            self._held[rule] = ""
            for kept in new:
                self._put(rule + 1, kept, parts)

    def _release(self, rule: int, parts: list[str]) -> None:
        held, self._held[rule] = self._held[rule], ""
        for char in held:
            self._put(rule + 1, char, parts)
