"""BPE dropout has the distribution of tokenizers' merge loop, by its exact probabilities."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bpe
from bpe import AddedToken, BpeError, SpecialTokenError, Tokenizer, Vocabulary
from bpe.encoding.dropout import PythonSampler
from bpe.encoding.pipeline import Pipeline
from paths import shared
from pretok.machine.backend import BackendName
from random_sentencepiece import random_written
from random_text_models import random_file
from support import max_examples, seeded
from text_models import PARTS
from vocabularies import BYTES, tokenizer
from vocabulary_files import huggingface, write

MERGES = [("a", "b"), ("b", "a"), ("ab", "a"), ("a", "a"), ("ab", "ab")]
TOKENS = BYTES | {256 + at: (a + b).encode() for at, (a, b) in enumerate(MERGES)}
IDS = {token: id for id, token in TOKENS.items()}
ROWS = [(IDS[a.encode()], IDS[b.encode()], IDS[(a + b).encode()]) for a, b in MERGES]
Distribution = dict[tuple[int, ...], Fraction]


def distribution(word: str, dropout: Fraction) -> Distribution:
    """Return the probability of each result, from all states of the loop and their probabilities.

    A state has the symbols as (place, id), the queue and the pairs that were left out, as
    (rank, place, result).
    """
    ranks = {(left, right): (rank, result) for rank, (left, right, result) in enumerate(ROWS)}
    first = tuple(enumerate(word.encode()))

    def pair(left: tuple[int, int], right: tuple[int, int]) -> list[tuple[int, int, int]]:
        found = ranks.get((left[1], right[1]))
        return [(found[0], left[0], found[1])] if found else []

    queue = [each for left, right in pairwise(first)
             for each in pair(left, right)]  # fmt: skip
    states: dict[Any, Fraction] = {(first, tuple(sorted(queue)), ()): Fraction(1)}
    results: Distribution = {}
    while states:
        following: dict[Any, Fraction] = {}
        for (symbols, waiting, left_out), chance in states.items():
            if not waiting:
                ids = tuple(id for _, id in symbols)
                results[ids] = results.get(ids, Fraction(0)) + chance
                continue
            top, *rest = waiting
            skipped = (symbols, tuple(rest), (*left_out, top))
            following[skipped] = following.get(skipped, Fraction(0)) + chance * dropout
            rest += left_out
            places = [place for place, _ in symbols]
            at = places.index(top[1]) if top[1] in places else len(places)
            kept = symbols
            if at + 1 < len(symbols) and ranks.get((symbols[at][1], symbols[at + 1][1])) == (
                ranks.get((symbols[at][1], symbols[at + 1][1]), (0, -1))[0],
                top[2],
            ):
                kept = (*symbols[:at], (top[1], top[2]), *symbols[at + 2 :])
                if at:
                    rest += pair(kept[at - 1], kept[at])
                if at + 1 < len(kept):
                    rest += pair(kept[at], kept[at + 1])
            merged = (kept, tuple(sorted(rest)), ())
            following[merged] = following.get(merged, Fraction(0)) + chance * (1 - dropout)
        states = {state: chance for state, chance in following.items() if chance}
    assert sum(results.values()) == 1
    return results


def small(backend: BackendName, **options: Any) -> Tokenizer:
    return Tokenizer(Vocabulary(TOKENS, ROWS, **options), "gpt2", backend=backend)


@pytest.mark.parametrize("word", ["ab", "aba", "abab", "aabab"])
@pytest.mark.parametrize("dropout", [Fraction(1, 4), Fraction(2, 3)])
def test_exact_probabilities(word: str, dropout: Fraction, backend: BackendName) -> None:
    tok, rounds = small(backend), 3000
    counts = Counter(
        tuple(tok.encode(word, dropout=float(dropout), seed=seed)) for seed in range(rounds)
    )
    expected = distribution(word, dropout)
    assert set(counts) <= set(expected)
    for ids, chance in expected.items():
        # The seeds are fixed, so this test never fails by chance.
        room = 4.5 * sqrt(float(chance * (1 - chance)) * rounds) + 1
        assert abs(counts[ids] - float(chance) * rounds) < room, (ids, chance)


@pytest.mark.parametrize("dropout", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_tokenizers_has_this_distribution(dropout: float, ignore_merges: bool) -> None:
    hf = pytest.importorskip("tokenizers")
    vocab = {
        token.decode("latin-1"): id for id, token in TOKENS.items() if id in (97, 98) or id > 255
    }
    model = hf.models.BPE(vocab, MERGES, dropout=dropout, ignore_merges=ignore_merges)
    engine, rounds = hf.Tokenizer(model), 20_000
    for word in ("abab", "aabab"):
        counts = Counter(tuple(engine.encode(word).ids) for _ in range(rounds))
        expected = distribution(word, Fraction(dropout))
        assert set(counts) <= set(expected)
        # Hoeffding's bound: each count leaves this range with a probability below 1e-12.
        room = sqrt(log(2e12) / 2 * rounds)
        for ids, chance in expected.items():
            assert abs(counts[ids] - float(chance) * rounds) < room, (word, ids)


def test_no_merge_and_all_merges(backend: BackendName) -> None:
    for ignore_merges in (False, True):
        tok = small(backend, ignore_merges=ignore_merges)
        text = "abab aba é"
        assert tok.encode(text, dropout=0, seed=3) == tok.encode(text, dropout=0.0)
        assert tok.encode(text, dropout=0) == tok.encode(text)
        assert bytes(tok.encode(text, dropout=1)).decode() == text
        assert tok.encode("", dropout=0.5) == []


def test_seeds_and_batches(backend: BackendName) -> None:
    tok = small(backend)
    texts = ["ababaab abab aabb" * 3] * 4 + ["", "aab"]
    rows = tok.encode_batch(texts, dropout=0.4, seed=7)
    assert rows == tok.encode_batch(texts, dropout=0.4, seed=7, threads=3)
    assert rows[0] == tok.encode(texts[0], dropout=0.4, seed=7)
    assert rows[0] == tok.encode_array(texts[0], dropout=0.4, seed=7).tolist()
    assert len({tuple(row) for row in rows[:4]}) == 4
    ids, offsets = tok.encode_batch_array(texts, dropout=0.4, seed=7)
    assert ids.tolist() == [id for row in rows for id in row]
    assert offsets.tolist()[-1] == len(ids)
    assert len({tuple(tok.encode(texts[0], dropout=0.5)) for _ in range(20)}) > 15
    assert tok.encode(texts[0], dropout=0.4, seed=1 << 64) == tok.encode(
        texts[0], dropout=0.4, seed=0
    )
    # These ids stay the same in all versions.
    expected = [[258, 256, 256], [97, 257, 256, 97, 98]]
    assert tok.encode_batch(["abaabab"] * 2, dropout=0.6, seed=7) == expected
    with pytest.raises(TypeError, match=r"texts\[1\]: "):
        tok.encode_batch(["a", 1], dropout=0.4)  # type: ignore[list-item]


def test_added_tokens_prefix_and_template(backend: BackendName) -> None:
    tok = Tokenizer(
        Vocabulary(TOKENS, ROWS), "gpt2", backend=backend, add_prefix_space=True,
        normalizer="NFC", added_tokens=[AddedToken("<e>", 999)], template=bpe.Template((1,), (2,)),
    )  # fmt: skip
    ids = tok.encode("ab<e>e\u0301", "allow", dropout=1, add_special_tokens=True)
    assert ids == [1, *b" ab", 999, *b" ", *"é".encode(), 2]
    with pytest.raises(SpecialTokenError) as error:
        tok.encode_batch(["a", "é<e>"], dropout=0.5, seed=1)
    assert (error.value.text_index, error.value.position) == (1, 1)


def test_arguments(backend: BackendName) -> None:
    tok: Any = small(backend)
    for call in (
        tok.encode,
        tok.encode_array,
        lambda text, **more: tok.encode_batch([text], **more),
    ):
        for wrong in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="expected a number from 0 to 1"):
                call("ab", dropout=wrong)
        with pytest.raises(TypeError, match="expected a number from 0 to 1"):
            call("ab", dropout="0.1")
        with pytest.raises(TypeError, match="expected an int or None"):
            call("ab", dropout=0.1, seed=1.5)
        with pytest.raises(ValueError, match="seed= needs dropout="):
            call("ab", seed=1)


@pytest.mark.parametrize("name", ["cl100k", "llama3"])
def test_published_vocabularies_decode(name: str, backend: BackendName) -> None:
    tok = tokenizer(name, backend)
    text = "The quick brown fox, 日本語 naïve 123!"
    for seed in range(5):
        ids = tok.encode(text, dropout=0.2, seed=seed)
        assert tok.decode(ids) == text
        assert len(ids) >= len(tok.encode(text))
    assert len(tok.encode(text, dropout=1)) == len(text.encode())


@pytest.mark.parametrize("file", ["hf/llama2.json", "spm/llama2.model"])
def test_llama_2(file: str, backend: BackendName) -> None:
    tok = bpe.load(shared("vocabs", *file.split("/")), backend=backend)
    text = "The quick brown  fox, naïve \u4e2d\U0001f600"
    # The text is one pre-token, so pairs that were left out soon return to the queue.
    found = {tuple(tok.encode(text, dropout=0.5, seed=seed)) for seed in range(20)}
    assert len(found) > 4
    for ids in found:
        assert tok.decode(list(ids)) == text
    assert tok.decode(tok.encode(text, dropout=1)) == text


def test_llama_2_has_the_distribution_of_tokenizers(native: BackendName) -> None:
    hf = pytest.importorskip("tokenizers")
    path, rounds = shared("vocabs", "hf", "llama2.json"), 4000
    file = json.loads(path.read_text("utf-8"))
    file["model"]["dropout"] = 0.3
    engine, tok = hf.Tokenizer.from_str(json.dumps(file)), bpe.load(path, backend=native)
    theirs = Counter(
        tuple(engine.encode("a cat", add_special_tokens=False).ids) for _ in range(rounds)
    )
    ours = Counter(tuple(tok.encode("a cat", dropout=0.3, seed=seed)) for seed in range(rounds))
    room = sqrt(log(2e12) / 2 * rounds)
    for ids in {*ours, *theirs}:
        # `ours` is fixed and within 5 standard deviations; `theirs` is bounded by Hoeffding.
        assert abs(ours[ids] - theirs[ids]) < room + 2.5 * sqrt(rounds), ids


def test_a_file_with_dropout(tmp_path: Path) -> None:
    """The file loads with a warning; only calls with `dropout` leave out merges."""
    file = huggingface(model_dropout=0.25)
    path = write(tmp_path / "tokenizer.json", file)
    plain = bpe.load(write(tmp_path / "plain.json", huggingface()))
    with pytest.warns(bpe.VocabularyWarning, match="is 0.25, with which"):
        tok = bpe.load(path)
    assert (tok.dropout, plain.dropout) == (0.25, 0.0)
    text = "ab abc " * 20
    assert tok.encode(text) == plain.encode(text)
    seeded = tok.encode(text, dropout=tok.dropout, seed=1)
    assert seeded == plain.encode(text, dropout=0.25, seed=1)
    tok.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["model"]["dropout"] == 0.25
    with pytest.raises(bpe.VocabularyError, match="dropout=0"):
        tok.save(tmp_path / "other.pretok")
    tok.save(tmp_path / "other.pretok", lossy=True)
    assert bpe.load(tmp_path / "other.pretok").dropout == 0.0
    assert pickle.loads(pickle.dumps(tok)).dropout == 0.25


def random_models(folder: Path, random: Random, rounds: int) -> Iterator[Path]:
    """Yield files of random models of all kinds."""
    for at in range(rounds):
        if at % 3 == 0:
            yield write(folder / "r.model", random_written(random).data)
        else:
            file = random_file(random) if at % 3 == 1 else huggingface()
            file["normalizer"] = random.choice([None, {"type": "NFC"}, {"type": "Lowercase"}])
            yield write(folder / "r.json", file)


@pytest.mark.filterwarnings("ignore::bpe.VocabularyWarning")
def test_both_backends_give_equal_ids(native: BackendName, tmp_path: Path) -> None:
    random = seeded("dropout in both backends")
    compared = 0
    for path in random_models(tmp_path, random, max_examples(60)):
        try:
            toks = [bpe.load(path, backend=backend) for backend in (native, "python")]
        except BpeError:
            continue
        for _ in range(4):
            texts = ["".join(random.choices(PARTS, k=random.randrange(20))) for _ in range(3)]
            dropout, seed = random.choice([0.1, 0.5, 0.9, 1]), random.randrange(-5, 1 << 64)
            continuation = random.random() < 0.5
            ids, expected = (
                (
                    tok.encode_batch(texts, "allow", dropout=dropout, seed=seed, threads=2),
                    tok.encode(
                        texts[0].encode() + b"\xff\xe2", "text", dropout=dropout, seed=seed,
                        continuation=continuation,
                    ),
                )
                for tok in toks
            )  # fmt: skip
            assert ids == expected, (path.read_bytes(), texts)
            compared += 1
    assert compared > max_examples(60)


def test_all_work_is_native(native: BackendName, tmp_path: Path) -> None:
    """Python samples only for a pre-tokenizer or a normalizer in Python."""
    tok = bpe.load(write(tmp_path / "t.json", huggingface()), backend=native)
    assert isinstance(tok._sampler, Pipeline)
    ours = tokenizer("llama3", native)
    assert isinstance(ours._sampler, Pipeline)
    lines = "It's a text.\n" * 30
    own = Tokenizer(Vocabulary(TOKENS, ROWS), Halves(), backend=native)
    assert isinstance(own._sampler, PythonSampler)
    twin = Tokenizer(Vocabulary(TOKENS, ROWS), Halves(), backend="python")
    assert own.encode("abab", dropout=0.3, seed=2) == twin.encode("abab", dropout=0.3, seed=2)
    # Words of a long text in many tasks have the draws of one thread.
    texts = [lines * at for at in range(5)]
    assert ours.encode_batch(texts, dropout=0.2, seed=4, threads=4) == ours.encode_batch(
        texts, dropout=0.2, seed=4, threads=1
    )


class Halves:
    """A pre-tokenizer in Python."""

    def offsets(self, text: str, /) -> NDArray[np.int64]:
        return np.array([0, *range(2, len(text), 2), len(text)][: len(text) + 1], np.int64)
