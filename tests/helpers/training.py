"""Trainers of both backends, and the reference trainers that they must equal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bpe.training.counting import WordCounts
from bpe.training.trainer import BYTE_ORDER, TieBreak, Trainer
from pretok.machine.backend import BackendName

Merges = list[tuple[bytes, bytes]]

CHARACTERS = {
    chr(byte if place < 188 else 256 + place - 188): byte for place, byte in enumerate(BYTE_ORDER)
}
"""GPT-2's characters for bytes: 188 bytes keep their character, the rest begin at U+0100."""


def make_trainer(
    words: dict[bytes, int],
    backend: BackendName,
    tie_break: TieBreak = "huggingface",
    min_frequency: int = 0,
    max_token_length: int | None = None,
) -> Any:
    if backend == "python":
        counts = WordCounts()
        counts.add_words(words)
        return Trainer(counts, tie_break, min_frequency, max_token_length)
    from pretok import _core

    native = _core.WordCounts()
    native.add_words(words)
    return _core.Trainer(native, tie_break, min_frequency, max_token_length)


Rows = Sequence[tuple[Sequence[int], int]]
"""Words as symbols, each an index in an alphabet of tokens, and their counts."""


def make_trainer_of_rows(
    tokens: Sequence[str],
    rows: Rows,
    backend: BackendName,
    tie_break: TieBreak = "huggingface",
    least: int = 0,
    longest: int | None = None,
    joins_known: bool = False,
    max_words: int | None = None,
) -> Any:
    """Return a trainer of words that consist of tokens."""
    limits = tie_break, least, longest
    if backend == "python":
        words = [([tokens[symbol] for symbol in row], count) for row, count in rows]
        return Trainer(words, *limits, tokens, joins_known, max_words)
    from pretok import _core

    native = _core.TokenRows(False, None)
    for row, count in rows:
        native.add(np.array(row, np.uint32), np.array([len(row)], np.uint32), np.array([count]))
    units = np.frombuffer("".join(tokens).encode("utf-32-le"), np.uint32)
    lengths = np.array(list(map(len, tokens)), np.uint32)
    rest = joins_known, max_words, None
    return _core.Trainer.of_tokens(units, lengths, native, *limits, *rest)


def merges_of(trainer: Any) -> Merges:
    """Return the merges of a trainer as bytes."""
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right, made in trainer.first_merges().tolist():
        assert made == len(tokens)
        tokens.append(tokens[left] + tokens[right])
    assert len(tokens) == 256 + trainer.tokens
    rows = trainer.merges().tolist()
    assert all(tokens[left] + tokens[right] == tokens[made] for left, right, made in rows)
    return [(tokens[left], tokens[right]) for left, right, _ in rows]


def hugging_face(
    texts: Iterable[str], tokens: int, pattern: str | None = None, **options: int
) -> Merges:
    """Return the merges that Hugging Face's BpeTrainer makes.

    A `pattern` of None splits like GPT-2; "" does not split.
    """
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    pre, byte_level = tokenizers.pre_tokenizers, tokenizers.pre_tokenizers.ByteLevel
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    if pattern:
        split = pre.Split(tokenizers.Regex(pattern), "isolated")
        whole = byte_level(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre.Sequence([split, whole])
    else:
        use_regex = pattern is None
        tokenizer.pre_tokenizer = byte_level(add_prefix_space=False, use_regex=use_regex)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + tokens,
        initial_alphabet=byte_level.alphabet(),
        show_progress=False,
        **options,
    )
    tokenizer.train_from_iterator(texts, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(_bytes(left), _bytes(right)) for left, right in merges]


def gigatoken(text: str, tokens: int) -> Merges:
    """Return the merges that gigatoken's trainer makes, with GPT-2's pre-tokens.

    By default gigatoken ends documents at "<|endoftext|>". This function passes a separator that no
    text contains. gigatoken does not stop if no pair is left, so `tokens` must not be too large.
    """
    engine = pytest.importorskip("gigatoken", reason="gigatoken is not installed")
    _, merges = engine.train_bpe(text.encode(), 256 + tokens, [], separator=b"\0no such thing\0")
    return [tuple(pair) for pair in merges]


def _bytes(token: str) -> bytes:
    return bytes(CHARACTERS[char] for char in token)


def recount(words: Sequence[tuple[bytes, int]], tokens: int) -> Merges:
    """Return the merges by minbpe's algorithm.

    It counts all pairs again for each merge. It merges the pair with the highest count; if several
    pairs have this count, the one that occurs first in `words`.
    """
    sequences = [([bytes([byte]) for byte in word], count) for word, count in words]
    # A symbol is (bytes, number of its merge), because each merge makes a new token.
    symbols = [([(token, 0) for token in word], count) for word, count in sequences]
    merges: Merges = []
    for made in range(1, tokens + 1):
        counts: Counter[tuple[tuple[bytes, int], tuple[bytes, int]]] = Counter()
        for word, count in symbols:
            for pair in pairwise(word):
                counts[pair] += count
        if not counts:
            break
        best = max(counts, key=counts.__getitem__)
        (left, _), (right, _) = best
        merges.append((left, right))
        merged = []
        for word, count in symbols:
            new, at = [], 0
            while at < len(word):
                if tuple(word[at : at + 2]) == best:
                    new.append((left + right, made))
                    at += 2
                else:
                    new.append(word[at])
                    at += 1
            merged.append((new, count))
        symbols = merged
    return merges
