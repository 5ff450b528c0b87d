"""Compare tokenizers of both backends."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe import Tokenizer


def assert_same(tok: Tokenizer, expected: Tokenizer) -> None:
    """Compare all parts of two tokenizers, and all facts about their tokens."""
    parts, expected_parts = tok.to_spec(), expected.to_spec()
    assert type(parts.vocabulary) is type(expected_parts.vocabulary)
    assert parts.vocabulary == expected_parts.vocabulary
    assert parts.facts == expected_parts.facts
    for name in ("preset", "added_tokens", "normalizer", "decoder", "template",
                 "add_prefix_space"):  # fmt: skip
        assert getattr(parts, name) == getattr(expected_parts, name), name
    assert tok.merges == expected.merges
    assert (tok.role_ids, tok.end_ids) == (expected.role_ids, expected.end_ids)
    assert np.array_equal(tok._scores, expected._scores)
    arrays: list[Any] = [*tok.vocabulary_buffer()]
    expected_arrays: list[Any] = [*expected.vocabulary_buffer()]
    for ours, theirs in zip(arrays, expected_arrays, strict=True):
        assert np.array_equal(ours, theirs)
