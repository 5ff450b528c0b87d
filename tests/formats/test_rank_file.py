"""The native parser of rank files takes a file only where the one in Python says the same."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import Vocabulary, VocabularyError
from bpe.formats import tiktoken
from bpe.vocabulary import Packed
from paths import shared
from pretok.pretokenizer import BackendName
from support import max_examples
from vocabularies import BYTES
from vocabulary_files import tiktoken_lines, write

PLAIN = b"".join(line + b"\n" for line in tiktoken_lines())


def native_ranks(data: bytes) -> dict[int, bytes] | None:
    from pretok import _core

    found = _core.read_ranks(data)
    return None if found is None else Packed(*found).unpacked()


def python_ranks(data: bytes) -> dict[int, bytes] | None:
    try:
        return Vocabulary(tiktoken._parse_lines(data)).token_bytes
    except VocabularyError:
        return None


def test_plain_files(native: BackendName) -> None:
    for data in (
        PLAIN,
        PLAIN[:-1],
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b" 9\n", b" 009\n"),
    ):
        found = native_ranks(data)
        assert found is not None
        assert found == python_ranks(data)
        assert list(found) == list(python_ranks(data) or ())


@given(
    at=st.integers(0, len(PLAIN) - 1),
    size=st.integers(0, 3),
    put=st.one_of(st.binary(max_size=3), st.text("\r\n =AB09/+", max_size=3).map(str.encode)),
)
@settings(max_examples=max_examples(1000))
def test_a_fault_anywhere(native: BackendName, at: int, size: int, put: bytes) -> None:
    data = PLAIN[:at] + put + PLAIN[at + size :]
    found = native_ranks(data)
    if found is not None:
        assert found == python_ranks(data)


@pytest.mark.parametrize(
    "line",
    [b"BA== 16777216", b"BA== 9999999999", b"BA== 18446744073709551620", b"BB== 4", b"BAE 4",
     b"BAF= 4", b"=A== 4", b"A=== 4", b"==== 4", b"= 4", b" 4", b"BA==  4", b"BA== ", b"BA==",
     b"BA== 4 ", b"BA== 3", b"Aw== 4", b"\xe9A== 4", b"BA=\xe9 4", b""],
)  # fmt: skip
def test_what_python_has_to_see(native: BackendName, line: bytes) -> None:
    lines = tiktoken_lines()
    lines[4] = line
    assert native_ranks(b"\n".join(lines)) is None


def test_no_file_at_all(native: BackendName) -> None:
    for data in (b"", b"\n", b"AA== 0\n", b" ", b"AA== 0"):
        assert native_ranks(data) is None


def test_of_ranks_is_a_vocabulary_like_any_other(backend: BackendName) -> None:
    tokens = {**BYTES, 300: b"ab", 257: b"abc"}
    plain = Vocabulary(tokens)

    def made() -> Vocabulary:
        return Vocabulary.of_ranks(Packed.of(tokens))

    assert [made().bytes_of(id) for id in (97, 300, 256, 301, -1)] == [
        b"a",
        b"ab",
        None,
        None,
        None,
    ]
    assert [plain.bytes_of(id) for id in (97, 300, 256, 301, -1)] == [b"a", b"ab", None, None, None]
    assert made().size == plain.size == 301
    assert made().missing_bytes == ()
    assert repr(made()) == repr(plain)
    assert hash(made()) == hash(plain)
    assert made() == plain
    assert made().token_bytes == tokens
    assert list(made().token_bytes) == list(tokens)
    assert made().ids == plain.ids
    copies: list[Any] = [
        pickle.loads(pickle.dumps(made())),
        copy.copy(made()),
        copy.deepcopy(made()),
    ]
    assert all(again == plain for again in copies)
    tok = bpe.Tokenizer(made(), "cl100k", backend=backend)
    assert tok == bpe.Tokenizer(plain, "cl100k", backend=backend)
    assert tok.vocab_size == 301
    assert tok.encode("abcab") == bpe.Tokenizer(plain, "cl100k", backend=backend).encode("abcab")


def test_added_tokens_beside_a_native_file(tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "small.tiktoken", tiktoken_lines())
    tok = bpe.load(path, "cl100k", {"ab": 256, "<|end|>": 300}, backend=backend)
    assert tok.encode("abc<|end|>", "allow") == [256, 99, 300]
    assert tok.vocab_size == 301
    assert tok.decode([256, 300]) == "ab<|end|>"
    with pytest.raises(VocabularyError, match=r"'x' has id 256, which is that of b'ab'"):
        bpe.load(path, "cl100k", {"x": 256}, backend=backend)


@pytest.mark.parametrize("file", ["cl100k_base.tiktoken", "o200k_base.tiktoken", "qwen.tiktoken"])
def test_real_files(native: BackendName, file: str) -> None:
    data = shared("vocabs", file).read_bytes()
    assert native_ranks(data) == tiktoken._parse_plain(data)
