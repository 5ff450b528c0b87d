r"""Compare how many tokens texts and their words become with several vocabularies.

A word is found by a rule that does not depend on a vocabulary: a letter with all letters and marks
that follow. A single apostrophe (U+0027 or U+2019), zero width non-joiner or zero width joiner
between a word and a letter continues the word. As a regex, with the categories of Unicode 16.0:

    \p{L}[\p{L}\p{M}]*(?:['’\u200C\u200D]\p{L}[\p{L}\p{M}]*)*

In Chinese, Japanese, Thai and other scripts without spaces, such a word is a whole phrase.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from bpe.encoding.utf8 import ESCAPE, decode_utf8, encode_utf8
from bpe.inputs import refuse_name
from bpe.tokenizer import Tokenizer
from bpe.types import Errors, Offsets, Text
from pretok.charsets import LETTER, MARK, code_points
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok.registry import get
from pretok.rules import Phrase, Run

JOINERS = code_points("'", "’", "\u200c", "\u200d") - (LETTER | MARK)
WORD = Phrase(LETTER, LETTER | MARK, JOINERS)


class Comparison(NamedTuple):
    """The numbers of one vocabulary and one text.

    `words` is the number of words, by the rule of `word_spans`. The tokens of a word are all tokens
    that hold a part of the word. They may also hold other text, such as a leading space.
    `word_tokens` is the number of tokens of a word, summed over all words. `one_token_words` is the
    number of words with exactly one token.
    """

    vocabulary: str
    text: str
    text_bytes: int
    tokens: int
    words: int
    word_tokens: int
    one_token_words: int

    @property
    def bytes_per_token(self) -> float | None:
        """The bytes of the text as UTF-8, divided by its tokens; None for an empty text."""
        return self.text_bytes / self.tokens if self.tokens else None

    @property
    def tokens_per_word(self) -> float | None:
        """The mean number of tokens of a word; None for a text without words."""
        return self.word_tokens / self.words if self.words else None

    @property
    def one_token_share(self) -> float | None:
        """The share of words with exactly one token; None for a text without words."""
        return self.one_token_words / self.words if self.words else None


def compare(
    tokenizers: Mapping[str, Tokenizer], texts: Mapping[str, Text], *, errors: Errors = "replace"
) -> list[Comparison]:
    """Return the numbers of each text with each of `tokenizers`, text by text.

    The keys of both mappings are names. Special tokens in a text are ordinary text. Raises
    TypeError if an argument is not a mapping, and ValueError if a str is the name of a file or a
    folder, or a glob pattern of files.

    >>> import bpe
    >>> tok = bpe.train(["a cat", "a cat"], vocab_size=258, preset="gpt2")
    >>> [row] = compare({"mine": tok}, {"pets": "a cat, a cats"})
    >>> row.tokens, row.words, row.word_tokens, row.one_token_words
    (9, 4, 5, 3)
    """
    for parameter, argument in (("tokenizers", tokenizers), ("texts", texts)):
        if not isinstance(argument, Mapping):
            raise TypeError(
                f"{parameter} is of type {type(argument).__name__}; expected a mapping from names"
            )
    for name, tokenizer in tokenizers.items():
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"tokenizers[{name!r}]: expected a bpe.Tokenizer, got {type(tokenizer).__name__}; "
                "pass bpe.load(path_or_name)"
            )
    rows = []
    for name, value in texts.items():
        # If the text is bytes, surrogates stand for invalid bytes in the str, and ESCAPE encodes
        # the str to the same bytes again.
        if isinstance(value, str):
            refuse_name(value, "pass the content of the files")
        text = value if isinstance(value, str) else decode_utf8(bytes(value))
        handler = errors if isinstance(value, str) else ESCAPE
        data = encode_utf8(text) if handler == "replace" else text.encode("utf-8", handler)
        word_starts, word_ends = word_spans(text)
        for vocabulary, tokenizer in tokenizers.items():
            ids, starts, ends = tokenizer.token_spans(
                text, "text", errors=handler, trim_offsets=False
            )
            # The tokens of a word start before its end, and do not end at or before its start. Both
            # arrays ascend, so the difference of two positions is the number of these tokens.
            per_word = np.searchsorted(starts, word_ends) - np.searchsorted(
                ends, word_starts, side="right"
            )
            rows.append(
                Comparison(
                    vocabulary,
                    name,
                    len(data),
                    len(ids),
                    len(word_starts),
                    int(per_word.sum()),
                    int((per_word == 1).sum()),
                )
            )
    return rows


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
