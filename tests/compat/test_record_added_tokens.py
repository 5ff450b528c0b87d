"""Compare the added tokens of bpe.compat.huggingface.record with those of tokenizers."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from bpe.compat.huggingface import record

tokenizers = pytest.importorskip("tokenizers")
if not hasattr(tokenizers, "AddedToken"):
    pytest.skip("tokenizers 1.0 has no added tokens", allow_module_level=True)

TEXTS = "abcxyzuv"
FLAGS = ("special", "normalized", "lstrip")


def random_file(source: random.Random) -> str:
    """Return a tokenizer.json whose ids have gaps, and whose added tokens may have other ids."""
    vocab = dict(zip("abc", source.sample(range(10), 3), strict=True))
    added: list[dict[str, Any]] = [
        {
            "id": source.randrange(12),
            "content": text,
            "single_word": False,
            "lstrip": source.random() < 0.3,
            "rstrip": False,
            "normalized": source.random() < 0.5,
            "special": source.random() < 0.5,
        }
        for text in source.sample(TEXTS, source.randrange(5))
    ]
    added.sort(key=lambda token: token["id"])
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    others = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    return json.dumps(
        {"version": "1.0", "added_tokens": added, "model": model} | dict.fromkeys(others)
    )


def state(tok: Any) -> tuple[Any, ...]:
    """Return what the calls say about the tokens of `tok`."""
    return (
        {
            id: (token.content, token.special, token.normalized, token.lstrip)
            for id, token in tok.get_added_tokens_decoder().items()
        },
        tok.get_vocab(),
        tok.get_vocab_size(),
        [tok.token_to_id(text) for text in TEXTS],
        [tok.id_to_token(id) for id in range(20)],
    )


@pytest.mark.parametrize("seed", range(8))
def test_added_tokens_get_the_ids_of_tokenizers(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(100):
        file = random_file(source)
        real, ours = tokenizers.Tokenizer.from_str(file), record.Tokenizer.from_str(file)
        assert state(ours) == state(real), file
        for _ in range(source.randrange(3)):
            tokens = [
                (
                    source.choice(["", *TEXTS]),
                    {name: source.random() < 0.5 for name in FLAGS if source.random() < 0.5},
                )
                for _ in range(source.randrange(5))
            ]
            name = source.choice(["add_tokens", "add_special_tokens"])
            numbers = [
                getattr(tok, name)([make(text, **flags) for text, flags in tokens])
                for tok, make in ((real, tokenizers.AddedToken), (ours, record.AddedToken))
            ]
            assert numbers[0] == numbers[1], (file, name, tokens)
            assert state(ours) == state(real), (file, name, tokens)
