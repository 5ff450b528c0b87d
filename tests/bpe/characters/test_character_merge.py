"""C++ merges characters like Python: ids, spans and batches of random vocabularies and texts."""

from __future__ import annotations

from random import Random

import pytest

from bpe import Tokenizer
from bpe.byte_level import to_text
from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.vocabulary import Merge
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.preset import Preset
from support import max_examples, seeded

LETTERS = ["a", "b", "c", "é", "中", "😀", "▁", "Ġ", " "]
"""The characters that may be tokens; a text also has others, white space and invalid bytes."""
SPLITS: list[str | Preset] = [WHOLE, "gpt2", "whitespace", "clip", "bloom", "deepseek-llm"]


def random_vocabulary(random: Random) -> TextVocabulary:
    """Return tokens for some characters at some places, and merges of any three tokens."""
    byte_level = random.random() < 0.3
    prefix = random.choice(["", "", "##", "a"])
    suffix = random.choice(["", "", "</w>", "b"])
    letters = random.sample(LETTERS, random.randrange(1, len(LETTERS) + 1))
    if byte_level:
        letters = [to_text(bytes([byte])) for letter in letters for byte in letter.encode()]
    names = {
        f"{random.choice(['', prefix])}{letter}{random.choice(['', suffix])}"
        for letter in letters
        for _ in range(3)
    }
    names |= {"".join(random.choices(letters, k=random.randrange(2, 5))) for _ in range(12)}
    fallback: list[str] = []
    if not (byte_level or prefix or suffix) and random.random() < 0.5:
        fallback = random.sample(BYTE_NAMES, random.choice([100, 255, 256]))
    texts = dict(enumerate(["<unk>", *sorted(names), *fallback]))
    ids = list(texts)
    merges: list[Merge] = [
        (random.choice(ids), random.choice(ids), random.choice(ids)) for _ in range(40)
    ]
    options = TextOptions(
        unknown=random.choice([None, "<unk>", "<unk>"]),
        fuses_unknown=random.random() < 0.5,
        has_fallback=bool(fallback),
        prefix=prefix,
        suffix=suffix,
        ignores_merges=random.random() < 0.3,
        byte_level=byte_level,
    )
    return TextVocabulary(texts, merges, options, random.sample(ids, 2))


def random_scores(random: Random) -> CharacterVocabulary:
    """Return pieces with distinct scores, without fallback tokens."""
    letters = random.sample(LETTERS, random.randrange(1, len(LETTERS) + 1))
    words = {"".join(random.choices(letters, k=random.randrange(2, 6))) for _ in range(15)}
    pieces = sorted({*letters, *words})
    tokens = {0: b"<unk>"} | {id: piece.encode() for id, piece in enumerate(pieces, 1)}
    order = random.sample(range(len(pieces)), len(pieces))
    return CharacterVocabulary(tokens, dict(enumerate(map(float, order), 1)), 0)


def random_text(random: Random, is_long: bool = False) -> bytes:
    parts = [*(letter.encode() for letter in LETTERS), b"d", b"\xff", b"\xe4\xb8", b"1", b"\n"]
    few = random.sample(parts, random.randrange(1, len(parts)))
    size = random.choice([300, 3000] if is_long else [1, 5, 20, 60])
    run = random.choice(few) * random.choice([0, 2000] if is_long else [0, 0, 70])
    return b"".join(random.choices(few, k=random.randrange(size + 1))) + run


def compare(random: Random, python: Tokenizer, native: Tokenizer) -> None:
    assert (python.backend, native.backend) == ("python", "native")
    texts: list[str | bytes] = [b"", b" ", b"d", *(random_text(random) for _ in range(7))]
    texts.insert(3, random_text(random, is_long=True))
    texts += [
        bytes(text).decode(errors="replace") for text in texts[3:6] if isinstance(text, bytes)
    ]
    expected = [python.encode(text) for text in texts]
    assert [native.encode(text) for text in texts] == expected
    assert [native.encode_array(text).tolist() for text in texts] == expected  # from the cache
    assert native.encode_batch(texts) == expected
    assert [native.count(text) for text in texts] == [len(ids) for ids in expected]
    for text in texts:
        assert native.tokens(text) == python.tokens(text)
    many = [text for text in texts for _ in range(30)]
    assert native.encode_batch(many, threads=4) == [ids for ids in expected for _ in range(30)]


@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_listed_merges(native: BackendName, split: str | Preset) -> None:
    random = seeded(f"listed {split}")
    for _ in range(max_examples(40)):
        vocabulary = random_vocabulary(random)
        prefixed = random.random() < 0.3
        compare(
            random,
            Tokenizer(vocabulary, split, backend="python", add_prefix_space=prefixed),
            Tokenizer(vocabulary, split, backend=native, add_prefix_space=prefixed),
        )


@pytest.mark.parametrize("split", [WHOLE, "gpt2"], ids=str)
def test_scores_without_fallback_tokens(native: BackendName, split: str | Preset) -> None:
    random = seeded(f"scores {split}")
    for _ in range(max_examples(40)):
        vocabulary = random_scores(random)
        normalizer = random.choice(
            [None, SentencePieceNormalizer(b"", True, False), SentencePieceNormalizer(b"")]
        )
        compare(
            random,
            Tokenizer(vocabulary, split, backend="python", normalizer=normalizer),
            Tokenizer(vocabulary, split, backend=native, normalizer=normalizer),
        )


def test_a_long_text_of_one_character(native: BackendName) -> None:
    texts = {0: "a", 1: "aa", 2: "aaaa", 3: "b"}
    vocabulary = TextVocabulary(texts, [(0, 0, 1), (1, 1, 2)], TextOptions(prefix="", suffix=""))
    tokenizer = Tokenizer(vocabulary, WHOLE, backend=native)
    assert tokenizer.encode("a" * 4_000_002) == [2] * 1_000_000 + [1]
    assert tokenizer.encode("b" + "a" * 4_000_003) == [3] + [2] * 1_000_000 + [1, 0]
