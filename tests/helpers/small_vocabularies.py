"""Random small byte-level vocabularies for the tests of canonical ids."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.errors import VocabularyError
from pretok import from_pattern
from pretok.machine.backend import BackendName
from vocabularies import BYTES

PARTS = ["a", "b", "A", " ", "\n", "1", ".", "é", "中", "'s", "'", "<", "<e>", "e\u0301", "ab "]
"""Texts whose concatenations meet all rules of the presets, and the added tokens."""
MERGED = [
    b"a",
    b"b",
    b" ",
    b"'",
    b"1",
    b".",
    b"\n",
    b"\xc3",
    b"\xa9",
    b"A",
    b"s",
    b"<",
    b"\xe4",
    b"\t",
]


def three_letters(**options: Any) -> Tokenizer:
    """Return a tokenizer whose pre-tokens have up to three of the letters a-z, é, ế, ß and " ".

    No pair of letters shows where a pre-token ends, so an end depends on the start of the letters.
    """
    vocabulary = Vocabulary(BYTES | {256: b"aa", 257: b"aaa"})
    return Tokenizer(vocabulary, from_pattern("[ a-zéếß]{1,3}|[^ a-zéếß]"), **options)


def random_tokenizer(
    rng: Random, preset: str, backend: BackendName, contents: Sequence[str] = (), **options: Any
) -> Tokenizer:
    """Return a tokenizer with random merges, ranks and added tokens.

    Some of `contents` become added tokens with random flags.
    """
    tokens = dict(BYTES)
    merges: list[tuple[int, int, int]] = []
    by_bytes = {token: id for id, token in tokens.items()}
    pool = list(MERGED)
    for _ in range(rng.randrange(3, 18)):
        left, right = rng.choice(pool), rng.choice(pool)
        joined = left + right
        if len(joined) > 6:
            continue
        if joined in by_bytes:
            merges.append((by_bytes[left], by_bytes[right], by_bytes[joined]))
            continue
        id = len(tokens)
        tokens[id] = joined
        by_bytes[joined] = id
        merges.append((by_bytes[left], by_bytes[right], id))
        pool.append(joined)
    if rng.random() < 0.3:
        tokens[len(tokens)] = rng.choice([b"abab", b"a b", b"bbb", b" 'a", b"a<e"])
    if rng.random() < 0.5:
        # Tokens whose parts merge later than the tokens.
        rng.shuffle(merges)
        ids = list(range(256, len(tokens)))
        new = dict(zip(ids, rng.sample(ids, len(ids)), strict=True))
        tokens = {new.get(id, id): token for id, token in tokens.items()}
        merges = [tuple(new.get(id, id) for id in merge) for merge in merges]  # type: ignore[misc]
    size = len(tokens)
    kind = rng.randrange(3)
    try:
        if kind == 0:
            vocabulary = Vocabulary(tokens)
        else:
            vocabulary = Vocabulary(tokens, merges=merges, ignore_merges=kind == 1)
    except VocabularyError:
        vocabulary = Vocabulary(dict(list(tokens.items())[:-1]), merges=merges)
    added = [
        AddedToken("<e>", size + 3),
        AddedToken("<e><", size + 5, lstrip=rng.random() < 0.3, rstrip=rng.random() < 0.3),
        AddedToken("ab ", size + 7, special=False),
    ]
    added += [
        AddedToken(
            content, size + 20 + at, special=rng.random() < 0.5, normalized=rng.random() < 0.7
        )
        for at, content in enumerate(contents)
    ]
    settings: dict[str, Any] = {
        "added_tokens": rng.sample(added, rng.randrange(len(added) + 1)),
        "normalizer": rng.choice([None, None, "NFC"]),
    }
    return Tokenizer(vocabulary, preset, backend=backend, **{**settings, **options})
