"""Texts to train vocabularies on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bpe.tokenizer import Tokenizer
from training import Merges

PROSE = [
    "The cat's cats sat on the mat, 12345 times.\n\n  That is that: the END!",
    "Der Über-Hut kostet 1.234,50 €; naïve café. 日本語の本 日本 😀😀 \t\tdef f(x):\n\treturn x\n",
    "the the the them there then they're they'll THE ThE 11 111 1111    \n \n",
]
texts = st.lists(
    st.sampled_from(["ab", "a b", "aé", "it's 12\n", "日本 "]).flatmap(
        lambda letters: st.text(st.sampled_from(letters), max_size=30)
    ),
    max_size=8,
)


def merges_of(tokenizer: Tokenizer) -> Merges:
    return list(tokenizer.merges)


def generated(size: int) -> str:
    """Return a text of `size` // 6 words, whose frequencies resemble those of real words.

    Calls with equal sizes return equal texts.
    """
    chance = np.random.default_rng(11)
    letters = [*"etaoinshrdlucmfwypvbgkjqxzéü中文"]
    weights = 1.0 / np.arange(1, len(letters) + 1)
    chosen = chance.choice(len(letters), 60_000, p=weights / weights.sum())
    lengths = chance.integers(1, 11, 8000)
    ends = np.cumsum(lengths)
    words = [
        "".join(letters[at] for at in chosen[end - length : end])
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]
    picks = (chance.pareto(1.1, size // 6) * 4).astype(int) % len(words)
    gaps = chance.choice([" ", " ", " ", ", ", ".\n", "'s ", " 12 ", "  "], size // 6)
    return "".join(
        words[pick] + gap for pick, gap in zip(picks.tolist(), gaps.tolist(), strict=True)
    )
