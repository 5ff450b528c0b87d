"""ListedPieces and PackedPieces hold the same tokens and scores."""

from __future__ import annotations

import pytest

from bpe.characters.pieces import ListedPieces
from bpe.characters.texts import TokenTexts
from bpe.vocabulary import Packed


@pytest.mark.parametrize("char", ["a", "▁", "日", "é"])
def test_arrays_hold_the_listed_pieces(char: str) -> None:
    tokens = {0: b"?", 2: char.encode(), 3: b"\xff", 5: b"a\xe2\x96", 9: "b▁".encode()}
    listed = ListedPieces(tokens, {9: -0.5, 2: 1.0})
    arrays = listed.arrays
    assert arrays is not None
    assert arrays.arrays is arrays
    assert list(arrays.token_bytes.items()) == list(tokens.items())
    assert list(arrays.scores.items()) == list(listed.scores.items())
    assert arrays.size == listed.size == 10
    assert arrays.has_mark == listed.has_mark == (char == "▁")
    for id in range(-1, 11):
        assert arrays.bytes_of(id) == listed.bytes_of(id) == tokens.get(id)


@pytest.mark.parametrize("score", [0.1, 1e300, 1 + 1e-12])
def test_no_arrays_of_scores_that_need_double_precision(score: float) -> None:
    assert ListedPieces({0: b"a"}, {0: score}).arrays is None


def test_texts_are_the_same_in_each_form() -> None:
    texts = {4: "▁a", 0: "日", 7: "b"}
    listed = TokenTexts(texts)
    packed = TokenTexts(None, listed.ids, Packed.of({id: t.encode() for id, t in texts.items()}))
    for id in range(-1, 9):
        assert packed.text_of(id) == listed.text_of(id) == texts.get(id)
    assert packed.size == listed.size == 8
    assert packed.by_id == texts
    assert listed.packed.unpacked() == packed.packed.unpacked()
    assert TokenTexts({}).size == 0
