r"""Find the words of a text, by a rule that does not depend on a vocabulary.

A word is a letter with all letters and marks that follow. A single apostrophe (U+0027 or U+2019),
zero width non-joiner or zero width joiner between a word and a letter continues the word. As a
regex, with the categories of Unicode 16.0:

    \p{L}[\p{L}\p{M}]*(?:['’\u200C\u200D]\p{L}[\p{L}\p{M}]*)*

In Chinese, Japanese, Thai and other scripts without spaces, such a word is a whole phrase.
"""

from __future__ import annotations

from functools import cache

from bpe.types import Offsets
from pretok.charsets import LETTER, MARK, code_points
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get
from pretok.rules import Phrase, Run

JOINERS = code_points("'", "’", "\u200c", "\u200d") - (LETTER | MARK)
WORD = Phrase(LETTER, LETTER | MARK, JOINERS)


@cache
def _splitter() -> PreTokenizer:
    return get(Preset("words", rules=(WORD, Run(~LETTER)), unicode="16.0"))


def word_spans(text: str) -> tuple[Offsets, Offsets]:
    """Return the starts and the ends of the words of `text`, in code points.

    >>> starts, ends = word_spans("Don't, 2 cafés!")
    >>> starts.tolist(), ends.tolist()
    ([0, 9], [5, 14])
    """
    splitter = _splitter()
    boundaries = splitter.offsets(text, "char")
    if len(boundaries) == 1:  # the text is empty
        return boundaries[1:], boundaries[1:]
    # Words and other text alternate, so every second pre-token is a word.
    first = 0 if splitter.explain(text[0])[0].rule == WORD else 1
    return boundaries[:-1][first::2], boundaries[1:][first::2]
