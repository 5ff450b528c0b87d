"""Batches of texts that a normalizer changes: ids and errors equal those of single texts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import Lowercase, Prepend, Replace, Strip
from bpe.types import Normalizer
from pretok.machine.backend import BackendName, backend
from support import max_examples, seeded

PARTS = ["AB ab", "Éa", " ", "  ", "<x>", "<X>", "<nx>", "<NX>", "<s>", "<S>", "q", "\ud83d", "é"]
TOKENS = (
    AddedToken("<s>", 900, normalized=False),
    AddedToken("<x>", 901, special=False, normalized=False),
    AddedToken("<nx>", 902, special=False, normalized=True),
    AddedToken("<NS>", 903, special=True, normalized=True),
)
NORMALIZERS: dict[str, Normalizer] = {
    "nfc": "NFC",
    "lower": NormalizerChain((Lowercase(),)),
    "empties": NormalizerChain((Replace("q", ""), Strip(), Prepend("AB"))),
    "metaspace": NormalizerChain((Lowercase(),), MetaspaceStep("_", "always")),
    "first": NormalizerChain((Lowercase(), Strip()), MetaspaceStep("_", "first")),
    "never": NormalizerChain((), MetaspaceStep("_", "never")),
    "sentencepiece": SentencePieceNormalizer(escape_whitespaces=False),
}


def outcome(call: Callable[[], Any]) -> object:
    """Return the result of `call`, or its SpecialTokenError as a tuple."""
    try:
        return call()
    except SpecialTokenError as error:
        return error.token, error.position, error.text_index


def one_by_one(tokenizer: Tokenizer, texts: list[str | bytes], special: Any) -> object:
    """Return the ids of each text by its segments, or the first error."""
    rows = []
    for index, text in enumerate(texts):
        try:
            rows.append(tokenizer.token_spans(text, special)[0].tolist())
        except SpecialTokenError as error:
            return error.token, error.position, index
    return rows


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_batches(name: str, engine: BackendName) -> None:
    if engine == "native" and backend() != "native":
        pytest.skip("the native backend is not built")
    vocabulary = bpe.train(["ab AB é _ab <nx>"] * 3, vocab_size=270).vocabulary
    random = seeded(name)
    for tokens in ((), TOKENS[:2], TOKENS[2:], TOKENS):
        tokenizer = Tokenizer(
            vocabulary, "gpt2", normalizer=NORMALIZERS[name], added_tokens=tokens, backend=engine
        )
        for _ in range(max_examples(120)):
            texts = made_up(random)
            special = random.choice(["raise", "raise", "text", "allow", "plain"])
            check_batch(tokenizer, texts, special)
            for text in texts[:2]:
                check_single(tokenizer, text, special)


def made_up(random: Random) -> list[str | bytes]:
    """Return texts, some of which are bytes."""
    texts: list[str | bytes] = []
    for _ in range(random.randrange(5)):
        text = "".join(random.choices(PARTS, k=random.randrange(5)))
        ending = random.choice([b"", b"\xff", b"\xc3A\xa9"])
        texts.append(text.encode("utf-8", "replace") + ending if random.random() < 0.3 else text)
    return texts


def check_batch(tokenizer: Tokenizer, texts: list[str | bytes], special: Any) -> None:
    """Compare the calls for a batch with the segments of each text."""
    expected = one_by_one(tokenizer, texts, special)
    assert outcome(lambda: tokenizer.encode_batch(texts, special)) == expected, texts
    arrays = outcome(lambda: rows_of(*tokenizer.encode_batch_array(texts, special)))
    assert arrays == expected, texts


def rows_of(ids: Any, offsets: Any) -> list[list[int]]:
    """Return the rows of an array of ids."""
    return [row.tolist() for row in np.split(ids, offsets[1:-1])] if len(offsets) > 1 else []


def check_single(tokenizer: Tokenizer, text: str | bytes, special: Any) -> None:
    """Compare the calls for one text with its segments."""
    expected = one_by_one(tokenizer, [text], special)
    if isinstance(expected, tuple):
        expected = expected[0], expected[1], None
        assert outcome(lambda: tokenizer.encode(text, special)) == expected
        assert outcome(lambda: tokenizer.count(text, special)) == expected
        return
    assert isinstance(expected, list)
    assert tokenizer.encode(text, special) == expected[0]
    assert tokenizer.encode_array(text, special).tolist() == expected[0]
    assert tokenizer.count(text, special) == len(expected[0])
