"""Sessions after random changes: the ids, patches, spans and errors of encoding all text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import bpe
from bpe import AddedToken, Tokenizer
from bpe.sessions.kept_text import KeptText, PythonText
from pretok.machine.backend import BackendName
from random_normalizers import ADDED, PIECES, random_normalizer
from session_walks import Walk, new_texts, outcome
from small_vocabularies import three_letters
from support import PRESET_NAMES, max_examples, sample, seeded
from text_models import CASES, file_of
from vocabularies import BYTES
from vocabulary_files import write

LETTERS = [
    *(char.encode() for char in "\r\n\t \u00a0\u3000\u2028'sSſtl159½!./-AaǅʰЖ"),
    *(char.encode() for char in "中é\u0301\u0323한ᄒ👍\u200d"),
    b"\xf0\x9f", b"\x98\x80", b"\xff", b"<|im_", b"start|>", b"<|im_start|>", b"'ll", b" the",
    b"\r\n", b"done!", b" " * 9, b"\n" * 7, b"0" * 8, b"ab" * 5,
]  # fmt: skip
TOKENS = [
    AddedToken("<|im_start|>", 1000),
    AddedToken("<|im_", 1001, special=False),
    AddedToken("  ", 1002, special=False),
    AddedToken("the", 1003, lstrip=True),
    AddedToken("!", 1004, special=False, rstrip=True),
    AddedToken("ab", 1005, special=False, single_word=True),
    AddedToken("é", 1006, special=False, normalized=True),
]


@pytest.fixture(params=[16, 600])
def piece_size(request: pytest.FixtureRequest, native: BackendName) -> Iterator[int]:
    from pretok import _core

    _core.set_piece_size(request.param)
    yield request.param
    _core.set_piece_size(2048)


def some_tokens(random: Random) -> list[AddedToken]:
    return random.sample(TOKENS, random.choice([0, 1, 2, len(TOKENS)]))


@pytest.fixture(scope="module")
def vocabulary() -> bpe.Vocabulary:
    text = "the then 'll done! abab 中中 ééé  \n\n\r\n 000 AaA <|im_start|> xe ▁a ▁x É fi ab"
    return bpe.train([text] * 3, vocab_size=330).vocabulary


def letters(random: Random) -> list[bytes]:
    return random.sample(LETTERS, random.randrange(2, 7))


@pytest.mark.parametrize("name", sample(PRESET_NAMES, 12))
def test_presets(name: str, vocabulary: bpe.Vocabulary, piece_size: int) -> None:
    random = seeded(f"sessions {name} {piece_size}")
    longest = 12 if piece_size < 100 else 400
    for _ in range(max_examples(4)):
        tokenizer = Tokenizer(
            vocabulary, name, added_tokens=some_tokens(random), backend="native",
            normalizer=random.choice([None, None, "NFC"]),
            add_prefix_space=random.random() < 0.2,
        )  # fmt: skip
        for _ in range(3):
            Walk(tokenizer, letters(random), random, longest).run(20)


def test_normalizers(vocabulary: bpe.Vocabulary, native: BackendName) -> None:
    random = seeded("sessions with normalizers")
    for _ in range(max_examples(30)):
        options: dict[str, Any] = {
            "added_tokens": random.sample(ADDED, random.randrange(len(ADDED))),
            "normalizer": random_normalizer(random), "add_prefix_space": random.random() < 0.3,
        }  # fmt: skip
        try:
            tokenizer = Tokenizer(vocabulary, "gpt2", backend="native", **options)
        except bpe.VocabularyError:  # the normalizer removes an added token
            continue
        Walk(tokenizer, PIECES, random).run(12)


@pytest.mark.parametrize("name", CASES)
def test_text_models(name: str, tmp_path: Path, piece_size: int) -> None:
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file_of(**CASES[name])))
    random = seeded(f"sessions {name} {piece_size}")
    pieces = [text.encode() for text in ("a", "b", "the", " ", "  ", "▁", "fox", "é", "\n", "<s>",
                                         "<sep>", "▁▁", " the", "xyz")]  # fmt: skip
    longest = 12 if piece_size < 100 else 300
    for _ in range(max_examples(2)):
        Walk(tokenizer, random.sample(pieces, 6), random, longest).run(15)


def test_pure_python(vocabulary: bpe.Vocabulary) -> None:
    """The pure Python backend has the ids of the native one, also after given ids."""
    random = seeded("sessions in Python")
    for _ in range(max_examples(10)):
        options: dict[str, Any] = {
            "added_tokens": some_tokens(random), "add_prefix_space": random.random() < 0.5,
            "normalizer": random.choice([None, "NFC"]),
        }  # fmt: skip
        seed = random.random()
        results = []
        for backend in ("python", None):
            tokenizer = Tokenizer(vocabulary, "qwen2", backend=backend, **options)
            walk = Walk(tokenizer, LETTERS, Random(seed))
            walk.run(8)
            results.append(walk.whole.ids.tolist())
        assert results[0] == results[1]


def test_given_ids_after_a_settled_text(piece_size: int) -> None:
    """An end that is settled before given ids is not settled after a change of the text."""
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES | {256: b"  ", 257: b"    "}), "qwen2")
    for text in (b"d!", b"a b!", b"!" * 40, b"a1"):
        kept, whole = new_texts(tokenizer)
        policy = tokenizer._pipeline.policy("raise")
        kept.append(text, policy)
        whole.append(text, "raise")
        given = np.array([97], np.uint32), np.array([1], np.uint32), b"a"
        kept.extend(*given, policy)
        whole.extend(*given, "raise")
        for change in [(0, len(text), b" "), (1, 2, b" " * 9)]:
            assert outcome(kept.replace, *change, policy) == outcome(
                whole.replace, *change, "raise"
            )
            assert kept.ids.tolist() == whole.ids.tolist()


@pytest.mark.parametrize("before", [b"", b"z" * 600])
@pytest.mark.parametrize("digits", [b"1", b"11", b"111"])
def test_given_ids_are_no_context(before: bytes, digits: bytes, piece_size: int) -> None:
    """The text after given ids is split as it is without them: "1" and "234", not "123"."""
    tokenizer = bpe.train(["123 234 56 345 12 23 456"] * 9, vocab_size=264, preset="cl100k")
    kept, whole = new_texts(tokenizer)
    policy = tokenizer._pipeline.policy("raise")
    data = digits + b"z"
    given = np.frombuffer(data, np.uint8).astype(np.uint32), np.ones(len(data), np.uint32), data
    last = len(before + digits)
    texts: list[tuple[Any, Any]] = [(kept, policy), (whole, "raise")]
    for text, special in texts:
        text.append(before, special)
        text.extend(*given, special)
        text.replace(last, last + 1, b"23456789012345678" * 3, special)
    assert kept.ids.tolist() == whole.ids.tolist()


def texts_after(tokenizer: bpe.Tokenizer, *changes: tuple[Any, ...]) -> tuple[KeptText, PythonText]:
    """Return both texts after calls of KeptText; extend takes ids of single bytes."""
    texts = new_texts(tokenizer)
    for name, *arguments in changes:
        if name == "extend":
            data = arguments.pop()
            arguments = [
                np.frombuffer(data, np.uint8).astype(np.uint32),
                np.ones(len(data), np.uint32),
                data,
            ]
        for text, policy in zip(texts, (tokenizer._pipeline.policy("raise"), "raise"), strict=True):
            getattr(text, name)(*arguments, policy)
    assert texts[0].ids.tolist() == texts[1].ids.tolist()
    return texts


def test_a_mark_at_the_start_of_the_context(piece_size: int) -> None:
    """An append reads 512 bytes before it. NFC may join the first character to the one before."""
    tokenizer, start = three_letters(normalizer="NFC"), "!e\u0301ß".encode()
    for count in range(505, 515):
        texts_after(tokenizer, ("append", start + b"a" * count), ("append", b"a" * 30))


def test_a_range_outside_of_the_text(native: BackendName) -> None:
    """A thread may shorten the text before another one replaces a part of it."""
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES), "qwen2")
    policies = tokenizer._pipeline.policy("raise"), "raise"
    for text, policy in zip(texts_after(tokenizer, ("append", b"ab")), policies, strict=True):
        for start, end in ((2, 1), (1, 3)):
            with pytest.raises(ValueError, match="expected 0 <= start <= end <= size"):
                text.replace(start, end, b"", policy)


def test_given_ids_before_an_append_are_no_context(piece_size: int) -> None:
    tokenizer = bpe.train(["123 234 56 345 12 23 456"] * 9, vocab_size=264, preset="cl100k")
    for digits in (b"1", b"11", b"111"):
        texts_after(tokenizer, ("extend", b"z" * 600 + digits), ("append", b"23456789" * 30))


def test_text_before_a_given_id_is_not_settled(piece_size: int) -> None:
    """It has the place of a cut after "1" in its pieces, but is no longer that text."""
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES | {256: b"  ", 257: b"    "}), "qwen2")
    texts_after(
        tokenizer, ("append", b"x"), ("extend", b"ab"), ("append", b"z" * 40 + b"1"),
        ("append", b" y"), ("replace", 0, 2, b" "), ("replace", 1, 2, b" " * 9),
    )  # fmt: skip


def test_a_refused_token_before_a_given_id(native: BackendName) -> None:
    """The error is that of the text up to the id, although a longer token would go across it."""
    added = [AddedToken("b", 1000), AddedToken("abc", 1001)]
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES), "gpt2", added_tokens=added)
    kept, whole = texts_after(tokenizer, ("extend", b"xc"))
    found = outcome(kept.replace, 0, 1, b"ab", tokenizer._pipeline.policy("raise"))
    assert found == outcome(whole.replace, 0, 1, b"ab", "raise") == ("b", 1)


def test_given_ids_join_no_text(piece_size: int) -> None:
    """The text before them is settled, so a change of them begins with a piece of given ids."""
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES | {256: b"zb"}), "qwen2")
    changes = [("append", b"a1"), ("extend", b"bcd"), ("replace", 4, 5, b"x")]
    kept, whole = texts_after(tokenizer, *changes, ("replace", 1, 2, b"z"))
    assert [part[::2] for part in kept.parts()] == [part[::2] for part in whole.parts()]
