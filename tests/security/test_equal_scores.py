"""A SentencePiece model of many random pieces, of which some have equal scores, encodes fast.

Two of 20,000 random scores are mostly equal, because a file stores them in 32 bits. No list of
merges with distinct ranks gives the ids of such a model, so C++ compares the scores.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import bpe
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.token_facts import TokenType
from pretok.machine.backend import BackendName
from sentencepiece_models import BPE, BYTE_FALLBACK, BYTES, UNKNOWN, Row, merges_of, model
from support import growth, max_examples, processor_time, seeded
from vocabulary_files import write

sentencepiece = pytest.importorskip("sentencepiece")

LETTERS = {1: "a", 2: "ab", 3: "abé", 4: "ab日c", 26: "abcdefghijklmnopqrstuvwxyz"}
DOUBLINGS = 2.6**4
"""The limit for `growth`, whose larger input is 16 times as large: 2.6 for each doubling."""


def random_model(
    random: Random, letters: str, count: int, scores: int, has_fallback: bool = True
) -> bytes:
    """Return a model with about `count` random pieces of `letters`, of 2 to 24 letters.

    It has `scores` different scores, or random floating-point numbers if `scores` is 0.
    """
    longest = min(25, count + 2)
    texts = {"".join(random.choices(letters, k=random.randrange(2, longest))) for _ in range(count)}
    rows: list[Row] = [UNKNOWN, *(BYTES if has_fallback else ())]
    rows += [(letter, -1e6, TokenType.NORMAL) for letter in ["▁", *letters][random.randrange(2) :]]
    for text in sorted(texts):
        score = -float(random.randrange(scores)) if scores else random.uniform(-9, 0)
        rows.append((text, score, TokenType.NORMAL))
    return model(rows, BYTE_FALLBACK if has_fallback else BPE)


@pytest.mark.parametrize("size", LETTERS)
@pytest.mark.parametrize("scores", [0, 1, 5, 1000])
def test_ids_are_those_of_sentencepiece(tmp_path: Path, size: int, scores: int) -> None:
    random = seeded(f"{size} {scores}")
    letters = LETTERS[size]
    for index in range(max_examples(4)):
        count = random.choice([3, 30, 300, 3000])
        data = random_model(random, letters, count, scores, has_fallback=index % 2 == 0)
        path = write(tmp_path / "a.model", data)
        tok, pure = bpe.load(path), bpe.load(path, backend="python")
        live = sentencepiece.SentencePieceProcessor(model_proto=data)
        for length in (1, 2, 10, 63, 64, 65, 200, 3000):
            unit = "".join(random.choices(f"{letters}  xé", k=random.choice([1, 3, length])))
            text = (unit * length)[:length]
            expected = live.encode(text)
            assert tok.encode(text) == expected
            assert [token.id for token in tok.tokens(text)] == expected
            assert tok.tokens(text) == pure.tokens(text)
            assert pure.encode(text) == expected


def test_equal_scores_run_natively(tmp_path: Path, native: BackendName) -> None:
    data = random_model(seeded("ties"), "ab", 2000, 100)
    tok = bpe.load(write(tmp_path / "a.model", data), backend=native)
    vocabulary = tok.vocabulary
    assert isinstance(vocabulary, CharacterVocabulary)
    assert merges_of(vocabulary) is None
    assert vocabulary.why_not_ranked == "pieces of several characters have equal scores"
    text = "abba" * 2000
    again = CharacterVocabulary(
        vocabulary.token_bytes, vocabulary.scores, vocabulary.unknown_id, vocabulary.fallback_ids
    )
    assert again == vocabulary
    assert bpe.Tokenizer(
        again, tok.pre_tokenizer, normalizer=tok.normalizer, decoder=tok.decoder, backend=native
    ).encode(text) == tok.encode(text)
    assert tok.decode(tok.encode(text)) == text


def test_time_is_near_that_of_sentencepiece(tmp_path: Path, native: BackendName) -> None:
    random = seeded("random scores")
    data = random_model(random, "ab", 20_000, 0)
    tok = bpe.load(write(tmp_path / "a.model", data), backend=native)
    live = sentencepiece.SentencePieceProcessor(model_proto=data)
    text = "".join(random.choices("ab", k=100_000))
    assert tok.encode(text) == live.encode(text)
    ours = processor_time(lambda _: tok.encode(text), 0)
    theirs = processor_time(lambda _: live.encode(text), 0)
    assert ours < 3 * theirs  # measured: a third of it


@pytest.mark.parametrize("scores", [0, 100])
def test_growth_with_the_text(tmp_path: Path, backend: BackendName, scores: int) -> None:
    random = seeded("text")
    data = random_model(random, "ab", 20_000 if backend == "native" else 2000, scores)
    tok = bpe.load(write(tmp_path / "a.model", data), backend=backend, cache_mb=0)
    text = "".join(random.choices("ab", k=320_000))
    size = 20_000 if backend == "native" else 1000
    tok.encode(text[:5000])  # makes the tables
    assert growth(lambda count: tok.encode(text[:count]), size) < DOUBLINGS


@pytest.mark.parametrize("scores", [0, 100])
def test_growth_with_the_number_of_pieces(tmp_path: Path, native: BackendName, scores: int) -> None:
    text = "".join(seeded("pieces").choices("ab", k=20_000))
    paths = {
        count: write(tmp_path / f"{count}.model", random_model(seeded(count), "ab", count, scores))
        for count in (1000, 16_000)
    }

    def load_and_encode(count: int) -> None:
        bpe.load(paths[count], backend=native, cache_mb=0).encode(text)

    assert growth(load_and_encode, 1000) < DOUBLINGS
