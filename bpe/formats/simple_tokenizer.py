"""Define SimpleTokenizerText, which normalizes and splits text as OpenAI's SimpleTokenizer does.

SimpleTokenizer strips a text, converts it to lower case with str.lower, and finds its pieces with
this pattern of the package regex, which ignores case (IGNORECASE):

    <\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+

Four of its results differ from those of CLIP's tokenizer.json:

- str.lower converts the last "Σ" of a word to "ς".
- IGNORECASE matches "s" with "ſ", as in "'ſ" and "<|ſtartoftext|>".
- IGNORECASE makes `[^\\s\\p{L}\\p{N}]` exclude U+0345, which has letters as its other cases. So no
  alternative matches U+0345.
- A special token is found only where a piece begins: not in "!<|endoftext|>", whose first piece is
  "!<|".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from bpe.once import once
from pretok.charsets import LETTER, NUMBER, OTHER, code_points
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.rules import Literal, Run
from pretok.stage import Stage

UNMATCHED = "\u0345"
"""The character that no alternative of the pattern matches, besides white space."""
_CONTRACTIONS = ("'s", "'ſ", "'t", "'re", "'ve", "'m", "'ll", "'d")
_MAX_S = 4
"""The maximal number of "s" in a special token, which "ſ" may replace."""


@dataclass(frozen=True)
class SimpleTokenizerText:
    """The normalizer and the split of SimpleTokenizer, with these special tokens.

    A special token where no piece begins is ordinary text. So UNMATCHED is put between its
    punctuation and its letters, where two pieces meet anyway. Then it is not found as a special
    token, and the pieces stay the same.
    """

    start: str
    end: str

    def normalize(self, text: str, /) -> str:
        """Return `text` normalized."""
        lower = text.strip().lower()
        for at in reversed(self._marks(lower)):
            lower = lower[:at] + UNMATCHED + lower[at:]
        return lower

    def align(self, text: str, /) -> tuple[str, list[tuple[int, int]]]:
        """Return `text` normalized, and the half-open span in `text` of each code point."""
        first = len(text) - len(text.lstrip())
        stripped = text.strip()
        origins = [(at, at + 1) for at, char in enumerate(stripped, first) for _ in char.lower()]
        normal = stripped.lower()
        for at in reversed(self._marks(normal)):
            normal = normal[:at] + UNMATCHED + normal[at:]
            origins.insert(at, (origins[at][0], origins[at][0]))
        return normal, origins

    @once
    def preset(self) -> Preset:
        """The split of normalized text between special tokens."""
        variants = [text for name in (self.start, self.end) for text in _variants(name)]
        return _preset([text for text in variants if text not in (self.start, self.end)])

    @once
    def _pieces(self) -> PreTokenizer:
        """The split of normalized text with special tokens, which are pieces."""
        return PreTokenizer(_preset([*_variants(self.start), *_variants(self.end)]))

    def _marks(self, text: str) -> list[int]:
        """Return the positions for UNMATCHED in normalized text, in order."""
        names = (self.start, self.end)
        places = [(at, name) for name in names for at in _occurrences(name, text)]
        if not places:
            return []
        pieces = set(self._pieces.spans(text))
        return sorted(
            at + _first_letter(name) for at, name in places if (at, at + len(name)) not in pieces
        )


def _preset(names: list[str]) -> Preset:
    rules = (
        Literal(*names, *_CONTRACTIONS),
        Run(LETTER),
        Run(NUMBER, at_most=1),
        Run(OTHER - code_points(UNMATCHED)),
    )
    return Preset(
        "clip-simple-tokenizer",
        stages=(Stage(rules, behavior="removed", invert=True),),
        source="openai/CLIP, simple_tokenizer.py",
        exactness="tested",
    )


def _variants(name: str) -> list[str]:
    """Return the texts that IGNORECASE matches with `name`, in lower case."""
    if name.count("s") > _MAX_S:
        return [name]
    letters = [("s", "ſ") if char == "s" else (char,) for char in name]
    return list(map("".join, product(*letters)))


def _occurrences(name: str, text: str) -> Iterator[int]:
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)


def _first_letter(name: str) -> int:
    """Return the index of the first letter of a special token."""
    return next((at for at, char in enumerate(name) if char.isalpha()), 0)
