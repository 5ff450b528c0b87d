"""Random models: the C interface, .pretok files, sentencepiece and tokenizers agree."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bpe
from bpe import BpeError, Tokenizer, UnsupportedError
from c_library import CError, CLibrary, CTokenizer
from pre_tokenizer_json import byte_level
from random_sentencepiece import (
    SENTENCES,
    RandomModel,
    random_letters,
    random_texts,
    random_trained,
    random_written,
)
from random_text_models import random_file
from sentencepiece_models import trained
from support import max_examples, seeded
from text_models import LLAMA, LLAMA_DECODER, MARKS, PARTS, metaspace
from vocabulary_files import write

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")


def _in_c(library: CLibrary, data: bytes) -> CTokenizer | None:
    """Return the tokenizer of a file, or None if the C library does not support the model."""
    try:
        return CTokenizer(library, data)
    except CError as error:
        if error.status != "unsupported":
            raise
        return None


def _saved(tok: Tokenizer, path: Path) -> bytes | None:
    """Return the .pretok file of a tokenizer, or None if it cannot hold the model."""
    try:
        tok.save(path)
    except UnsupportedError:
        return None
    return path.read_bytes()


def _compare(
    library: CLibrary, folder: Path, made: RandomModel, texts: Iterable[str], random: Random
) -> int:
    """Compare all ways to use a model. Return how many of them use the C library."""
    tok = bpe.load(write(folder / "random.model", made.data))
    live = sentencepiece.SentencePieceProcessor(model_proto=made.data)
    saved = _saved(tok, folder / "random.pretok")
    loaded = [
        bpe.load(folder / "random.pretok", backend=backend)
        for backend in ("native", "python")
        if saved is not None
    ]
    in_c = [ours for data in (made.data, saved) if data and (ours := _in_c(library, data))]
    assert saved is None or in_c  # the C library reads all .pretok files
    size = live.get_piece_size()
    for text in texts:
        ids = live.encode(text)
        allowed = tok.encode(text, "allow")
        some: list[int] = random.choice([ids, random.choices(range(size), k=8)])
        data = text.encode()
        assert tok.encode(text, "text") == ids, made.description
        for ours in in_c:
            assert ours.encode(data, "text") == ids, (text, made.description)
            assert ours.encode(data, "allow") == allowed, (text, made.description)
            cut = random.randrange(len(data) + 1)
            assert ours.stream([data[:cut], data[cut:]], "text") == ids, (text, made.description)
            decoded = ours.decode_stream([[id] for id in some], False)
            assert "".join(decoded) == live.decode(some), (some, made.description)
            assert ours.decode(some) == tok.decode_bytes(some), (some, made.description)
        for each in loaded:
            assert each.encode(text, "text") == ids, (text, made.description)
            assert each.decode(some) == live.decode(some), (some, made.description)
    return len(in_c)


def test_trained_models(c_library: CLibrary, tmp_path: Path) -> None:
    random = seeded("random trained models in C")
    made = [random_trained(random, tmp_path) for _ in range(max_examples(40))]
    found = [
        _compare(c_library, tmp_path, each, random_texts(random, 12), random)
        for each in made
        if each is not None
    ]
    # The C library supports most options of the trainer.
    assert sum(map(bool, found)) > 0.7 * len(found)


def test_written_models(c_library: CLibrary, tmp_path: Path) -> None:
    random = seeded("random written models in C")
    found = [
        _compare(c_library, tmp_path, random_written(random), random_letters(random, 12), random)
        for _ in range(max_examples(80))
    ]
    assert any(found)


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc_cf", "identity"])
@pytest.mark.parametrize("fallback", [False, True])
def test_the_defaults_of_the_trainer(
    c_library: CLibrary, tmp_path: Path, rule: str, fallback: bool
) -> None:
    options: dict[str, Any] = {"vocab_size": 400} if fallback else {}
    data = trained(SENTENCES * 4, normalization_rule_name=rule, byte_fallback=fallback, **options)
    random = seeded(f"{rule} {fallback}")
    made = RandomModel(data, {"rule": rule})
    assert _compare(c_library, tmp_path, made, random_texts(random, 20), random) == 2


def _random_file(random: Random) -> dict[str, Any]:
    """Return a random tokenizer.json of a kind that a .pretok file can often hold."""
    file = random_file(random)
    file["normalizer"] = normalizer = random.choice([None, MARKS, LLAMA])
    splits = [metaspace(), metaspace("first"), metaspace("never", split=False), byte_level()]
    split = None if normalizer else random.choice(splits)
    file["pre_tokenizer"] = split
    is_byte_level = split is not None and split["type"] == "ByteLevel"
    file["decoder"] = byte_level() if is_byte_level else LLAMA_DECODER
    affixes = {"continuing_subword_prefix": None, "end_of_word_suffix": None}
    file["model"] |= affixes | {"ignore_merges": is_byte_level and random.random() < 0.3}
    return file


def test_random_tokenizer_json(c_library: CLibrary, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    random = seeded("random tokenizer.json in C")
    saved = 0
    for _ in range(max_examples(60)):
        file = _random_file(random)
        path = write(tmp_path / "tokenizer.json", json.dumps(file).encode())
        try:
            tok = bpe.load(path)
        except BpeError:
            continue
        data = _saved(tok, tmp_path / "random.pretok")
        if data is None:
            continue
        saved += 1
        theirs = tokenizers.Tokenizer.from_file(str(path))
        ours = CTokenizer(c_library, data)
        loaded = bpe.load(tmp_path / "random.pretok", backend=random.choice(["native", "python"]))
        for _ in range(12):
            text = "".join(random.choices(PARTS, k=random.randrange(15)))
            part = text.encode()
            ids = theirs.encode(text, add_special_tokens=False).ids
            assert loaded.encode(text, "allow") == ids, (text, file)
            assert ours.encode(part, "allow") == ids, (text, file)
            assert ours.stream([part[:5], part[5:]], "allow") == ids, (text, file)
            decoded = theirs.decode(ids, skip_special_tokens=False)
            assert "".join(ours.decode_stream([[id] for id in ids], False)) == decoded, file
            assert loaded.decode(ids) == decoded, file
    assert saved > max_examples(60) // 10
