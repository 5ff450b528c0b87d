"""The C interface and Python give equal ids with dropout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe
from bpe import BpeError
from bpe.formats import pretok_file
from c_library import CError, CLibrary, CTokenizer
from random_sentencepiece import random_written
from random_text_models import random_file
from support import max_examples, seeded
from text_models import PARTS
from vocabulary_files import huggingface, tiktoken_lines, write


@pytest.mark.filterwarnings("ignore::bpe.VocabularyWarning")
def test_equal_ids(c_library: CLibrary, tmp_path: Path) -> None:
    random = seeded("dropout in C")
    compared = 0
    for at in range(max_examples(60)):
        data = [
            random_written(random).data,
            json.dumps(random_file(random)).encode(),
            json.dumps(huggingface(normalizer={"type": "NFC"})).encode(),
            b"\n".join(tiktoken_lines()),
        ][at % 4]
        preset = "cl100k" if at % 4 == 3 else None
        try:
            tok = bpe.load(write(tmp_path / "file", data), preset=preset)
            ours = CTokenizer(c_library, data, preset, dropout=True)
        except (BpeError, CError):
            continue
        for _ in range(4):
            texts = ["".join(random.choices(PARTS, k=random.randrange(20))) for _ in range(3)]
            parts = [text.encode() for text in texts]
            dropout, seed = random.choice([0.1, 0.5, 0.9, 1.0]), random.randrange(1 << 64)
            rows = tok.encode_batch(texts, "allow", dropout=dropout, seed=seed)
            ours.draws = dropout, seed
            assert ours.batch(parts, "allow", threads=2) == rows, (data, texts)
            assert ours.encode(parts[0], "allow") == rows[0]
            ours.draws = 0.0, 0
            assert ours.encode(parts[0], "allow") == tok.encode(texts[0], "allow")
            compared += 1
    assert compared > max_examples(60)


def test_a_file_with_dropout(c_library: CLibrary) -> None:
    """The file loads, and is encoded without dropout unless the caller asks for it."""

    def made(dropout: object) -> CTokenizer:
        return CTokenizer(c_library, json.dumps(huggingface(model_dropout=dropout)).encode())

    plain = made(None)
    for dropout in (0, 0.0, 1, 1.0, 0.1, 0.3, 0.123456789012345):
        ours = made(dropout)
        assert ours.dropout == dropout
        assert ours.encode(b"ab abc") == plain.encode(b"ab abc")
    for wrong in (-0.1, 1.5, 2, "no", True, [0.1], 1.00000001):
        with pytest.raises(CError, match=r"model\.dropout .*expected null or a number from 0 to 1"):
            made(wrong)
    for wrong in (1e-20, 0.30000000000000004):
        with pytest.raises(CError, match="write it with at most 15 digits, and without an expon"):
            made(wrong)


def test_refused_options(c_library: CLibrary) -> None:
    data = pretok_file.dump(bpe.train(["abab"], vocab_size=257).to_spec())
    ours = CTokenizer(c_library, data, dropout=True)
    for wrong in (-0.5, 1.5, float("nan")):
        ours.draws = wrong, 0
        with pytest.raises(CError, match="expected a number from 0 to 1"):
            ours.encode(b"ab")
    ours.draws = 0.5, 0
    for call in (lambda: ours.spans(b"ab"), lambda: ours.stream([b"ab"])):
        with pytest.raises(CError, match="this function has no dropout; set it to 0"):
            call()
    unprepared = CTokenizer(c_library, data)
    unprepared.draws = 0.5, 0
    with pytest.raises(CError, match=r"load it with options\.dropout"):
        unprepared.encode(b"ab")
