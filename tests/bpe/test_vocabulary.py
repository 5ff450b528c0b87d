"""Vocabulary: tokens, errors, properties, equality, pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import category

import numpy as np
import pytest

import bpe
from bpe import Tokenizer, Vocabulary, VocabularyError
from bpe.token_table import Packed
from bpe.vocabulary import ID_LIMIT, NOT_IN_UTF8, UNASSIGNED
from pretok.machine.backend import BackendName
from vocabularies import BYTES

AB = BYTES | {256: b"ab"}
ABC = AB | {257: b"abc", 258: b"bc"}


def refused(match: str, tokens: Mapping[Any, Any], merges: Iterable[Any] | None = None) -> None:
    """Check that Vocabulary refuses the arguments with an error that matches `match`."""
    with pytest.raises(VocabularyError, match=match) as caught:
        Vocabulary(tokens, merges)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, bpe.BpeError)


def test_properties() -> None:
    made = Vocabulary(ABC, merges=[(97, 98, 256), (256, 99, 257)])
    assert made.token_bytes == ABC
    assert made.merges == ((97, 98, 256), (256, 99, 257))
    assert made.ignore_merges is False
    assert made.ids[b"abc"] == 257
    assert made.byte_ids == {byte: byte for byte in range(256)}
    assert made.missing_bytes == ()
    assert made.size == 259
    assert repr(made) == "<Vocabulary of 259 tokens, 2 merges>"


def test_from_ranks() -> None:
    made = Vocabulary(AB)
    assert made.merges is None
    assert made.ignore_merges is True
    assert repr(made) == "<Vocabulary of 257 tokens, ranks>"
    assert Vocabulary(AB, merges=[]).merges == ()
    assert Vocabulary(AB, merges=[]) != made


def test_the_lowest_id_of_equal_tokens_counts() -> None:
    made = Vocabulary({900: b"ab", 300: b"a", 500: b"ab"} | BYTES, merges=[])
    assert made.ids[b"ab"] == 500
    assert made.ids[b"a"] == made.byte_ids[97] == 97
    assert made.size == 901


def test_changing_an_argument_later_has_no_effect() -> None:
    tokens, merges = dict(AB), [(97, 98, 256)]
    made = Vocabulary(tokens, merges)
    tokens[256] = b"xy"
    merges.append((1, 2, 3))
    assert made.token_bytes[256] == b"ab"
    assert made.merges == ((97, 98, 256),)


@pytest.mark.parametrize(
    "merges",
    [
        [[97, 98, 256]],
        iter([(97, 98, 256)]),
        np.array([[97, 98, 256]]),
    ],
    ids=["lists", "iterator", "array"],
)
def test_merges_become_tuples_of_ints(merges: Any) -> None:
    made = Vocabulary(AB, merges)
    assert made.merges == ((97, 98, 256),)
    assert made == Vocabulary(AB, [(97, 98, 256)])
    assert all(type(merge) is tuple for merge in made.merges)
    assert all(type(id) is int for merge in made.merges for id in merge)


@pytest.mark.parametrize("size", [1, 3, 256])
def test_bytes_without_a_token(size: int) -> None:
    few = {id: token for id, token in BYTES.items() if id >= size}
    shown = ", ".join(f"0x{byte:02x}" for byte in range(min(size, 8)))
    refused(f"no token for {size} of the 256 bytes: {shown}.*token for each byte", few)
    refused("no token for", few, [])


NEVER = (0xC0, 0xC1, *range(0xF5, 0x100))
"""Bytes that UTF-8 never has."""


def test_never_has_the_bytes_that_utf8_never_has() -> None:
    chars = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert set(NEVER) == NOT_IN_UTF8 == set(range(256)) - set(chars.encode())


def test_unassigned_has_the_bytes_that_only_unassigned_characters_have() -> None:
    # Private use characters count as assigned: any text may hold them.
    chars = "".join(
        chr(code) for code in range(0x110000) if category(chr(code)) not in ("Cn", "Cs")
    )
    assert set(UNASSIGNED) == set(range(256)) - set(chars.encode()) - NOT_IN_UTF8


@pytest.mark.parametrize("without", [(0xF1,), tuple(sorted(NOT_IN_UTF8 | UNASSIGNED))])
@pytest.mark.parametrize("normalizer", [None, "NFC"])
def test_bytes_that_characters_never_have_may_have_no_token(
    backend: BackendName, normalizer: Any, without: tuple[int, ...]
) -> None:
    # StarCoder has no token for 0xf1, because only unassigned characters have this byte.
    tokens = {id: token for id, token in AB.items() if id not in without}
    tok = Tokenizer(
        Vocabulary(tokens, [(97, 98, 256)]), "gpt2", normalizer=normalizer, backend=backend
    )
    for text in ("ab", "ab \u4e2d\U0003ffff\U000c0000\udbd0\udc00\U0010ffff"):
        assert tok.encode(text) == tok.encode_batch([text])[0] == list(tok.encode_array(text))
        assert tok.decode(tok.encode(text)) == text.replace("\udbd0\udc00", "\U00104000")
    calls: list[Any] = [tok.encode, tok.encode_array, tok.count, tok.tokens]
    calls += [lambda data: tok.encode_batch(["a", data])]
    calls += [lambda data: tok.encode_batch_array(["a", data], threads=2)]
    for call in calls:
        for data in ("\U00040000", "ab \u00e9 \U0007ffff" * 9000, "\ud8c0\udc00", b"a\xf1"):
            with pytest.raises(
                bpe.UnknownTokenError, match=r"0xf1, the first byte of unassigned .* U\+40000"
            ):
                call(data)


@pytest.mark.parametrize("without", [NEVER, (0xFF,)], ids=["all", "one"])
@pytest.mark.parametrize("normalizer", [None, "NFC"])
def test_bytes_that_utf8_never_has_may_have_no_token(
    backend: BackendName, normalizer: Any, without: tuple[int, ...]
) -> None:
    # Trainers that see only text leave these bytes out.
    tokens = {id: token for id, token in AB.items() if id not in without}
    made = Vocabulary(tokens, [(97, 98, 256)])
    assert made.missing_bytes == without
    assert sorted(made.byte_ids) == [byte for byte in range(256) if byte not in without]
    refused("no token for", tokens)
    tok = Tokenizer(made, "gpt2", normalizer=normalizer, backend=backend)
    text = "ab \u4e2d\U0010ffff\ud800"
    assert tok.decode(tok.encode(text)) == "ab \u4e2d\U0010ffff\ufffd"
    assert tok.encode(b"a\xf4\x80") == [97, 0xF4, 0x80]
    calls: list[Any] = [tok.encode, tok.encode_array, tok.count, tok.tokens]
    calls += [lambda data: tok.encode_batch(["a", data])]
    calls += [lambda data: tok.encode_batch_array(["a", data], threads=2)]
    for call in calls:
        for data in (b"a\xff", b"e\xcc\x81\xff" * 9000, bytearray(b"\xff")):
            with pytest.raises(bpe.UnknownTokenError, match="holds byte 0xff, which never"):
                call(data)
    with pytest.raises(bpe.UnknownTokenError, match="0xff"):
        tok.encode("a\udcff", errors="surrogateescape")


@pytest.mark.parametrize("id", [-1, ID_LIMIT, 1 << 64, True, 1.5, "x", None, np.int64(300)])
def test_wrong_ids(id: object) -> None:
    wrong = {key: token for key, token in BYTES.items() if key != 1}  # 1 == True
    refused(r"token b'(\\x01|ab)' has id .*; expected an int from 0 to 16777215",
            wrong | {id: b"\x01"} if id is True else BYTES | {id: b"ab"})  # fmt: skip


@pytest.mark.parametrize("token", [b"", "ab", bytearray(b"ab"), None, 5, [97]])
def test_wrong_tokens(token: object) -> None:
    refused(r"token 256 is .*; expected non-empty bytes", BYTES | {256: token})


def test_ranks_of_equal_tokens() -> None:
    refused(r"token b'ab' has two ids, 256 and 300; expected one id", AB | {300: b"ab"})
    refused(r"token b'a' has two ids, 97 and 300; expected one id", AB | {300: b"a"})


@pytest.mark.parametrize(
    "merge",
    [
        (97, 98, 257),
        (98, 97, 256),
        (97, 98, 999),
        (97, 999, 256),
        (-1, 98, 256),
        (97, 98),
        (97, 98, 256, 0),
        (),
        None,
        5,
        "ab",
        (b"a", b"b", b"ab"),
        ([97], 98, 256),
        (97.0, 98.0, 256.0),
    ],
)
def test_wrong_merges(merge: object) -> None:
    message = r"merge 1 is .*; expected the ids of two tokens and of their"
    refused(message, ABC, [(97, 98, 256), merge])


def test_equality_and_hash() -> None:
    same = [Vocabulary(AB), Vocabulary(dict(reversed(AB.items())))]
    assert same[0] == same[1]
    assert hash(same[0]) == hash(same[1])
    others = [
        Vocabulary(AB, []),
        Vocabulary(AB, [], True),
        Vocabulary(AB, [(97, 98, 256)]),
        Vocabulary(BYTES),
        Vocabulary(BYTES | {257: b"ab"}),
    ]
    assert len({same[0], same[1], *others}) == 1 + len(others)
    assert same[0] != AB


@pytest.mark.parametrize(
    "made",
    [Vocabulary(AB), Vocabulary(ABC, [(97, 98, 256)], True), Vocabulary(AB, [])],
    ids=["ranks", "ignore merges", "no merges"],
)
def test_pickling_and_copying(made: Vocabulary) -> None:
    copies = [pickle.loads(pickle.dumps(made, protocol)) for protocol in (2, 5)]
    for other in (*copies, copy.copy(made), copy.deepcopy(made)):
        assert other == made
        assert (other.merges, other.ignore_merges) == (made.merges, made.ignore_merges)


@pytest.mark.parametrize("name", ["token_bytes", "merges", "ignore_merges", "size", "ids",
                                  "byte_ids", "missing_bytes"])  # fmt: skip
def test_a_vocabulary_cannot_be_changed(name: str) -> None:
    made = Vocabulary(AB)
    before = getattr(made, name)
    with pytest.raises(AttributeError):
        setattr(made, name, None)
    assert getattr(made, name) == before


def test_the_largest_id(backend: BackendName) -> None:
    largest = ID_LIMIT - 1
    tok = Tokenizer(Vocabulary(BYTES | {largest: b"ab"}), "gpt2", backend=backend)
    assert tok.encode("abc") == [largest, 99]
    assert tok.decode([largest, 99]) == "abc"
    assert tok.vocab_size == ID_LIMIT
    with pytest.raises(bpe.UnknownTokenError):
        tok.decode([largest - 1])


def test_a_token_of_any_length(backend: BackendName) -> None:
    # Tokens of up to 16 bytes are compared as two 64-bit words, longer tokens byte by byte.
    tokens = dict(BYTES)
    for size in (2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 5000):
        tokens[len(tokens)] = b"x" * size
        tokens[len(tokens)] = b"x" * (size - 1) + b"y"
        tokens[len(tokens)] = b"\0" * size
    tok = Tokenizer(Vocabulary(tokens), "gpt2", backend=backend)
    for id, token in tokens.items():
        assert tok.token_id(token) == id
        assert tok.decode_bytes([id]) == token
        if set(token) <= set(b"xy"):
            assert tok.encode(token) == [id]
            assert tok.encode(token + b"1") == [id, 0x31]


def test_of_ranks_is_a_vocabulary_like_any_other(backend: BackendName) -> None:
    tokens = {**BYTES, 300: b"ab", 257: b"abc"}
    plain = Vocabulary(tokens)

    def made() -> Vocabulary:
        return Vocabulary._of_packed(Packed.of(tokens), np.zeros((0, 3), np.uint32), True, True)

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


@pytest.mark.parametrize("tokens", [None, [b"a"], {b"a"}, 5])
def test_tokens_without_ids(tokens: Any) -> None:
    message = f"^token_bytes is of type {type(tokens).__name__}; expected a mapping from ids to"
    with pytest.raises(TypeError, match=message):
        Vocabulary(tokens)
