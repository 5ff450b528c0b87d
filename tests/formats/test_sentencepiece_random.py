"""Random SentencePiece models: results equal those of sentencepiece, in both backends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

import bpe
from random_sentencepiece import (
    RandomModel,
    random_letters,
    random_texts,
    random_trained,
    random_written,
)
from sentencepiece_models import assert_equal
from support import max_examples, seeded
from vocabulary_files import write

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")


pytestmark = pytest.mark.usefixtures("first_texts")


def _compare(folder: Path, made: RandomModel, texts: Iterable[str], random: Random) -> None:
    path = write(folder / "random.model", made.data)
    tokenizers = [bpe.load(path, backend="python"), bpe.load(path)]
    live = sentencepiece.SentencePieceProcessor(model_proto=made.data)
    for text in texts:
        try:
            assert_equal(tokenizers, live, text, random)
            # A new tokenizer encodes its first texts without merges.
            assert bpe.load(path).encode(text, "text") == live.encode(text)
        except AssertionError as error:
            pytest.fail(f"{made.description}: {error}")


def test_trained_models(tmp_path: Path) -> None:
    random = seeded("random trained models")
    compared = 0
    for _ in range(max_examples(50)):
        made = random_trained(random, tmp_path)
        if made is not None:
            _compare(tmp_path, made, random_texts(random, 12), random)
            compared += 1
    assert compared > max_examples(50) // 2


def test_written_models(tmp_path: Path) -> None:
    random = seeded("random written models")
    for _ in range(max_examples(100)):
        _compare(tmp_path, random_written(random), random_letters(random, 12), random)
