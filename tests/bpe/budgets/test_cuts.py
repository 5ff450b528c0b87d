"""Cuts: each proven cut keeps all ids, and `sizes` and `longest` are those of the ids of a text."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from bpe import AddedToken, Tokenizer, Vocabulary
from bpe.budgets.proofs import CUT
from pretok.machine.backend import BackendName
from vocabularies import BYTES

TEXTS = [
    "".join(parts) for size in (1, 2, 3) for parts in product(["<x>", " ", "a", "\n"], repeat=size)
]
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"lstrip": True}, {}),
    ({"rstrip": True}, {}),
    ({}, {"add_prefix_space": True}),
    ({"normalized": True}, {"normalizer": "NFC"}),
]


@pytest.mark.parametrize("preset", ["gpt2", "llama3", "deepseek-llm"])
@pytest.mark.parametrize(("flags", "options"), OPTIONS)
def test_all_pairs_of_short_texts(
    flags: dict[str, Any], options: dict[str, Any], preset: str, backend: BackendName
) -> None:
    vocabulary = Vocabulary(BYTES | {256: b" a", 257: b"aa", 258: b"  "})
    added = [AddedToken("<x>", 300, **flags)]
    tok = Tokenizer(vocabulary, preset, added_tokens=added, backend=backend, **options)
    cuts = tok._cuts
    assert cuts is not None

    def ids(text: str, continues: bool = False) -> list[int]:
        found = tok._encode_array(text.encode(), "allow", "replace", None, continues)
        return [int(id) for id in found]

    first, later = {text: ids(text) for text in TEXTS}, {text: ids(text, True) for text in TEXTS}
    proven = 0
    for left, right in product(TEXTS, repeat=2):
        # The text after an added token is a segment of its own, which may get a prefix.
        is_inside = not (options.get("add_prefix_space") and left.endswith("<x>"))
        if is_inside and cuts.between(left[-1], right[0]) == CUT:
            assert ids(left + right) == first[left] + later[right], (left, right)
            proven += 1
    assert proven > 300
    assert cuts.has_exact_sizes == all(
        sum(cuts.sizes[found]) == len(text) for text, found in first.items()
    )
    spaces = " " * 40
    starts, ends = tok.token_spans(f"a{spaces}<x>{spaces}a", special="allow", unit="byte")[1:]
    widest = max(int(end) - int(start) for start, end in zip(starts, ends, strict=True))
    assert (cuts.longest is None) == (widest > 40)
    assert cuts.longest is None or cuts.longest >= widest
