"""GGUF files that are malformed, truncated, damaged, or unsupported."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import BpeError, Tokenizer, UnsupportedError, VocabularyError
from bpe.characters.text_vocabulary import TextVocabulary
from bpe.formats.files import MAX_BYTES
from gguf_files import Typed, gguf, loaded, metadata, parse
from pretok.byte_characters import BYTE_CHARACTERS
from pretok.presets import GPT2
from support import FULL, seeded
from vocabulary_files import write


def _swapped(texts: list[str], at: int, text: str) -> list[str]:
    """Return `texts` with `text` at the index `at`."""
    return [*texts[:at], text, *texts[at + 1 :]]


_TOKENS = metadata()["tokenizer.ggml.tokens"]
_MERGES = metadata()["tokenizer.ggml.merges"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "bert"}, 'it is WordPiece; bpe reads only "gpt2", "llama" and "gemma4"'),
        ({"model": "t5"}, "it is SentencePiece unigram"),
        ({"model": "rwkv"}, "it is RWKV's"),
        ({"model": "new"}, r'model is "new", which is not supported: bpe reads only "gpt2"'),
        (
            {"pre": "whitespace"},
            r'pre is "whitespace", .* not supported: bpe does not read models of this kind',
        ),
        ({"token_type": [6] + [1] * 264}, r"token_type\[0\] is 6, which is not supported"),
        ({"pre": Typed("array", [1], "array")}, "pre is an array of arrays"),
    ],
)
def test_unsupported(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"small.gguf: tokenizer.ggml.*{message}"):
        loaded(tmp_path, "gpt2", **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": ...}, "there is no tokenizer.ggml.model, .* give the first"),
        ({"model": 1}, "tokenizer.ggml.model is 1; expected a string"),
        ({"model": b"\xff"}, "tokenizer.ggml.model, at offset .*, is not UTF-8"),
        ({"pre": 1}, "tokenizer.ggml.pre is 1; expected a string"),
        ({"tokens": ...}, "tokens is missing or null; expected a list"),
        ({"tokens": []}, "tokens is .*; expected an array of strings"),
        ({"tokens": [1] * 265}, "tokens is .*; expected an array of strings"),
        ({"tokens": _TOKENS[:-1]}, "token_type has 265 types, but .*tokens has 264"),
        ({"tokens": _swapped(_TOKENS, 98, "a")}, r"tokens has 'a' twice, with ids 97 and 98"),
        ({"tokens": [b"\xff"] * 265}, r"tokens\[0\] is b'\\xff', which is not UTF-8"),
        ({"token_type": [1] * 264 + [7]}, r"token_type\[264\] is 7; expected a number from 0 to 6"),
        ({"token_type": [-1] * 265}, r"token_type\[0\] is -1; expected a number from 0 to 6"),
        ({"token_type": Typed("array", [1.0] * 265, "float32")}, r"token_type\[0\] is 1.0; expec"),
        ({"merges": ...}, "merges is missing or null"),
        ({"merges": 1}, "merges is 1; expected a list"),
        ({"merges": ["a b", "abc"]}, r'merges\[1\] is "abc"; expected two tokens with a space'),
        ({"merges": ["a b c"]}, r'merges\[0\] is "a b c"; expected two tokens with a space'),
        ({"merges": [1]}, r"merges\[0\] is 1; expected two tokens"),
        ({"merges": [*_MERGES, "a c"]}, r"merges\[8\] merges 'a' and 'c', but .* no token 'ac'"),
        ({"add_bos_token": True}, "bos_token_id is missing or null; expected a whole number"),
        ({"pre": "llama3", "add_bos_token": ...}, "bos_token_id is missing or null"),
        ({"add_bos_token": True, "bos_token_id": 265}, "bos_token_id is 265; expected an id below"),
        (
            {"add_bos_token": True, "bos_token_id": 264, "tokens": [*_TOKENS[:-1], ""]},
            "bos_token_id is 264; expected the id of a token that is not empty",
        ),
        ({"add_bos_token": 1}, "add_bos_token is 1; expected true or false"),
        ({"add_bos_token": Typed("uint8", 1)}, "add_bos_token is 1; expected true or false"),
    ],
)
def test_malformed(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message) as caught:
        loaded(tmp_path, "gpt2", **changes)
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def _head(version: int = 3, tensors: int = 0, keys: int = 1) -> bytes:
    """Return the header of a GGUF file; `tensors` and `keys` are its counts."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def _key(name: bytes = b"a", kind: int = 4) -> bytes:
    """Return a key with the number of its type, without its value. Type 4 is uint32."""
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind)


_MANY = 1 << 62
_ROOM = b"\0" * 200


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "the version needs 4 bytes at offset 4, but the file has only 4"),
        (_head(1), "this is GGUF version 1; expected 2 or 3"),
        (_head(4), "this is GGUF version 4; expected 2 or 3"),
        (_head(0), "this is GGUF version 0; expected 2 or 3"),
        (_head(keys=_MANY) + _ROOM, f"number of keys, at offset 16, is {_MANY}, more than the"),
        (_head() + struct.pack("<Q", _MANY) + _ROOM, "key 0 of 1, at offset 24, is a string of"),
        (_head() + struct.pack("<Q", 65535) + _ROOM, "key 0 of 1 needs 65,535 bytes at offset 32"),
        (_head() + _key(kind=13) + _ROOM, "a, at offset 33, is of unknown type 13"),
        (_head() + _key(kind=7) + b"\2" + _ROOM, "a, at offset 38, is the byte 2; expected"),
        (_head() + _key(kind=8) + struct.pack("<Q", _MANY), "a needs 4,611,.* bytes at off"),
        (_head() + _key(kind=8) + struct.pack("<Q", 9999) + _ROOM, "a needs 9,999 bytes at offset"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 13, 1) + _ROOM, "a, at offset 37, is of unk"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 4, _MANY) + _ROOM, "a needs .* bytes at off"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 8, _MANY) + _ROOM, "array of 4,611,.* more"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 8, 99) + _ROOM, r"a\[25\] of 99 needs 8"),
        (_head(keys=2) + (_key() + b"\0\0\0\0") * 2, "key 1 of 2, at offset 41, is 'a', which is"),
        (_head() + _key(b"\xff") + _ROOM, "key 0 of 1, at offset 24, is not UTF-8"),
    ],
)  # fmt: skip
def test_damaged(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(BpeError, match=message) as caught:
        bpe.load(write(tmp_path / "a.gguf", data), "gpt2")
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.skipif(os.name != "posix", reason="needs sparse files of POSIX")
def test_metadata_without_end_is_not_read(tmp_path: Path) -> None:
    # The zeros of a sparse file read as an endless array of empty strings.
    array = _head() + _key(kind=9) + struct.pack("<IQ", 8, 1 << 30)
    path = write(tmp_path / "large.gguf", array)
    os.truncate(path, 16 * MAX_BYTES)
    with pytest.raises(VocabularyError, match="an array of 1,073,741,824, more than"):
        bpe.load(path)
    write(path, _head() + _key(kind=8) + struct.pack("<Q", MAX_BYTES))
    os.truncate(path, 16 * MAX_BYTES)
    with pytest.raises(VocabularyError, match="but metadata is limited to 536,870"):
        bpe.load(path)


def test_cut_off_anywhere() -> None:
    data = gguf(metadata())
    parse(data)
    for end in range(len(data)):
        with pytest.raises(VocabularyError):
            parse(data[:end])


def test_any_byte_changed() -> None:
    """A changed bit of any byte raises a BpeError, or gives a tokenizer that works."""
    data = gguf(metadata())
    random_bits = seeded(5)
    refused = []
    for at in range(len(data)):
        for bit in range(8) if FULL else [random_bits.randrange(8)]:
            changed = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            try:
                contents = parse(changed)
                tokenizer = Tokenizer(
                    contents.vocabulary, GPT2, added_tokens=contents.added_tokens,
                    decoder=contents.decoder, backend="python",
                )  # fmt: skip
            except BpeError as error:
                refused.append(str(error))
                continue
            text = b"abc the\r\n12\xc3\xa9"
            if isinstance(contents.vocabulary, TextVocabulary):  # a byte may have no token
                known = contents.vocabulary.pieces
                text = bytes(byte for byte in text if BYTE_CHARACTERS[byte] in known)
            decoded = tokenizer.decode_bytes(tokenizer.encode(b"abc the\r\n12\xc3\xa9", "text"))
            assert decoded == text, (at, bit)
    assert 1000 < len(refused) < len(data) * (8 if FULL else 1)
    assert max(map(len, refused)) < 1000
