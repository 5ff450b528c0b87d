"""Models whose tokens are text: saving as .pretok keeps the ids and texts, or is an error."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import BpeError, Tokenizer, UnsupportedError
from bpe.formats import pretok_file
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase, Strip
from paths import shared
from pre_tokenizer_json import byte_level
from pretok.machine.backend import BackendName
from support import sample
from text_models import (
    BERT,
    CASES,
    FALLBACK,
    SENTENCES,
    STRIP,
    chained,
    file_of,
    metaspace,
    regex,
)
from text_pretok_files import NAMES, model_of, sentencepiece_model, summed
from vocabulary_files import huggingface, write

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


@pytest.mark.parametrize("name", CASES)
def test_every_option_of_a_tokenizer_json(name: str, backend: BackendName, tmp_path: Path) -> None:
    """A file holds every normalizer, split, model option and decoder."""
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    tokenizer = bpe.load(path)
    tokenizer.save(tmp_path / "model.pretok")
    data = (tmp_path / "model.pretok").read_bytes()
    loaded = bpe.load(tmp_path / "model.pretok", backend=backend)
    assert pretok_file.dump(loaded.to_spec()) == data
    assert loaded == tokenizer
    bad = [b"a\xff \xe2\x96 b", b"the <s>\xf0\x9f do not\xcc\x81"]
    _check(loaded, tokenizer, [*TEXTS, *SENTENCES[:3], *bad])
    loaded.save(tmp_path / "saved.json")
    tokenizer.save(tmp_path / "again.json")
    assert (tmp_path / "saved.json").read_bytes() == (tmp_path / "again.json").read_bytes()


BYTE_LEVEL_CASES: dict[str, dict[str, Any]] = {
    "lowercase": {"normalizer": chained("NFKC", "Lowercase")},
    "bert": {"normalizer": BERT, "decoder": {"type": "WordPiece", "prefix": "l", "cleanup": True}},
    "regex": {"normalizer": chained(regex(r"\s+", " "), STRIP),
              "pre_tokenizer": byte_level(add_prefix_space=True)},
    "decoder": {"decoder": {"type": "Sequence", "decoders": [
        {"type": "ByteFallback"}, metaspace(), regex("o+", "0"), byte_level()]}},
}  # fmt: skip


@pytest.mark.parametrize("name", BYTE_LEVEL_CASES)
def test_byte_level_models_with_steps(name: str, backend: BackendName, tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer.json", huggingface(**BYTE_LEVEL_CASES[name]))
    tokenizer = bpe.load(path)
    tokenizer.save(tmp_path / "model.pretok")
    loaded = bpe.load(tmp_path / "model.pretok", backend=backend)
    assert loaded == tokenizer
    _check(loaded, tokenizer, ["", " Hello  WORLD ①ﬁ", "é\u0301 <|end|>oo", b"\xff  A\xc3"])


def test_too_many_steps(backend: BackendName, tmp_path: Path) -> None:
    """A small file must not fill the memory, so the number of steps is limited."""
    spec = bpe.load(write(tmp_path / "a.json", huggingface())).to_spec()
    steps = (Lowercase(), Strip()) * 128
    data = pretok_file.dump(replace(spec, normalizer=NormalizerChain(steps)))
    loaded = bpe.load(write(tmp_path / "a.pretok", data), backend=backend)
    assert loaded.encode(" A ") == loaded.encode("a")
    with pytest.raises(UnsupportedError, match="more than 256 normalizers or decoders"):
        pretok_file.dump(replace(spec, normalizer=NormalizerChain((*steps, Strip()))))
    many = summed(data[16:].replace(b"\x80\x02\x04\x08\x01\x01", b"\x81\x02\x04\x04\x08\x01\x01"))
    with pytest.raises(BpeError, match="has an unknown normalizer or decoder"):
        bpe.load(write(tmp_path / "many.pretok", many), backend=backend)


def test_a_damaged_section_of_steps(backend: BackendName, tmp_path: Path) -> None:
    """Each truncation is an error; each changed byte is an error, or gives another tokenizer."""
    damaged = tmp_path / "damaged.pretok"
    for name in ("clip", "metaspace, after others", "prefix"):
        path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
        data = pretok_file.dump(bpe.load(path).to_spec())
        for at in sample(range(16, len(data)), 50):
            damaged.write_bytes(summed(data[16:at]))
            with pytest.raises(BpeError):
                bpe.load(damaged, backend=backend)
            changed = bytearray(data[16:])
            changed[at - 16] ^= 1 << at % 8
            damaged.write_bytes(summed(bytes(changed)))
            try:
                bpe.load(damaged, backend=backend).encode("the Foo  do not", "allow")
            except BpeError:
                continue


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_vocab": {"a": 0, "<0x41>": 1, "Ġ": 2}, "model_merges": [], **FALLBACK,
          "model_unk_token": None, "pre_tokenizer": byte_level(), "decoder": byte_level(),
          "added_tokens": []},
         "this model: byte_fallback is set together with a ByteLevel pre_tokenizer"),
    ],
)  # fmt: skip
def test_tokenizers_that_cannot_be_saved(
    changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    source, path = tmp_path / "tokenizer.json", tmp_path / "model.pretok"
    source.write_text(json.dumps(huggingface(**changes)), encoding="utf-8")
    with pytest.raises(UnsupportedError, match=rf"a \.pretok file cannot hold .*({reason})"):
        bpe.load(source).save(path)
    assert not path.exists()


def test_sentencepiece_that_cannot_be_saved(tmp_path: Path) -> None:
    source = tmp_path / "spm.model"
    source.write_bytes(sentencepiece_model(((3, 1), (4, 0)), words=("<0x0a>",)))
    with pytest.raises(UnsupportedError, match="which looks like a fallback token"):
        bpe.load(source).save(tmp_path / "model.pretok")
