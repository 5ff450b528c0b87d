"""The C interface runs every normalizer, decoder and model option of a tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bpe
from bpe import (
    AddedToken,
    BpeError,
    SpecialTokenError,
    Tokenizer,
    UnsupportedError,
    VocabularyError,
)
from bpe.formats import pretok_file
from c_library import CError, CLibrary, CTokenizer
from pre_tokenizer_json import byte_level
from pretok.byte_characters import BYTE_CHARACTERS
from random_text_models import ADDED, DECODERS, NORMALIZERS, random_file
from support import max_examples, seeded
from text_models import CASES, PARTS, chained, file_of
from text_pretok_files import summed
from vocabulary_files import huggingface, write

BAD = [b"\xff", b"\xc3", b"\xe2\x96", b"\xf0\x9f", b"\xed\xa0\x80"]


def texts(source: Random, count: int) -> Iterator[bytes]:
    """Yield random texts, some of them not UTF-8."""
    parts = [*map(str.encode, PARTS), *map(str.encode, PARTS), *BAD]
    for _ in range(count):
        yield b"".join(source.choices(parts, k=source.choice([0, 1, 2, 6, 20, 60])))


def ids_or_position(tok: Tokenizer, data: bytes, special: str) -> list[int] | int:
    """Return the ids that Python gives, or the position of the refused special token."""
    try:
        return tok.encode(data, special)
    except SpecialTokenError as error:
        return error.position


def in_c(ours: CTokenizer, data: bytes, special: str) -> list[int] | int:
    """Return the same of the C interface."""
    try:
        return ours.encode(data, special)
    except CError as error:
        if error.status != "special token":
            raise
        return error.position


def check(tok: Tokenizer, each: list[CTokenizer], source: Random, count: int) -> None:
    """Compare ids, positions of errors, streams and decoded texts."""
    known = sorted({*tok.vocabulary.token_bytes, *(token.id for token in tok.added_tokens)})
    for data in texts(source, count):
        special = source.choice(["raise", "text", "allow"])
        expected = ids_or_position(tok, data, special)
        some = source.choices(known, k=source.randrange(12))
        for ours in each:
            assert in_c(ours, data, special) == expected, data
            if isinstance(expected, list):
                cut = source.randrange(len(data) + 1)
                assert ours.stream([data[:cut], data[cut:]], special) == expected, data
                check_decoding(tok, ours, expected, source)
            check_decoding(tok, ours, some, source)
    for ours in each:
        for id in known:
            assert ours.token_bytes(id) == tok.token_bytes(id)


def check_decoding(tok: Tokenizer, ours: CTokenizer, ids: list[int], source: Random) -> None:
    skip = source.random() < 0.5
    assert ours.decode(ids, skip) == tok._decode_bytes(ids, skip), ids
    ends = sorted({0, *source.choices(range(len(ids) + 1), k=2), len(ids)})
    decoded = ours.decode_stream([ids[start:end] for start, end in pairwise(ends)], skip)
    assert "".join(decoded) == tok.decode(ids, skip_special=skip), ids


def loaded(c_library: CLibrary, tok: Tokenizer, file: dict[str, Any]) -> list[CTokenizer]:
    """Return the tokenizers of a .pretok file, and of the tokenizer.json if C can read it."""
    found = [CTokenizer(c_library, pretok_file.dump(tok.to_spec()))]
    try:
        found.append(CTokenizer(c_library, json.dumps(file).encode()))
    except CError as error:
        reasons = "in Python", "Python reads", "Python compiles", "set options.preset"
        message = str(error)
        assert any(reason in message for reason in reasons), message
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_option(c_library: CLibrary, tmp_path: Path, name: str) -> None:
    file = file_of(**CASES[name])
    tok = bpe.load(write(tmp_path / "tokenizer.json", file), backend="python")
    check(tok, loaded(c_library, tok, file), seeded(name), max_examples(30))


def test_random_files(c_library: CLibrary, tmp_path: Path) -> None:
    """Random models: the C interface and both backends give the ids of Hugging Face's library."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    source = seeded("random steps in C")
    compared = 0
    for _ in range(max_examples(40)):
        file = random_file(source)
        path = write(tmp_path / "tokenizer.json", file)
        try:
            tok = bpe.load(path, backend=source.choice(["native", "python", None]))
            each = loaded(c_library, tok, file)
        except BpeError:
            continue
        check(tok, each, source, 5)
        live = tokenizers.Tokenizer.from_file(str(path))
        text = "".join(source.choices(PARTS, k=12))
        ids = live.encode(text, add_special_tokens=False).ids
        assert all(ours.encode(text.encode(), "allow") == ids for ours in each)
        compared += 1
    assert compared > max_examples(40) * 0.6


def test_random_steps_of_byte_level_models(c_library: CLibrary, tmp_path: Path) -> None:
    source = seeded("random byte-level steps in C")
    for _ in range(max_examples(30)):
        steps = source.choices(NORMALIZERS, k=source.randrange(1, 4))
        decoders = source.choices(DECODERS, k=source.randrange(3))
        file = huggingface(
            normalizer=chained(*steps),
            decoder={"type": "Sequence", "decoders": decoders} if decoders else byte_level(),
            pre_tokenizer=byte_level(add_prefix_space=source.random() < 0.5),
        )
        first = len(file["model"]["vocab"])
        file["added_tokens"] = [
            {**token, "id": first + at}
            for at, token in enumerate(source.sample(ADDED, source.randrange(len(ADDED))))
        ]
        tok = bpe.load(write(tmp_path / "tokenizer.json", file))
        check(tok, loaded(c_library, tok, file), source, 6)


JOINING = {
    "ByteLevel": byte_level(),
    "ByteLevel and Fuse": {"type": "Sequence", "decoders": [byte_level(), {"type": "Fuse"}]},
    "null": None,
    "Fuse": {"type": "Fuse"},
    "one Fuse": {"type": "Sequence", "decoders": [{"type": "Fuse"}]},
    "no decoder": {"type": "Sequence", "decoders": []},
    "no decoder in a Sequence": {
        "type": "Sequence",
        "decoders": [{"type": "Sequence", "decoders": []}],
    },
}
"""Decoders that only join byte-level tokens: their bytes, or the characters that stand for them."""


@pytest.mark.parametrize("name", JOINING)
def test_joined_tokens_of_incomplete_and_invalid_bytes(
    c_library: CLibrary, tmp_path: Path, name: str
) -> None:
    """A stream is UTF-8. Only ByteLevel joins bytes; bpe takes null for ByteLevel."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    live_file = huggingface(decoder=JOINING[name] or byte_level())
    live = tokenizers.Tokenizer.from_file(str(write(tmp_path / "live.json", live_file)))
    file = huggingface(decoder=JOINING[name])
    path = write(tmp_path / "tokenizer.json", file)
    python, native = bpe.load(path, backend="python"), bpe.load(path)
    each = loaded(c_library, python, file)
    for data in ["a é中".encode(), *BAD, b"".join(BAD), b"a\xff\xc3 \xe4\xb8"]:
        ids = [file["model"]["vocab"][BYTE_CHARACTERS[byte]] for byte in data]
        text = live.decode(ids)
        for tok in python, native:
            assert tok.decode(ids) == text
            stream = tok.decode_stream()
            assert "".join(map(stream.feed, ids)) + stream.finish() == text
            assert tok.decode_bytes(ids) == (data if "\ufffd" in text else text.encode())
        for ours in each:
            assert ours.decode(ids) == python.decode_bytes(ids)
            assert "".join(ours.decode_stream([[id] for id in ids], False)) == text
    native.save(tmp_path / "saved.json")
    again = bpe.load(tmp_path / "saved.json")
    assert again.decode(ids) == text


def test_an_added_token_that_becomes_empty(c_library: CLibrary, tmp_path: Path) -> None:
    file = huggingface(normalizer={"type": "StripAccents"})
    spec = bpe.load(write(tmp_path / "tokenizer.json", file)).to_spec()
    spec = replace(spec, added_tokens=(AddedToken("\u0301", 264, normalized=True),))
    write(tmp_path / "a.pretok", pretok_file.dump(spec))
    with pytest.raises(VocabularyError, match=r"changes added token .* to an empty text"):
        bpe.load(tmp_path / "a.pretok")
    with pytest.raises(CError, match=r"malformed: .* changes added token .* to an empty text"):
        CTokenizer(c_library, tmp_path / "a.pretok")


def test_options_that_need_no_normalizer_of_the_file(c_library: CLibrary, tmp_path: Path) -> None:
    tok = bpe.load(write(tmp_path / "a.json", huggingface(normalizer={"type": "Lowercase"})))
    with pytest.raises(CError, match="invalid argument: the file has a normalizer of its own"):
        CTokenizer(c_library, pretok_file.dump(tok.to_spec()), normalizer="NFC")


def test_too_many_steps(c_library: CLibrary, tmp_path: Path) -> None:
    tok = bpe.load(write(tmp_path / "a.json", huggingface(normalizer={"type": "Lowercase"})))
    data = pretok_file.dump(tok.to_spec())
    CTokenizer(c_library, data)
    one = b"\x01\x04\x00\x00"  # one step, Lowercase; no Metaspace, no decoder
    many = summed(data[16:].replace(one, b"\x81\x02" + b"\x04" * 257 + b"\x00\x00"))
    with pytest.raises(CError, match=r"malformed: .* has an unknown normalizer or decoder"):
        CTokenizer(c_library, many)


def test_what_only_python_runs(tmp_path: Path) -> None:
    """Saving refuses a model that the C library would refuse."""

    class Own:
        def normalize(self, text: str) -> str:
            return text

        def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
            return text, [(at, at + 1) for at in range(len(text))]

    spec = bpe.load(write(tmp_path / "tokenizer.json", huggingface())).to_spec()
    assert spec.preset is not None
    own = Tokenizer(spec.vocabulary, spec.preset, normalizer=Own())
    with pytest.raises(UnsupportedError, match="cannot hold the normalizer Own"):
        own.save(tmp_path / "own.pretok")
