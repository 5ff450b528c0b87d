"""Proofs by kinds of characters are those of the characters, and ends of tokens add up."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pretok
from bpe.budgets.proofs import CUT, JOINT, NONE, SPACES, CharacterProofs, SplitProofs
from bpe.budgets.token_ends import token_ends
from pretok.machine.backend import BackendName
from pretok.machine.pair_cuts import PairCuts
from pretok.text import code_points_of
from support import PRESET_NAMES, max_examples, seeded

LETTERS = "aZsS'1 \n\r\t\u3000\u4e00\u0301\u017f\u212a\u02b0,!é\u0e01[\x1c\x85\U0001f600"


def test_spaces_are_those_of_str() -> None:
    assert [chr(point) for point in SPACES] == [
        char for char in map(chr, range(0x110000)) if char.isspace()
    ]


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_kinds_decide(name: str) -> None:
    preset, random = pretok.get(name).preset, seeded(f"kinds of {name}")
    for strips in (False, True):
        pairs = PairCuts(preset.stages, preset.unicode)
        proofs = SplitProofs(pairs, strips)
        for _ in range(20 * max_examples(30)):
            a, b = (
                chr(random.randrange(0xD800)) if random.random() < 0.3 else random.choice(LETTERS)
                for _ in range(2)
            )
            expected = JOINT if pairs.is_joint(a, b) else NONE
            if pairs.is_cut(a, b):
                expected = CUT
            if strips and (a.isspace() or b.isspace()):
                expected = NONE
            assert proofs.between(a, b) == expected, (a, b)


@pytest.mark.parametrize("strips", [False, True])
def test_many_neighbors_at_once(strips: bool) -> None:
    preset, random = pretok.get("cl100k").preset, seeded("neighbors")
    texts = ["ab", "a\u2581", "\u2581\u4e00", "é\U0001f600", "1,"]
    for proofs in (
        SplitProofs(PairCuts(preset.stages, preset.unicode), strips),
        CharacterProofs(texts, strips),
    ):
        text = "".join(random.choices(LETTERS + "b\u2581", k=2_000))
        single = [proofs.between(a, b) == CUT for a, b in pairwise(text)]
        assert proofs.are_cuts(code_points_of(text)).tolist() == single
        assert True in single


def test_token_ends(native: BackendName) -> None:
    from pretok import _core

    random = seeded("token ends")
    tokens = ["a", "\u2581", "\u2581\u2581a", "é\u2581", "bc"]
    sizes = np.array([len(token.replace("\u2581", " ").encode()) for token in tokens], np.int32)
    for _ in range(10 * max_examples(30)):
        ids = random.choices(range(len(tokens)), k=random.randrange(9))
        marks = "".join(tokens[id] for id in ids)
        text = "".join(random.choice(" \u2581") if c == "\u2581" else c for c in marks)
        ends = np.cumsum([len(tokens[id]) for id in ids], dtype=int)
        expected: Any = [len(text[:end].encode()) for end in ends]
        has_prefix = bool(ids) and random.random() < 0.3
        data = text.encode()
        if has_prefix:
            if not marks.startswith("\u2581") or text[0] != " ":
                continue
            data, expected = data[1:], [end - 1 for end in expected]
        for find in (token_ends, _core.token_ends):
            result = find(np.array(ids, np.uint32), sizes, data, has_prefix, True)
            assert result is not None
            assert result.tolist() == expected, (ids, text)
            wrong = find(np.array(ids, np.uint32), sizes, data + b"abc", has_prefix, False)
            assert wrong is None
