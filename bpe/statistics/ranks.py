"""Find the length and the script of each token of a vocabulary, in order of rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe.tokenizer import Tokenizer
from bpe.types import Offsets
from pretok.pre_tokenizers.scripts import script_numbers
from pretok.text import code_points_of

SCRIPTS = {
    "Latin": "a",
    "Cyrillic": "я",
    "Greek": "α",
    "Arabic": "ا",
    "Hebrew": "א",
    "Devanagari": "क",
    "Bengali": "ক",
    "Thai": "ก",
    "Armenian": "ա",
    "Georgian": "ა",
    "Han and kana": "中",
    "Hangul": "한",
}
"""The scripts that have a kind of their own, each with one of its characters."""
KINDS = (*SCRIPTS, "another script", "several scripts", "no script", "incomplete character")
"""The kinds of tokens. Digits, punctuation, symbols and white space have no script."""
NO_SCRIPT = " !\u0301"
"""One character for each number in the table of scripts that does not stand for a script."""


class Ranks(NamedTuple):
    """The tokens of a vocabulary without its added tokens, in order of rank.

    `ids` has their ids, `lengths` their lengths in bytes, and `kinds` the indexes of their kinds in
    KINDS.
    """

    ids: Offsets
    lengths: Offsets
    kinds: NDArray[np.uint8]


def ranks(tokenizer: Tokenizer) -> Ranks:
    """Return the tokens of `tokenizer` in order of rank: tokens without merges first.

    A token has the rank of the first merge that makes it. If the vocabulary lists no merges, the id
    is the rank. Scripts are those of the table of pretok.pre_tokenizers.UnicodeScripts, in which
    Hiragana and Katakana count as Han.

    >>> import bpe
    >>> found = ranks(bpe.train(["1 cat, 1 cat"], vocab_size=259, preset="gpt2"))
    >>> found.ids[-2:].tolist(), found.lengths[-2:].tolist()
    ([257, 258], [3, 4])
    >>> [KINDS[kind] for kind in found.kinds[-2:]]
    ['Latin', 'Latin']
    """
    vocabulary = tokenizer.vocabulary
    added = {token.id for token in tokenizer.added_tokens}
    bytes_of = {id: bytes([byte]) for byte, id in vocabulary.byte_ids.items()}
    tokens = {id: bytes_of.get(id, token) for id, token in vocabulary.token_bytes.items()}
    first_rank: dict[int, int] = {}
    for rank, (_, _, result) in enumerate(vocabulary.merges or ()):
        first_rank.setdefault(result, rank)
    ids = sorted(tokens.keys() - added, key=lambda id: (first_rank.get(id, -1), id))
    return Ranks(
        np.array(ids, np.int64),
        np.array([len(tokens[id]) for id in ids], np.int64),
        np.array([_kind(tokens[id]) for id in ids], np.uint8),
    )


def _kind(token: bytes) -> int:
    """Return the index in KINDS of the kind of `token`."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return KINDS.index("incomplete character")
    numbers = script_numbers()
    scripts = set(numbers[code_points_of(text)].tolist())
    scripts -= {int(numbers[ord(char)]) for char in NO_SCRIPT}
    if len(scripts) != 1:
        return KINDS.index("several scripts" if scripts else "no script")
    number = scripts.pop()
    named = [name for name, char in SCRIPTS.items() if numbers[ord(char)] == number]
    return KINDS.index(named[0] if named else "another script")
