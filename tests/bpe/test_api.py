"""The public names of bpe, and the types of text that every call takes."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

import bpe
from bpe.hub import fetch as fetch_module
from pretok.machine.backend import BackendName

TEXT = "ab é\u0301 <s> abab"


@pytest.fixture
def tok(backend: BackendName) -> bpe.Tokenizer:
    return bpe.train(["ab", "abab"], vocab_size=259, special_tokens=["<s>"], backend=backend)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_call_takes_every_type_of_text(tok: bpe.Tokenizer, kind: Any) -> None:
    text = kind(TEXT.encode())
    ids = tok.encode(TEXT, "allow")
    assert tok.encode(text, "allow") == ids
    assert tok.encode(text, "allow", threads=2) == ids
    assert tok.encode_array(text, "allow").tolist() == ids
    assert tok.count(text, "allow") == len(ids)
    assert tok.encode_batch([text, TEXT], "allow") == [ids, ids]
    assert tok.encode_batch_array([text], "allow")[0].tolist() == ids
    assert tok.tokens(text, "allow") == tok.tokens(TEXT.encode(), "allow")
    assert tok.token_id(kind(b"ab")) == tok.token_id("ab")
    assert tok.merge(kind(b"abab")) == tok.merge(b"abab")
    with pytest.raises(TypeError, match="expected an iterable of texts, got one"):
        tok.encode_batch(text)


def test_decode_batch(tok: bpe.Tokenizer) -> None:
    texts = ["ab", "", "<s>ab\U0001f600", TEXT]
    rows = tok.encode_batch(texts, "allow")
    assert tok.decode_batch(rows) == texts
    assert tok.decode_batch(tok.encode_array(text, "allow") for text in texts) == texts
    assert tok.decode_batch(rows, skip_special=True)[2] == "ab\U0001f600"
    assert tok.decode_batch([[0xC3]], errors="ignore") == [""]
    with pytest.raises(UnicodeDecodeError):
        tok.decode_batch([[0xC3]], errors="strict")
    with pytest.raises(bpe.UnknownTokenError, match=r"ids_batch\[1\]: ids\[1\] is 999, which is"):
        tok.decode_batch([[97], [97, 999]])
    with pytest.raises(TypeError, match=r"ids_batch\[0\]: "):
        tok.decode_batch([97])  # type: ignore[list-item]


def test_decode_bytes_without_special_tokens(tok: bpe.Tokenizer) -> None:
    ids = tok.encode("a<s>b", "allow")
    assert tok.decode_bytes(ids) == b"a<s>b"
    assert tok.decode_bytes(ids, skip_special=True) == b"ab"


def test_special_tokens_are_a_copy(tok: bpe.Tokenizer) -> None:
    expected = dict(tok.special_tokens)
    tok.special_tokens.clear()
    assert tok.special_tokens == expected != {}


def test_every_public_name_exists() -> None:
    assert bpe.__version__ == version("pretok-bpe")
    assert bpe.fetch is fetch_module.fetch
    for name in bpe.__all__:
        assert getattr(bpe, name) is not None
    with pytest.raises(AttributeError, match="module 'bpe' has no attribute 'nothing'"):
        _ = bpe.nothing
