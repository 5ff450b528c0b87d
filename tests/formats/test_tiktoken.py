"""Rank files, the format of tiktoken: each line is checked, and saving must keep the merges.

The native parser reads the same as the Python parser, or leaves the file to it.
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import Vocabulary, VocabularyError
from bpe.formats import tiktoken
from bpe.merge import recover_merges
from bpe.token_table import Packed
from paths import shared
from pretok.machine.backend import BackendName
from support import max_examples
from vocabulary_files import TEXTS, made, made_vocabulary, tiktoken_lines, write


def test_round_trip(tmp_path: Path, backend: BackendName) -> None:
    path = tmp_path / "small.tiktoken"
    made(backend).save(path, lossy=True)
    assert path.read_bytes() == b"".join(line + b"\n" for line in tiktoken_lines())
    loaded = bpe.load(path, "cl100k", {"<|end|>": 300}, backend=backend)
    assert loaded.vocabulary == Vocabulary(made_vocabulary().token_bytes)
    assert loaded.special_tokens == {"<|end|>": 300}
    for text in (*TEXTS, "a<|end|>ab"):
        assert loaded.encode(text, "allow") == made(backend).encode(text, "allow")


@pytest.mark.parametrize("suffix", [".tiktoken", ".model", ".txt", ""])
def test_the_suffix_does_not_matter(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"tokenizer{suffix}", tiktoken_lines())
    assert bpe.load(path, "gpt2", backend="python").vocab_size == 264


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data[:-1],
        lambda data: data + b"\n\n",
        lambda data: data.replace(b"\n", b"\n\n"),
        lambda data: b"\n".join(reversed(data.split(b"\n"))),
        lambda data: data + b"= 400\n",
    ],
    ids=["CRLF", "no last line break", "blank at end", "blank lines", "other order", "empty token"],
)
def test_variants_of_a_file_are_read(tmp_path: Path, change: object) -> None:
    assert callable(change)
    plain = write(tmp_path / "plain", tiktoken_lines())
    path = write(tmp_path / "other", change(plain.read_bytes()))
    assert bpe.load(path, "gpt2", backend="python") == bpe.load(plain, "gpt2", backend="python")


@pytest.mark.parametrize(
    ("number", "line", "message"),
    [
        (5, b"!!!! 4", "line 5: '!!!!' is not base64"),
        (5, b"BA= 4", "line 5: 'BA=' is not base64"),
        (5, b"BB== 4", "line 5: 'BB==' is not base64"),
        (5, b"B!A== 4", "line 5: 'B!A==' is not base64"),
        (5, b"BA==", "line 5: 'BA==' has no rank"),
        (5, b"BA== ", "line 5: 'BA== ' has no rank"),
        (5, b"BA==\t4", "line 5: 'BA==\\t4' has no rank"),
        (5, b"BA==  4", "line 5: the rank is ' 4'; expected a number"),
        (5, b"BA== 4 4", "line 5: the rank is '4 4'; expected a number"),
        (5, b"BA== four", "line 5: the rank is 'four'; expected a number"),
        (5, b"BA== -4", "line 5: the rank is '-4'; expected a number"),
        (5, b"BA== +4", "line 5: the rank is '+4'; expected a number"),
        (5, b"BA== 1_0", "line 5: the rank is '1_0'; expected a number"),
        (
            5,
            b"BA== 99999999",
            "line 5: the rank is '99999999'; expected a number from 0 to 16777215",
        ),
        (5, b"BA== " + b"9" * 5000, "line 5: the rank is '999"),
        (5, b"BA== 3", "line 5: rank 3 is already on line 4"),
        (5, b"Aw== 4", r"line 5: token b'\x03' is already on line 4"),
        (264, b"YWJj 500", "line 264: token b'abc' is already on line 259"),
    ],
)
def test_bad_line(tmp_path: Path, number: int, line: bytes, message: str) -> None:
    lines = tiktoken_lines()
    lines[number - 1] = line
    path = write(tmp_path / "bad.tiktoken", lines)
    with pytest.raises(VocabularyError) as caught:
        bpe.load(path, "gpt2")
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "damaged" in str(caught.value)


def test_missing_byte(tmp_path: Path) -> None:
    lines = tiktoken_lines()
    del lines[0x41]
    path = write(tmp_path / "bad.tiktoken", lines)
    with pytest.raises(VocabularyError, match="no token for 1 of the 256 bytes: 0x41") as caught:
        bpe.load(path, "gpt2")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (Vocabulary({**made_vocabulary([]).token_bytes, 256: b"ab", 257: b"bc", 258: b"abc"},
                    [(97, 98, 256), (98, 99, 257), (97, 257, 258), (256, 99, 258)]),
         "merges 2 and 3 both make token 258"),
        (made_vocabulary([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]), "from b'a' and b'bc'"),
        (Vocabulary({**made_vocabulary().token_bytes, 400: b"xyz"}, made_vocabulary().merges),
         "no merge makes token 400"),
        (Vocabulary({**made_vocabulary().token_bytes, 400: b"ab"}, made_vocabulary().merges),
         "same bytes"),
        (Vocabulary({**made_vocabulary([]).token_bytes, 256: b"ab", 257: b"bc"},
                    [(98, 99, 257), (97, 98, 256)]), "in order of ids"),
        (Vocabulary({**made_vocabulary([]).token_bytes, 256: b"ab", 257: b"abc"},
                    [(97, 98, 256)], ignore_merges=True), "merged from nothing"),
    ],
)  # fmt: skip
def test_vocabularies_that_ranks_cannot_hold(
    tmp_path: Path, vocabulary: Vocabulary, message: str
) -> None:
    path = tmp_path / "small.tiktoken"
    with pytest.raises(VocabularyError, match=message):
        made(vocabulary=vocabulary, special=()).save(path)
    assert list(tmp_path.iterdir()) == []


def test_tokens_looked_up_whole_can_be_ranks(tmp_path: Path, backend: BackendName) -> None:
    tokens = {**made_vocabulary([]).token_bytes, 256: b"xyz"}
    tokenizer = made(backend, Vocabulary(tokens, [], ignore_merges=True), special=())
    tokenizer.save(tmp_path / "small.tiktoken")
    loaded = bpe.load(tmp_path / "small.tiktoken", "cl100k", backend=backend)
    for text in ("xyz", "xyzx xyz"):
        assert loaded.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("file", ["r50k_base.tiktoken", "llama3_tokenizer.model"])
def test_real_files_are_saved_with_the_same_lines(tmp_path: Path, file: str) -> None:
    path = shared("vocabs", file)
    bpe.load(path, special_tokens={}).save(tmp_path / "again.tiktoken")
    again = (tmp_path / "again.tiktoken").read_bytes()
    lines = path.read_bytes().splitlines()
    assert again.splitlines() == sorted(lines, key=lambda line: int(line.split()[1]))


def test_merges_of_ranks_are_those_of_training(tmp_path: Path) -> None:
    path = shared("vocabs", "r50k_base.tiktoken")
    gpt2 = bpe.load(
        (shared("vocabs", "gpt2_vocab.json"), shared("vocabs", "gpt2_merges.txt")), "gpt2"
    )
    ranks = {
        int(rank): base64.b64decode(token)
        for token, rank in map(bytes.split, path.read_bytes().splitlines())
    }
    assert tuple(recover_merges(Vocabulary(ranks))) == gpt2.vocabulary.merges


# The native parser.

PLAIN = b"".join(line + b"\n" for line in tiktoken_lines())


def native_ranks(data: bytes) -> dict[int, bytes] | None:
    from pretok import _core

    try:
        return Packed(*_core.read_spec(data).tokens()).unpacked()
    except (ValueError, NotImplementedError):
        return None


def python_ranks(data: bytes) -> dict[int, bytes] | None:
    try:
        return Vocabulary(tiktoken._parse_lines(data)).token_bytes
    except VocabularyError:
        return None


def test_both_parsers_read_plain_files(native: BackendName) -> None:
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
def test_a_fault_anywhere_is_read_alike_or_left_to_python(
    native: BackendName, at: int, size: int, put: bytes
) -> None:
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
def test_the_native_parser_leaves_bad_lines_to_python(native: BackendName, line: bytes) -> None:
    lines = tiktoken_lines()
    lines[4] = line
    assert native_ranks(b"\n".join(lines)) is None


@pytest.mark.parametrize("later", [1, 63, 64, 200])
def test_the_native_parser_finds_equal_tokens_far_apart(native: BackendName, later: int) -> None:
    lines = tiktoken_lines()
    for at in (0, 7, len(lines) - 1 - later):
        equal = list(lines)
        equal[at + later] = lines[at].split()[0] + b" " + lines[at + later].split()[1]
        assert native_ranks(b"\n".join(equal)) is None


def test_the_native_parser_leaves_files_that_lack_bytes_to_python(native: BackendName) -> None:
    for data in (b"", b"\n", b"AA== 0\n", b" ", b"AA== 0"):
        assert native_ranks(data) is None


def test_special_tokens_can_be_passed_for_a_file(tmp_path: Path, backend: BackendName) -> None:
    path = write(tmp_path / "small.tiktoken", tiktoken_lines())
    tok = bpe.load(path, "cl100k", {"ab": 256, "<|end|>": 300}, backend=backend)
    assert tok.encode("abc<|end|>", "allow") == [256, 99, 300]
    assert tok.vocab_size == 301
    assert tok.decode([256, 300]) == "ab<|end|>"
    with pytest.raises(VocabularyError, match=r"'x' has id 256, which is the id of b'ab'"):
        bpe.load(path, "cl100k", {"x": 256}, backend=backend)


@pytest.mark.parametrize("file", ["cl100k_base.tiktoken", "o200k_base.tiktoken", "qwen.tiktoken"])
def test_both_parsers_read_real_files(native: BackendName, file: str) -> None:
    data = shared("vocabs", file).read_bytes()
    assert native_ranks(data) == tiktoken._parse_plain(data)
