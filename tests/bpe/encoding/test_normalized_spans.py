"""Spans through normalizers in C++ equal those of pure Python, for str and any bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.types import NormalizesText, Text
from bpe.vocabulary import Vocabulary
from pretok.machine.backend import BackendName
from random_normalizers import ADDED, PIECES, random_normalizer
from support import max_examples, seeded


def result(tokenizer: Tokenizer, text: Text, **options: Any) -> object:
    """Return the ids and the spans of a text, or the error."""
    try:
        ids, starts, ends = tokenizer.token_spans(text, **options)
    except SpecialTokenError as error:
        return str(error), error.token, error.position
    assert tokenizer.encode(text, **options) == ids.tolist()
    return ids.tolist(), starts.tolist(), ends.tolist()


def test_spans(native: BackendName) -> None:
    random = seeded("normalized spans")
    vocabulary = bpe.train(["xe xe ▁a ▁x é É fi"] * 3, vocab_size=266).vocabulary
    for _ in range(max_examples(300)):
        added = random.sample(ADDED, random.randrange(len(ADDED)))
        compare(random, vocabulary, random_normalizer(random), added)


def compare(
    random: Random, vocabulary: Vocabulary, normalizer: NormalizesText, added: list[AddedToken]
) -> None:
    options: dict[str, Any] = {
        "normalizer": normalizer, "added_tokens": added, "add_prefix_space": random.random() < 0.3,
    }  # fmt: skip
    try:
        expected = Tokenizer(vocabulary, "gpt2", backend="python", **options)
    except bpe.VocabularyError:  # the normalizer removes an added token
        return
    ours = Tokenizer(vocabulary, "gpt2", backend="native", **options)
    for _ in range(6):
        data = b"".join(random.choices(PIECES, k=random.randrange(14)))
        given = {
            "special": random.choice(("raise", "text", "allow", "plain")),
            "continuation": random.random() < 0.3,
        }
        for text in (data, data.decode("utf-8", "replace")):
            found = result(ours, text, **given)
            assert found == result(expected, text, **given), (normalizer, added, text, given)
