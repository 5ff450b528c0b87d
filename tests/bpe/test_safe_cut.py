"""Tokenizer._safe_cut: the ids of both parts are those of the text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest

import bpe
from pretok.machine.backend import BackendName
from small_vocabularies import PARTS, random_tokenizer, three_letters
from support import max_examples, seeded, strings
from text_models import (
    ADDED,
    CASES,
    FALLBACK,
    LLAMA,
    MARKS,
    SENTENCES,
    WORDS,
    file_of,
    metaspace,
)
from vocabularies import BYTES
from vocabulary_files import write

PLAIN = " ".join(SENTENCES).replace("▁", " ")
TEXTS = [
    PLAIN * 4,
    PLAIN * 4 + " ",
    "the fox " * 90,
    f"{PLAIN}▁the fox",
    f"{PLAIN}<sep> the{PLAIN * 3}",
    "a " * 200 + "<s>" + " the" * 9,
]


SCHEMES: dict[str, dict[str, Any]] = {
    "always": {"normalizer": LLAMA},
    "always, but not before a space": {"pre_tokenizer": metaspace("always", split=False)},
    "first": {"pre_tokenizer": metaspace("first", split=False)},
    "never": {"normalizer": MARKS},
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_prefix_comes_once(scheme: str, tmp_path: Path, native: BackendName) -> None:
    file = file_of(**FALLBACK, **SCHEMES[scheme], **WORDS, added_tokens=ADDED[:1])
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file), backend=native)
    assert tokenizer._safe_cut(b"ab cd " * 40) > 200
    for text in ("ab cd " * 40, "ab  cd ab" * 30, "ab cd" + "é" * 9):
        data = text.encode()
        assert ids_of_parts(tokenizer, data, 40) == tokenizer.encode(data)


def ids_of_parts(
    tokenizer: bpe.Tokenizer, data: bytes, size: int, special: bpe.Special = "raise"
) -> list[int]:
    """Return the ids of `data`, in parts for which `size` bytes more are read."""
    parts = []
    held, start = b"", 0
    for at in range(0, len(data), size):
        held += data[at : at + size]
        cut = tokenizer._safe_cut(held, special)
        parts.append(tokenizer._encode_part(held[:cut], special, is_first=start == 0))
        held, start = held[cut:], start + cut
    parts.append(tokenizer._encode_part(held, special, is_first=start == 0))
    return [int(id) for part in parts for id in part]


@pytest.mark.parametrize("name", CASES)
def test_both_parts_have_the_ids_of_the_text(
    name: str, tmp_path: Path, backend: BackendName
) -> None:
    path = write(tmp_path / "tokenizer.json", file_of(**CASES[name]))
    # The native backend cannot merge the tokens of all files; None then selects Python.
    tokenizer = bpe.load(path, backend="python" if backend == "python" else None)
    for text in TEXTS:
        data = text.encode()
        expected = tokenizer.encode(data, "allow")
        for end in (len(data), len(data) - 7, len(data) // 2):
            # safe_cut sees only the text up to `end`, but its cut is also safe in the whole text.
            cut = tokenizer._safe_cut(data[:end], "allow")
            left = tokenizer._encode_part(data[:cut], "allow", is_first=True).tolist()
            right = tokenizer._encode_part(data[cut:], "allow", is_first=cut == 0).tolist()
            assert left + right == expected, (text, end, cut)
        for size in (7, 64, 300):
            ids = ids_of_parts(tokenizer, data, size, "allow")
            assert ids == expected, (text, size)


def check_all_cuts(tokenizer: bpe.Tokenizer, letters: Sequence[str]) -> int:
    """Check the cuts of all short texts, with all short texts after them.

    Return how many cuts are within a pre-token.
    """
    within = 0
    encode = tokenizer._encode_part
    pre_tokenizer: Any = tokenizer.pre_tokenizer
    split = pre_tokenizer.split_bytes
    rests = [rest.encode() for size in range(3) for rest in strings(letters, size, 16)]
    for text in chain.from_iterable(strings(letters, size, 64) for size in range(1, 7)):
        data = text.encode()
        cut = tokenizer._safe_cut(data, "allow")
        if not cut:
            continue
        left = encode(data[:cut], "allow", is_first=True).tolist()
        for rest in rests:
            right = encode(data[cut:] + rest, "allow", is_first=False).tolist()
            whole = encode(data + rest, "allow", is_first=True).tolist()
            assert left + right == whole, (data, cut, rest)
        within += split(data) != split(data[:cut]) + split(data[cut:])
    return within


# In these presets a pre-token may have joints: runs of any characters, letters or signs.
JOINTS = ["gemma4", "gpt2", "falcon", "deepseek-v3", "laguna", "qwen2", "tiny-aya", "o200k"]


@pytest.mark.parametrize("name", JOINTS)
def test_cuts_within_pre_tokens(name: str, native: BackendName) -> None:
    random = seeded(f"cuts in {name}")
    within = 0
    for _ in range(max_examples(12)):
        tokenizer = random_tokenizer(random, name, native, add_prefix_space=random.random() < 0.2)
        within += check_all_cuts(tokenizer, random.sample(PARTS, 3))
    assert within or name not in JOINTS[:4]


def test_cuts_beside_white_space_of_tokens(native: BackendName) -> None:
    vocabulary = bpe.Vocabulary(BYTES)
    for flag in ("lstrip", "rstrip"):
        added = bpe.AddedToken("<e>", 256, **{flag: True})
        tokenizer = bpe.Tokenizer(vocabulary, "gemma4", added_tokens=[added], backend=native)
        assert check_all_cuts(tokenizer, [" ", "b", "<e>"])


def test_a_whole_pre_token_may_be_a_token(native: BackendName) -> None:
    tokenizer = bpe.Tokenizer(bpe.Vocabulary(BYTES | {256: b"abab"}), "gemma4", backend=native)
    assert tokenizer.encode("abab") == [256]  # no merge makes it
    assert tokenizer.encode("ababa") == [*b"ababa"]
    check_all_cuts(tokenizer, ["a", "b"])


def test_cuts_within_words_of_a_text_without_a_split(tmp_path: Path, native: BackendName) -> None:
    file = file_of(**FALLBACK, **SCHEMES["never"], **WORDS, added_tokens=ADDED[:1])
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file), backend=native)
    assert check_all_cuts(tokenizer, ["a", "cd", "d"])


@pytest.mark.parametrize("name", CASES)
def test_cuts_within_pre_tokens_of_texts(name: str, tmp_path: Path, native: BackendName) -> None:
    tokenizer = bpe.load(write(tmp_path / "tokenizer.json", file_of(**CASES[name])))
    within = 0
    for letters in (["a", "a ", "▁"], ["日", "b", " "], ["é", "lo", "<sep>"], ["f", "o", "1"]):
        within += check_all_cuts(tokenizer, letters)
    assert within or name not in ("llama", "mistral")


NFC_LETTERS = ["a", "e", "\u0301", "\u0323", "é", "\u1100", "\u1161", " ", "\n", "1", "<e>", "<"]
FLAGS: list[dict[str, bool]] = [{}, {"lstrip": True}, {"rstrip": True}, {"normalized": True}]


@pytest.mark.parametrize("normalizer", [None, "NFC"])
def test_cuts_in_longer_texts(normalizer: Literal["NFC"] | None, native: BackendName) -> None:
    """The search begins with the last 32 bytes, so it reads no more of these texts."""
    random = seeded(f"longer texts {normalizer}")
    vocabulary = bpe.train(["é e\u0301 ea a1 가 \n\n <e> aé  e"] * 3, vocab_size=275).vocabulary
    cuts = 0
    for _ in range(20 * max_examples(12)):
        added = [
            bpe.AddedToken("<e>", 900, special=False, **random.choice(FLAGS)),
            bpe.AddedToken("a" * 30, 901, special=False, **random.choice(FLAGS)),
            bpe.AddedToken("e\u0301 1", 902, special=False),
        ]  # fmt: skip
        tokenizer = bpe.Tokenizer(
            vocabulary, random.choice(JOINTS), added_tokens=random.sample(added, 2),
            normalizer=normalizer, backend=native,
        )  # fmt: skip
        letters = random.sample(NFC_LETTERS, 3)
        for _ in range(40):
            text = "".join(random.choices(letters, k=random.randrange(20, 60))).encode()
            data = text[: len(text) - random.randrange(3)]
            cut = tokenizer._safe_cut(data, "allow")
            cuts += cut > 0
            for rest in (b"", b"a", "\u0301".encode(), b" 1", b"<e>", data):
                left = tokenizer._encode_part(data[:cut], "allow", is_first=True).tolist()
                right = tokenizer._encode_part(data[cut:] + rest, "allow", is_first=cut == 0)
                whole = tokenizer.encode(data + rest, "allow")
                assert left + right.tolist() == whole, (data, cut, rest)
    assert cuts > 100


@pytest.mark.parametrize("normalizer", [None, "NFC"])
@pytest.mark.parametrize("normalized", [False, True])
def test_a_search_that_begins_within_a_character_or_a_token(
    normalizer: Literal["NFC"] | None, normalized: bool, native: BackendName
) -> None:
    """A part of "é" or of a token looks like the end of a pre-token, but is none.

    The search begins with the last 32 bytes, so it begins at each byte of the start of the text.
    """
    token = bpe.AddedToken("z!a", 900, special=False, normalized=normalized)
    tokenizer = three_letters(normalizer=normalizer, added_tokens=[token], backend=native)
    for start in ("!e\u0301ß", "!ê\u0301ß", "!z!a"):
        for count in range(20, 50):
            data = start.encode() + b"a" * count
            cut = tokenizer._safe_cut(data, "allow")
            left = tokenizer._encode_part(data[:cut], "allow", is_first=True).tolist()
            right = tokenizer._encode_part(data[cut:], "allow", is_first=False).tolist()
            assert left + right == tokenizer.encode(data, "allow"), (data, cut)


def test_no_cut_within_marks_that_nfc_reorders(native: BackendName) -> None:
    vocabulary = bpe.Vocabulary(BYTES | {256: b"aq"})
    tokenizer = bpe.Tokenizer(vocabulary, "gpt2", normalizer="NFC", backend=native)
    check_all_cuts(tokenizer, ["1aq", "\u0301\u0323", "!"])


def test_no_cut_before_the_start_of_a_token(native: BackendName) -> None:
    """A `single_word` token looks at the character before it."""
    token = bpe.AddedToken("12", 900, special=False, single_word=True)
    tokenizer = three_letters(added_tokens=[token], backend=native)
    check_all_cuts(tokenizer, ["!abc", "1", "2"])


def test_white_space_after_a_token_may_be_a_part_of_it(native: BackendName) -> None:
    """Three letters may begin with a space, but not with one that the token takes."""
    token = bpe.AddedToken("<e>", 900, special=False, rstrip=True)
    tokenizer = three_letters(added_tokens=[token], backend=native)
    check_all_cuts(tokenizer, ["<e>\n ", "aa", "a"])
