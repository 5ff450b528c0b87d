"""GGUF files: what the metadata says of a vocabulary, damaged ones, and llama.cpp's vectors."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path
from typing import Any

import pytest

import bpe
import pretok
from bpe import (
    AddedToken,
    BpeError,
    Template,
    Tokenizer,
    UnknownTokenError,
    UnsupportedError,
    VocabularyError,
)
from bpe.formats import gguf as format_gguf
from bpe.formats import gguf_metadata
from bpe.formats.files import MOST_BYTES
from command_line import Call
from gguf_files import Typed, gguf, metadata
from pretok import LETTER, Preset, Run
from pretok.presets import GPT2
from pretok.pretokenizer import BackendName
from support import TOO_MUCH, growth, shared
from vocabulary_files import TEXTS, made, made_vocabulary, write


def loaded(tmp_path: Path, *arguments: Any, backend: BackendName = "python", **changes: Any) -> Any:
    """Return the tokenizer of a small file whose tokenizer.ggml has these `changes`."""
    path = write(tmp_path / "small.gguf", gguf(metadata(**changes)))
    return bpe.load(path, *arguments, backend=backend)


def with_tokens(*more: tuple[str, int], **changes: Any) -> dict[str, Any]:
    """Return the changes for more tokens, with their types, whose ids are from 265 on."""
    small = metadata(**changes)
    tokens = [*small["tokenizer.ggml.tokens"], *(text for text, _ in more)]
    types = [*small["tokenizer.ggml.token_type"], *(kind for _, kind in more)]
    return {**changes, "tokens": tokens, "token_type": types}


# Reading files.


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("version", [2, 3])
def test_small_file(tmp_path: Path, version: int, order: str, backend: BackendName) -> None:
    path = write(tmp_path / "small", gguf(metadata(), version, order) + b"\0" * 100)
    tokenizer = bpe.load(path, backend=backend)
    expected = made(backend, preset="gpt2", special=(("<|end|>", 264),))
    assert tokenizer == expected
    for text in TEXTS:
        assert tokenizer.encode(text) == expected.encode(text)
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode("a<|end|>", "allow") == [97, 264]


def test_other_keys_do_not_matter(tmp_path: Path) -> None:
    values: dict[str, Any] = {"a.text": b"\xff", "a.list": ["a", "b"], "a.bytes": [b"\xff"]}
    values |= {"empty": Typed("array", [], "string"), "a.b\n": 1}
    for kind in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool",
                 "uint64", "int64", "float64"):  # fmt: skip
        values[kind] = Typed(kind, 1)
        values[f"{kind}s"] = Typed("array", [0, 1, 1], kind)
    data = gguf({**values, **metadata(), "last": 1})
    assert bpe.load(write(tmp_path / "a", data), backend="python") == loaded(tmp_path)
    found = gguf_metadata.parse(data, ["a.list", "last", "no key"])
    assert found == {"a.list": ["a", "b"], "last": 1}


@pytest.mark.parametrize("order", ["<", ">"])
def test_values_of_every_kind(order: str) -> None:
    values = {
        "a": Typed("uint8", 200),
        "b": Typed("int8", -2),
        "c": Typed("uint16", 50000),
        "d": Typed("int16", -300),
        "e": Typed("uint32", 1 << 31),
        "f": Typed("int32", -1 << 31),
        "g": Typed("float32", 0.5),
        "h": Typed("bool", True),
        "i": Typed("string", "caf\u00e9"),
        "j": Typed("uint64", 1 << 63),
        "k": Typed("int64", -1 << 63),
        "l": Typed("float64", 0.1),
    }
    assert gguf_metadata.parse(gguf(values, order=order), values.keys()) == {
        key: typed.value for key, typed in values.items()
    }
    arrays = {key: Typed("array", [value, value], kind) for key, (kind, value, _) in values.items()}
    found = gguf_metadata.parse(gguf(arrays, order=order), arrays.keys())
    assert found == {key: typed.value for key, typed in arrays.items()}
    assert {type(found[key][0]) for key in "behj"} == {int, bool}


@pytest.mark.skipif(os.name != "posix", reason="files with holes are those of POSIX")
def test_weights_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "large.gguf", gguf(metadata(), tensors=1))
    os.truncate(path, 16 * MOST_BYTES)
    assert bpe.load(path).vocab_size == 265


def test_time_is_linear() -> None:
    def parse(size: int) -> None:
        tokens = [f"token{id}" for id in range(size)]
        values = {"tokens": tokens, "types": [1] * size}
        assert len(gguf_metadata.parse(gguf(values), values)["tokens"]) == size

    assert growth(parse, 2000) < TOO_MUCH


def test_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    write(tmp_path / "my-model.gguf", gguf(metadata()))
    assert bpe.load("my-model").vocab_size == 265


def test_command_line(tmp_path: Path, call: Call) -> None:
    path = write(tmp_path / "small.gguf", gguf(metadata()))
    status, output, errors = call("encode", "--vocab", str(path), "--text", "abc")
    assert (status, output, errors) == (0, "258\n", "")


# What the metadata says.


def test_types_of_tokens(tmp_path: Path, backend: BackendName) -> None:
    changes = with_tokens(
        ("<unk>", 2), ("<|mine|>", 4), ("\u00f8", 4), ("  ", 4), ("[PAD9]", 5), ("the", 0), ("", 1)
    )
    # In DeepSeek's files the character stands for itself, and byte 0xf8 has no token.
    changes["tokens"][0xF8], changes["token_type"][0xF8] = "[PAD8]", 5
    tokenizer = loaded(tmp_path, backend=backend, **changes)
    assert tokenizer.special_tokens == {"<|end|>": 264, "<unk>": 265}
    assert tokenizer.added_tokens == (
        AddedToken("<|end|>", 264),
        AddedToken("<unk>", 265),
        AddedToken("<|mine|>", 266, special=False),
        AddedToken("\u00f8", 267, special=False),
        AddedToken("  ", 268, special=False),
    )
    assert tokenizer.encode("ab<|mine|>  \u00f8") == [256, 266, 268, 267]
    assert tokenizer.decode([256, 266, 268, 267, 265]) == "ab<|mine|>  \u00f8<unk>"
    assert tokenizer.encode("a<unk>", "allow") == [97, 265]
    assert tokenizer.encode("<unk>", "text") == list(b"<unk>")
    assert tokenizer.token_bytes(270) == b"the"
    for id in (0xF8, 269, 271):
        with pytest.raises(UnknownTokenError):
            tokenizer.decode([id])


def test_what_merges_make_stays_in_the_vocabulary(tmp_path: Path, backend: BackendName) -> None:
    types = metadata()["tokenizer.ggml.token_type"]
    types[97] = types[256] = 4  # "a", "ab"
    types[258] = 3  # "abc"
    types[261] = 5  # "12"
    tokenizer = loaded(tmp_path, backend=backend, token_type=types)
    assert tokenizer.vocabulary == made_vocabulary()
    assert tokenizer.special_tokens == {"abc": 258, "<|end|>": 264}
    assert tokenizer.encode("abc", "text") == [258]
    assert tokenizer.encode("aab12") == [97, 256, 261]


def test_without_types_every_token_is_ordinary(tmp_path: Path, backend: BackendName) -> None:
    tokenizer = loaded(tmp_path, backend=backend, token_type=...)
    assert tokenizer.added_tokens == ()
    assert tokenizer.encode("<|end|>") == list(b"<|end|>")
    assert tokenizer.decode([264]) == "<|end|>"


@pytest.mark.parametrize(
    ("pre", "ids"), [("gpt-2", [*b"xyz"]), ("qwen2", [*b"xyz"]), ("llama-bpe", [265])]
)
def test_whole_pre_tokens(tmp_path: Path, backend: BackendName, pre: str, ids: list[int]) -> None:
    changes = with_tokens(("xyz", 1), ("<x>", 4), pre=pre, bos_token_id=0)
    tokenizer = loaded(tmp_path, backend=backend, **changes)
    assert tokenizer.vocabulary.ignore_merges == (ids == [265])
    assert tokenizer.encode("xyz") == ids
    assert tokenizer.encode("xyz<x>abc") == [*ids, 266, 258]
    assert tokenizer.preset == pretok.get(pre).preset


def test_what_is_known_by_pre_is_of_types_that_llama_cpp_has() -> None:
    whole, add_bos = format_gguf.IGNORE_MERGES, format_gguf.ADD_BOS
    assert {"llama-bpe", "tekken", "youtu", "minicpm5"} < whole
    assert add_bos - whole == {"chameleon"}
    assert format_gguf.NOT_BYTE_LEVEL.isdisjoint(whole | add_bos)


@pytest.mark.parametrize(
    ("changes", "template"),
    [
        ({}, Template((), ())),
        ({"add_bos_token": True, "bos_token_id": 5}, Template((5,), ())),
        ({"add_eos_token": True}, Template((), (264,))),
        ({"add_bos_token": ..., "bos_token_id": 5}, Template((), ())),
        ({"add_bos_token": ..., "bos_token_id": 5, "pre": "llama-bpe"}, Template((5,), ())),
        ({"add_bos_token": False, "bos_token_id": 5, "pre": "llama-bpe"}, Template((), ())),
        ({"eos_token_id": Typed("int32", -1)}, Template((), ())),
    ],
)
def test_template(tmp_path: Path, changes: dict[str, Any], template: Template) -> None:
    tokenizer = loaded(tmp_path, **changes)
    assert tokenizer.template == template
    ids = tokenizer.encode("ab", add_special_tokens=True)
    assert ids == [*template.before, 256, *template.after]


def test_prefix_space(tmp_path: Path, backend: BackendName) -> None:
    assert not loaded(tmp_path, add_space_prefix=False).add_prefix_space
    tokenizer = loaded(tmp_path, backend=backend, add_space_prefix=True)
    assert tokenizer.encode("the") == [260]


@pytest.mark.parametrize(("pre", "text"), [("jina-v2-de", "<mask>"), ("modern-bert", "[MASK]")])
def test_mask_takes_white_space_along(tmp_path: Path, pre: str, text: str) -> None:
    changes = with_tokens((text, 3), pre=pre)
    tokenizer = loaded(tmp_path, "gpt2", **changes)
    assert tokenizer.added_tokens[-1] == AddedToken(text, 265, lstrip=True)
    assert tokenizer.encode(f"a {text} a", "allow") == [97, 265, 32, 97]
    assert not loaded(tmp_path, **{**changes, "pre": "gpt-2"}).added_tokens[-1].lstrip


def test_special_tokens_can_be_added(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, None, {"<x>": 300})
    assert tokenizer.special_tokens == {"<|end|>": 264, "<x>": 300}
    with pytest.raises(VocabularyError, match=r"'<\|end\|>' with id 9, but the file says 264"):
        loaded(tmp_path, None, {"<|end|>": 9})


def test_becomes_a_tokenizer_json(tmp_path: Path) -> None:
    tokenizer = loaded(tmp_path, **with_tokens(("<|mine|>", 4), add_eos_token=True))
    tokenizer.save(tmp_path / "tokenizer.json")
    assert bpe.load(tmp_path / "tokenizer.json", backend="python") == tokenizer


def test_unknown_split(tmp_path: Path) -> None:
    message = r"small.gguf: tokenizer.ggml.pre is 'new', and no preset has that name; pass preset="
    with pytest.raises(VocabularyError, match=message):
        loaded(tmp_path, pre="new")
    assert loaded(tmp_path, "gpt2", pre="new") == loaded(tmp_path)


@pytest.mark.parametrize("pre", [..., ""])
def test_missing_split_is_the_default_one(tmp_path: Path, pre: Any) -> None:
    assert loaded(tmp_path, pre=pre).preset == pretok.get("default").preset


# What is refused.


def _swapped(texts: list[str], at: int, text: str) -> list[str]:
    return [*texts[:at], text, *texts[at + 1 :]]


_TOKENS = metadata()["tokenizer.ggml.tokens"]
_MERGES = metadata()["tokenizer.ggml.merges"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "llama"}, r'model is "llama" is not supported: that is SentencePiece BPE'),
        ({"model": "bert"}, "that is WordPiece; bpe reads byte-level BPE"),
        ({"model": "t5"}, "that is SentencePiece unigram"),
        ({"model": "rwkv"}, "that is RWKV's"),
        ({"model": "new"}, r'model is "new" is not supported: bpe reads byte-level BPE, "gpt2"'),
        ({"pre": "gemma4"}, r'pre is "gemma4" is not supported: the tokens of such models are'),
        ({"token_type": [6] + [1] * 264}, r"token_type\[0\] is 6 is not supported"),
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
        ({"tokens": _TOKENS[:-1]}, "token_type has 265 types, but .*tokens 264 tokens"),
        ({"tokens": _TOKENS[1:], "token_type": [1] * 264}, "no token for 1 of the 256 bytes: 0x00"),
        ({"tokens": _swapped(_TOKENS, 98, "a")}, r"tokens has 'a' twice, as 97 and 98"),
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
        ({"add_bos_token": True, "bos_token_id": 265}, "bos_token_id is 265; expected the id of"),
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
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def _key(name: bytes = b"a", kind: int = 4) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind)


_MANY = 1 << 62
_ROOM = b"\0" * 200


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "the version has 4 bytes from offset 4 on, but the end of the file is at 4"),
        (_head(1), "this is GGUF version 1; bpe reads versions 2 and 3"),
        (_head(4), "this is GGUF version 4; bpe reads versions 2 and 3"),
        (_head(0), "this is GGUF version 0; bpe reads versions 2 and 3"),
        (_head(keys=_MANY) + _ROOM, f"number of keys, at offset 16, is {_MANY}, for which the"),
        (_head() + struct.pack("<Q", _MANY) + _ROOM, "key 0 of 1, at offset 24, is a string of"),
        (_head() + struct.pack("<Q", 65535) + _ROOM, "key 0 of 1 has 65,535 bytes from offset 32"),
        (_head() + _key(kind=13) + _ROOM, "a, at offset 33, is of kind 13, which there is not"),
        (_head() + _key(kind=7) + b"\2" + _ROOM, "a, at offset 38, is the byte 2; expected 0 or 1"),
        (_head() + _key(kind=8) + struct.pack("<Q", _MANY), "a, at offset 37, is a string of"),
        (_head() + _key(kind=8) + struct.pack("<Q", 9999) + _ROOM, "a has 9,999 bytes from offset"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 13, 1) + _ROOM, "a, at offset 37, is of kin"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 4, _MANY) + _ROOM, "a has .* bytes from off"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 8, _MANY) + _ROOM, "is an array of .* stri"),
        (_head() + _key(kind=9) + struct.pack("<IQ", 8, 99) + _ROOM, r"a\[25\] of 99 has 8 bytes"),
        (_head(keys=2) + (_key() + b"\0\0\0\0") * 2, "key 1 of 2, at offset 41, is 'a', which was"),
        (_head() + _key(b"\xff") + _ROOM, "key 0 of 1, at offset 24, is not UTF-8"),
    ],
)  # fmt: skip
def test_damaged(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(BpeError, match=message) as caught:
        bpe.load(write(tmp_path / "a.gguf", data), "gpt2")
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.skipif(os.name != "posix", reason="files with holes are those of POSIX")
def test_metadata_without_end_is_not_read(tmp_path: Path) -> None:
    # Zeros are any number of empty strings.
    array = _head() + _key(kind=9) + struct.pack("<IQ", 8, 1 << 30)
    path = write(tmp_path / "large.gguf", array)
    os.truncate(path, 16 * MOST_BYTES)
    with pytest.raises(VocabularyError, match="an array of 1073741824 strings, more than"):
        bpe.load(path)
    write(path, _head() + _key(kind=8) + struct.pack("<Q", MOST_BYTES))
    os.truncate(path, 16 * MOST_BYTES)
    with pytest.raises(VocabularyError, match="but the end of a model's metadata is at 536,870"):
        bpe.load(path)


def test_cut_off_anywhere() -> None:
    data = gguf(metadata())
    format_gguf.parse(data)
    for end in range(len(data)):
        with pytest.raises(VocabularyError):
            format_gguf.parse(data[:end])


def test_any_byte_changed() -> None:
    """Bits of each byte: an error of bpe's own, or a tokenizer that works."""
    data = gguf(metadata())
    random_bits = random.Random(5)
    full = os.environ.get("PRETOK_FULL") == "1"
    refused = []
    for at in range(len(data)):
        for bit in range(8) if full else [random_bits.randrange(8)]:
            changed = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            try:
                contents = format_gguf.parse(changed)
                tokenizer = Tokenizer(
                    contents.vocabulary, GPT2, added_tokens=contents.added_tokens, backend="python"
                )
            except BpeError as error:
                refused.append(str(error))
                continue
            text = "abc the\r\n12\u00e9"
            assert tokenizer.decode(tokenizer.encode(text, "text")) == text, (at, bit)
    assert 1000 < len(refused) < len(data) * (8 if full else 1)
    assert max(map(len, refused)) < 1000


# What llama.cpp publishes: texts, and the ids that tokenizers gives them.


def vectors(name: str) -> list[tuple[str, list[int]]]:
    """Return the texts of a model's .inp, with the ids of its .out."""
    given = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf.inp").read_bytes().decode()
    *texts, end = given.split("\n__ggml_vocab_test__\n")
    lines = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf.out").read_text().splitlines()
    assert end == ""
    assert len(texts) == len(lines) == 46
    return [(text, [*map(int, line.split())]) for text, line in zip(texts, lines, strict=True)]


def _check_vectors(tokenizer: Tokenizer, name: str) -> None:
    published = vectors(name)
    for text, ids in published:
        assert tokenizer.encode(text, "text") == ids, text
        assert tokenizer.decode(ids) == text
    texts = [text for text, _ in published]
    assert tokenizer.encode_batch(texts, "text") == [ids for _, ids in published]


@pytest.mark.parametrize("name", ["gpt-2", "mpt", "starcoder", "deepseek-llm"])
def test_published_vectors(name: str, backend: BackendName) -> None:
    path = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf")
    tokenizer = bpe.load(path, backend=backend)
    assert tokenizer.preset == pretok.get(name).preset
    _check_vectors(tokenizer, name)


@pytest.mark.parametrize(
    ("name", "preset", "files"),
    [
        ("llama-bpe", "llama-bpe", ["llama3_tokenizer.model"]),
        ("qwen2", "qwen2", ["qwen2_vocab.json", "qwen2_merges.txt"]),
    ],
)
def test_published_vectors_of_other_files(
    name: str, preset: str, files: list[str], backend: BackendName
) -> None:
    paths = [shared("vocabs", file) for file in files]
    path = paths[0] if len(paths) == 1 else (paths[0], paths[1])
    _check_vectors(bpe.load(path, preset, backend=backend), name)


def _pieces(preset: str | Preset, published: list[tuple[str, list[int]]]) -> dict[str, list[int]]:
    """Return the ids of those pieces for which they follow from the ids of whole texts.

    Raises AssertionError if `preset` splits so that one piece would have several.
    """
    split = pretok.get(preset).split
    texts = [(split(text), ids) for text, ids in published]
    known: dict[str, list[int]] = {}
    before = -1
    while before < len(known):
        before = len(known)
        for pieces, ids in texts:
            unknown = {piece for piece in pieces if piece not in known}
            left = len(ids) - sum(len(known[piece]) for piece in pieces if piece in known)
            assert left >= sum(piece in unknown for piece in pieces), pieces
            if len(unknown) == 1:
                piece = unknown.pop()
                start = sum(len(known[other]) for other in pieces[: pieces.index(piece)])
                known[piece] = ids[start : start + left // pieces.count(piece)]
            if not unknown:
                assert [id for piece in pieces for id in known[piece]] == ids, pieces
    return known


def test_published_vectors_without_a_vocabulary() -> None:
    """The ids of Command R are, text by text, those of the pieces that its split makes."""
    known = _pieces("command-r", vectors("command-r"))
    assert len(known) > 20
    assert {"3", "Hello", " Hello", "\n   "} < known.keys()
    # Not every split is one that these ids can come from.
    with pytest.raises(AssertionError):
        _pieces(Preset("letters", rules=(Run(LETTER),)), vectors("command-r"))


def test_published_file_without_a_split(backend: BackendName) -> None:
    tokenizer = bpe.load(shared("vocabs", "gguf", "ggml-vocab-gpt-neox.gguf"), backend=backend)
    assert tokenizer.preset == pretok.get("default").preset
    assert tokenizer.special_tokens == {"<|endoftext|>": 0, "<|padding|>": 1}
    text = "Hello   world"
    assert tokenizer.tokens(text)[1] == (50275, b"   ", 5, 8)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    # With the split that the model was trained with, ids are those of tokenizers.
    tokenizers = pytest.importorskip("tokenizers")
    engine = tokenizers.Tokenizer.from_file(str(shared("vocabs", "hf", "gpt_neox.json")))
    own = bpe.load(shared("vocabs", "gguf", "ggml-vocab-gpt-neox.gguf"), "gpt2", backend=backend)
    for text, _ in vectors("gpt-2"):
        assert own.encode(text, "text") == engine.encode(text).ids, text


def test_published_file_of_sentencepiece() -> None:
    with pytest.raises(UnsupportedError, match=r'model is "llama" is not supported: that is Sente'):
        bpe.load(shared("vocabs", "gguf", "ggml-vocab-llama-spm.gguf"))
