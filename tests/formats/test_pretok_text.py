"""Models whose tokens are text: saving as .pretok keeps the ids and texts, or is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import Tokenizer, UnsupportedError
from bpe.formats import pretok_file
from paths import shared
from pretok.machine.backend import BackendName
from text_models import CASES, FALLBACK, LLAMA, LLAMA_DECODER, SENTENCES, file_of
from text_pretok_files import NAMES, model_of, sentencepiece_model

TEXTS = [*SENTENCES[:3], "", " ", "  the▁ ▁▁ hello      \n\t", "<s> a</s><sep>foo", "\ufffd😀▁"]


def _check(loaded: Tokenizer, tokenizer: Tokenizer, texts: list[Any]) -> None:
    for text in texts:
        ids = tokenizer.encode(text, "allow")
        assert loaded.encode(text, "allow") == ids
        assert loaded.encode(text, "text") == tokenizer.encode(text, "text")
        assert loaded.tokens(text, "allow") == tokenizer.tokens(text, "allow")
        for skip in (False, True):
            assert loaded.decode(ids, skip_special=skip) == tokenizer.decode(ids, skip_special=skip)


@pytest.mark.parametrize("name", NAMES)
def test_saved_tokenizers_are_loaded(name: str, backend: BackendName, tmp_path: Path) -> None:
    tokenizer = model_of(name)
    path = tmp_path / "model.pretok"
    tokenizer.save(path)
    loaded = bpe.load(path, backend=backend)
    _check(loaded, tokenizer, [*TEXTS, b"a\xff \xe2\x96 b"])
    assert loaded.preset == tokenizer.preset
    assert loaded.special_tokens == tokenizer.special_tokens
    assert pretok_file.dump(loaded.to_spec()) == path.read_bytes()
    new_parts = "unknown", "charsmap", "spaces", "suffix", "escaped", "symbols"
    assert path.read_bytes()[8] == (2 if any(part in name for part in new_parts) else 1)
    # The loaded SentencePiece model has merges instead of scores, so it is another vocabulary.
    assert (loaded == tokenizer) == (not name.startswith("sentencepiece"))
    with pytest.raises(UnsupportedError, match="load it without preset="):
        bpe.load(path, preset="gpt2")


@pytest.mark.parametrize("name", ["spm/llama2.model", "hf/mistral03.json"])
def test_published_models(name: str, tmp_path: Path) -> None:
    given = shared("vocabs", *name.split("/"))
    tokenizer = bpe.load(given)
    path = tmp_path / "model.pretok"
    tokenizer.save(path)
    assert path.stat().st_size < 0.3 * given.stat().st_size
    text = shared("texts", "udhr.txt").read_text(encoding="utf-8")[:50_000]
    _check(bpe.load(path), tokenizer, [text, "a" + " " * 100, *TEXTS])


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("metaspace, never", "this decoder"),
        ({"model_unk_token": None, "normalizer": LLAMA, "decoder": LLAMA_DECODER},
         "a model that drops unknown characters"),
        ("metaspace, digits", "the split 'metaspace-digits|the split '.*' of a model"),
        ("normalized tokens", "the normalizer UnicodeForm [+] Prepend"),
        ({**CASES["llama"], "decoder": {"type": "Fuse"}}, "this decoder"),
        ({**CASES["llama"], "normalizer": {"type": "Sequence", "normalizers": [
            *LLAMA["normalizers"], {"type": "Lowercase"}]}}, "Replace [+] Lowercase;"),
        ({"decoder": LLAMA_DECODER, **FALLBACK}, "a model without a normalizer;"),
        ("whole", "this model: ignore_merges is true"),
        ("prefix", "this model: the characters have a prefix or suffix"),
    ],
)  # fmt: skip
def test_tokenizers_that_cannot_be_saved(
    case: str | dict[str, Any], reason: str, tmp_path: Path
) -> None:
    source, path = tmp_path / "tokenizer.json", tmp_path / "model.pretok"
    changes = CASES[case] if isinstance(case, str) else case
    source.write_text(json.dumps(file_of(**changes)), encoding="utf-8")
    with pytest.raises(UnsupportedError, match=rf"a \.pretok file cannot hold .*({reason})"):
        bpe.load(source).save(path)
    assert not path.exists()


def test_sentencepiece_that_cannot_be_saved(tmp_path: Path) -> None:
    source = tmp_path / "spm.model"
    source.write_bytes(sentencepiece_model(((3, 1), (4, 0)), words=("<0x0a>",)))
    with pytest.raises(UnsupportedError, match="which looks like a fallback token"):
        bpe.load(source).save(tmp_path / "model.pretok")
