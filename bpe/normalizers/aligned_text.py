"""Define AlignedText, a text with the span of each character in the original text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int]
"""A half-open span in the original text, in code points."""
Change: TypeAlias = tuple[str, int]
"""A character of the new text, and a number, as in Hugging Face's tokenizers.

0: the character replaces the next old character, and has its span.
-n: the same, and the n old characters after the replaced character are dropped.
1: the character is inserted, and has the span of the old character before it. At the start of the
text, the span is (0, 0).
"""


class AlignedText(NamedTuple):
    """The characters of a text, and the span of each character in the original text."""

    chars: list[str]
    spans: list[Span]

    @classmethod
    def of(cls, text: str) -> AlignedText:
        """Return the AlignedText of an original text: each character has its own span."""
        return cls(list(text), [(at, at + 1) for at in range(len(text))])

    @property
    def text(self) -> str:
        """The text as a str."""
        return "".join(self.chars)

    def part(self, start: int, end: int) -> AlignedText:
        """Return the characters from `start` to `end`, without the one at `end`."""
        return AlignedText(self.chars[start:end], self.spans[start:end])

    def prepended(self, prefix: str) -> AlignedText:
        """Return `prefix` and the text; `prefix` has the span of the first character of the text.

        If the text is empty, nothing is prepended.
        """
        if not self.chars:
            return self
        return AlignedText([*prefix, *self.chars], [self.spans[0]] * len(prefix) + self.spans)

    def filtered(self, keeps: Callable[[str], bool]) -> AlignedText:
        """Return only the characters that `keeps` accepts."""
        kept = [at for at, char in enumerate(self.chars) if keeps(char)]
        return AlignedText([self.chars[at] for at in kept], [self.spans[at] for at in kept])

    def expanded(self, spell: Callable[[str], str]) -> AlignedText:
        """Return the text with each character replaced by `spell(character)`, of any length."""
        chars: list[str] = []
        spans: list[Span] = []
        for char, span in zip(self.chars, self.spans, strict=True):
            spelling = spell(char)
            chars += spelling
            spans += [span] * len(spelling)
        return AlignedText(chars, spans)

    def replaced(self, matches: Iterable[Span], content: str) -> AlignedText:
        """Return the text with `content` in place of each of `matches`.

        `matches` are half-open ranges of indexes in `chars`. They ascend and do not overlap.
        Each character of `content` has the span of the last character of the match.
        """
        chars: list[str] = []
        spans: list[Span] = []
        done = 0
        for start, end in matches:
            chars += self.chars[done:start]
            chars += content
            spans += self.spans[done:start]
            spans += [self.spans[end - 1]] * len(content)
            done = end
        return AlignedText(chars + self.chars[done:], spans + self.spans[done:])

    def transformed(self, changes: Iterable[Change]) -> AlignedText:
        """Return the text that `changes` make of this text.

        Each change takes the next old characters. Old characters after the last change are dropped.
        """
        chars: list[str] = []
        spans: list[Span] = []
        at = 0
        for char, change in changes:
            chars.append(char)
            if change > 0:
                spans.append(self.spans[at - 1] if at else (0, 0))
            else:
                spans.append(self.spans[at])
                at += 1 - change
        return AlignedText(chars, spans)
