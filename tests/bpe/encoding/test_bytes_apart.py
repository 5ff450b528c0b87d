"""Bytes that are not UTF-8 stay apart in a normalizer, even if a step removes what divides them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bpe
from bpe import Tokenizer
from bpe.encoding.packed import PackedTexts
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase, Replace
from bpe.normalizers.unicode_forms import UnicodeForm
from pretok.machine.backend import BackendName

TEXTS = [b"x\xc3a\xa9x", b"\xc3a\x89", b"e\xccaa\x81b", "É\u0301a".encode(), b"a", b""]
CHAINS = [
    NormalizerChain((Replace("a", ""), UnicodeForm("NFD"))),
    NormalizerChain((Replace("a", ""), Lowercase())),
    NormalizerChain((UnicodeForm("NFC"), UnicodeForm("NFKD"))),
]


def tokenizer(chain: NormalizerChain, backend: BackendName) -> Tokenizer:
    trained = bpe.train(["xe xe"], vocab_size=258)
    return Tokenizer(trained.vocabulary, "gpt2", normalizer=chain, backend=backend)


@pytest.mark.parametrize("chain", CHAINS)
def test_both_backends_agree(chain: NormalizerChain, native: BackendName) -> None:
    ours, expected = tokenizer(chain, native), tokenizer(chain, "python")
    rows = [expected.encode(text) for text in TEXTS]
    assert [ours.encode(text) for text in TEXTS] == rows
    assert [ours.encode_array(text).tolist() for text in TEXTS] == rows
    assert [ours.count(text) for text in TEXTS] == list(map(len, rows))
    assert ours.encode_batch(TEXTS) == rows
    ends = np.cumsum([0, *map(len, TEXTS)])
    for texts in (TEXTS, PackedTexts(b"".join(TEXTS), ends)):
        ids, offsets = ours.encode_batch_array(texts)
        assert [ids[start:end].tolist() for start, end in pairwise(offsets)] == rows
    escaped = TEXTS[0].decode("utf-8", "surrogateescape")
    assert ours.encode(escaped, errors="surrogateescape") == rows[0]
