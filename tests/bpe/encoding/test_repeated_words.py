"""Repeated new pre-tokens within a batch, of every length that caches tell apart."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from bpe import Tokenizer, Vocabulary
from pretok.machine.backend import BackendName
from support import max_examples, seeded
from vocabularies import BYTES, naive

ENTRY_IDS = 18
"""The most ids of a long pre-token that are copied like those of a short one."""
LENGTHS = (1, 2, 7, 14, 15, 16, ENTRY_IDS, ENTRY_IDS + 1, 40, 61, 62, 63)
"""Lengths on both sides of each limit: keys of 15 bytes, and merges of 62 bytes."""
VOCABULARY = Vocabulary(
    # No merges make "unreachable token", "zq" or "中文字", so each is a token only as a whole.
    BYTES
    | dict(
        enumerate(
            [b"ab", b"abab", b"cd", b"abcd", b"zq", "中".encode(), "文".encode(), "é".encode(),
             b"unreachabletokens", "中文字".encode()],
            256,
        )
    )
)  # fmt: skip


@cache
def expected_ids(word: str) -> list[int]:
    """Return the ids of a pre-token, by the definition of merging."""
    return naive(VOCABULARY, word.encode())


def words(random: Random) -> list[str]:
    """Return unreachable tokens, a word of about 512 bytes, and random words of some scripts.

    A cache has no words of more than 512 bytes.
    """
    made = ["zq", "unreachabletokens", "中文字", "ab" * random.choice([256, 257])]
    for _ in range(random.randrange(1, 12)):
        letters = random.choice(["abcd", "ab", "xyz", "中文字国", "é中a", "аб"])
        length = random.choice(LENGTHS)
        made.append("".join(random.choices(letters, k=length)))
    return made


@pytest.mark.parametrize("preset", ["gpt2", "cl100k"])
def test_repeated_words_have_the_ids_of_each_word(preset: str, backend: BackendName) -> None:
    for number in range(max_examples(5)):
        random = seeded(number)
        made = words(random)
        text = random.choices(made, k=random.randrange(1, 120))
        # Digits are pre-tokens of their own, so they keep the words apart.
        tok = Tokenizer(VOCABULARY, preset, backend=backend)
        for _ in range(2):
            assert tok.encode("1".join(text) + "1") == [
                id for word in text for id in (*expected_ids(word), ord("1"))
            ]
