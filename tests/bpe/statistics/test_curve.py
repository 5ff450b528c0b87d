"""bpe.statistics.curve: one pass equals the counts of many smaller tokenizers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.statistics import curve
from bpe.training.trainer import TieBreak
from pretok.machine.backend import BackendName
from support import max_examples
from training_texts import PROSE, generated


def truncated(tokenizer: bpe.Tokenizer, merges: int) -> bpe.Tokenizer:
    """Return a tokenizer with the first `merges` merges only."""
    vocabulary = tokenizer.vocabulary
    assert vocabulary.merges is not None
    kept = vocabulary.merges[:merges]
    ids = {*vocabulary.byte_ids.values(), *(result for _, _, result in kept)}
    tokens = {id: vocabulary.token_bytes[id] for id in ids}
    return bpe.Tokenizer(bpe.Vocabulary(tokens, kept), tokenizer.pre_tokenizer)


@pytest.mark.parametrize("tie_break", ["huggingface", "first-seen"])
def test_each_point_equals_a_tokenizer_that_was_trained_smaller(
    tie_break: TieBreak, backend: BackendName
) -> None:
    trained_on, unseen = [generated(20_000)], PROSE
    tok = bpe.train(
        trained_on, vocab_size=900, special_tokens=["<s>"], tie_break=tie_break, backend=backend
    )
    for texts in (trained_on, unseen):
        result = curve(tok, texts)
        assert result.text_bytes == sum(len(text.encode()) for text in texts)
        assert result.sizes.tolist() == list(range(256, 900))
        assert result.tokens[0] == result.text_bytes
        for size in (256, 257, 300, 555, 899):
            small = bpe.train(trained_on, vocab_size=size, tie_break=tie_break)
            count = sum(small.count(text) for text in texts)
            assert result.tokens[size - 256] == count
            assert result.bytes_per_token[size - 256] == result.text_bytes / count


def merged(*pairs: tuple[str, str]) -> bpe.Tokenizer:
    """Return a tokenizer with these merges; equal tokens are one token."""
    tokens = {byte: bytes([byte]) for byte in range(256)}
    merges = []
    for pair in pairs:
        ids = {token: id for id, token in tokens.items()}
        left, right = (part.encode() for part in pair)
        result = ids.get(left + right, len(tokens))
        tokens[result] = left + right
        merges.append((ids[left], ids[right], result))
    return bpe.Tokenizer(bpe.Vocabulary(tokens, merges), "gpt2")


def test_a_token_that_two_pairs_make() -> None:
    # In "abcd", a and b merge first, so only the last merge, of ab and c, makes abc. Then abc and d
    # merge. In "bcabc", the second b merges with a, so only the first b and c make bc.
    tok = merged(("a", "b"), ("b", "c"), ("a", "bc"), ("abc", "d"), ("ab", "c"))
    assert curve(tok, ["abcd"]).tokens.tolist() == [4, 3, 3, 3, 3, 1]
    assert curve(tok, ["abcd"]).sizes.tolist() == [256, 257, 258, 259, 260, 260]
    assert curve(tok, ["bcabc", "bc abc"]).tokens.tolist() == [11, 9, 7, 7, 7, 5]


PARTS = st.sampled_from(["a", "b", "c", "ab", "bc", "ca", "abc", "cab", "aa"])


@settings(max_examples=max_examples(60), deadline=None)
@given(st.lists(st.tuples(PARTS, PARTS), max_size=14), st.text("abc ", max_size=40))
def test_any_merges(pairs: list[tuple[str, str]], text: str) -> None:
    # Keep each pair once, if earlier merges make its parts.
    known, possible = set("abc"), []
    for left, right in pairs:
        if {left, right} <= known:
            known.add(left + right)
            possible.append((left, right))
    possible = [pair for at, pair in enumerate(possible) if pair not in possible[:at]]
    tok = merged(*possible)
    counts = [truncated(tok, merges).count(text) for merges in range(len(possible) + 1)]
    assert curve(tok, [text]).tokens.tolist() == counts


def test_files_are_read_as_in_training(tmp_path: Path, backend: BackendName) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "abab ab"}\n{"body": "ab"}\n', encoding="utf-8")
    tok = bpe.train([path], vocab_size=257, field="body", backend=backend)
    assert curve(tok, path, field="body").tokens.tolist() == [9, 5]
    with pytest.raises(ValueError, match="max_pre_token"):
        curve(tok, ["ababab"], max_pre_token=3)


def test_no_text_has_no_ratio() -> None:
    result = curve(bpe.train(["ab"], vocab_size=257), [])
    assert result.tokens.tolist() == [0, 0]
    assert all(map(math.isnan, result.bytes_per_token))


def test_other_tokenizers_are_refused() -> None:
    tok = bpe.train(["ab"], vocab_size=257)
    assert tok.preset is not None
    ranks = bpe.Vocabulary(tok.vocabulary.token_bytes)
    whole = bpe.Vocabulary(tok.vocabulary.token_bytes, [(97, 98, 256)], ignore_merges=True)
    added = [bpe.AddedToken("x", 300, special=False)]
    for other, problem in (
        (bpe.Tokenizer(ranks, tok.preset), "lists no merges"),
        (bpe.Tokenizer(whole, tok.preset), "without merges"),
        (bpe.Tokenizer(tok.vocabulary, tok.preset, normalizer="NFC"), "changes the text"),
        (bpe.Tokenizer(tok.vocabulary, tok.preset, added_tokens=added), "ordinary added tokens"),
    ):
        with pytest.raises(bpe.UnsupportedError, match=problem):
            curve(other, ["ab"])
