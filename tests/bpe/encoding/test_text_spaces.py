"""Vocabularies with "▁" for spaces, and with fallback tokens: C++ equals pure Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import AddedToken, Tokenizer
from bpe.characters.marks import BYTE_NAMES
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.characters.vocabulary import CharacterVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import Fuse, SentencePieceDecoding
from bpe.encoding.text_spaces import only_writes_marks
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import Lowercase, Prepend, Replace
from byte_tokenizer import PLAIN
from concurrency import everything, tasks_of
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizers import Metaspace
from pretok.preset import Preset
from pretok.rules import Literal
from pretok.stage import Stage
from support import max_examples

CHARACTERS = "▁ abcé中国😀🙂\n<\u0301"
PARTS = [
    *CHARACTERS,
    "  ",
    "▁▁",
    " a",
    "ab",
    "中国",
    "<x>",
    "<x> ",
    " <xx>",
    "abc" * 30,
    "ď",
    "丮",
    "国丮é" * 12,
]
BYTES = [*(part.encode() for part in PARTS), b"\xff", b"\xe2\x96", b"\x96\x81", b"\xf0\x9f\x98"]
SPLIT = Preset("marks", stages=Metaspace("▁", "never").stages())
GEMMA = Preset("gemma", stages=(Stage((Literal(" "),), behavior="merged_with_previous"),))
MARKS = Replace(" ", "▁")
LLAMA = NormalizerChain((Prepend("▁"), MARKS))
NORMALIZERS: list[Any] = [
    LLAMA,
    NormalizerChain((MARKS, Prepend("▁"))),
    NormalizerChain((Prepend(" "), MARKS)),
    NormalizerChain((MARKS,)),
    NormalizerChain((Prepend("a"), MARKS)),
    NormalizerChain((Lowercase(), MARKS)),
    *(NormalizerChain((), MetaspaceStep("▁", each)) for each in ("always", "first", "never")),
    *(SentencePieceNormalizer(b"", each, False) for each in (True, False)),
    SentencePieceNormalizer(),
    "NFC",
    None,
]

some_text = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)
some_bytes = st.lists(st.sampled_from(BYTES), max_size=40).map(b"".join)
some_added = st.lists(
    st.builds(
        AddedToken,
        content=st.sampled_from(["<x>", "<xx>", "ab", " a", "▁", "中", "▁<"]),
        id=st.just(0),
        special=st.booleans(),
        normalized=st.sampled_from([False, False, True]),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda token: token.content,
)


def text_vocabulary(random: Random) -> TextVocabulary:
    """Return random tokens and merges; some characters have no token."""
    texts = dict(enumerate([*BYTE_NAMES, "<unk>"]))
    chars = ["▁", *random.sample(CHARACTERS[1:], random.randrange(3, len(CHARACTERS) - 1))]
    ids = {char: len(texts) + at for at, char in enumerate(chars)}
    merges: dict[tuple[int, int], int] = {}
    for _ in range(random.randrange(30)):
        left, right = random.choices(list(ids), k=2)
        if len(left + right) < 9:
            id = ids.setdefault(left + right, len(texts) + len(ids))
            merges.setdefault((ids[left], ids[right]), id)
    texts |= {id: text for text, id in ids.items()}
    listed = [(*pair, id) for pair, id in merges.items()]
    return TextVocabulary(texts, listed, TextOptions("<unk>", True, True))


def character_vocabulary(random: Random) -> CharacterVocabulary:
    """Return random pieces with different scores."""
    pieces = {"▁"} | {
        "".join(random.choices(CHARACTERS, k=random.randrange(1, 5))) for _ in range(25)
    }
    tokens = {id: bytes([id]) for id in range(256)} | {256: b"<unk>"}
    tokens |= {257 + at: piece.encode() for at, piece in enumerate(sorted(pieces))}
    scores = random.sample(range(1000), len(pieces))
    ranked = {257 + at: -float(score) for at, score in enumerate(scores)}
    return CharacterVocabulary(tokens, ranked, 256, range(256))


@given(
    make=st.sampled_from([text_vocabulary, character_vocabulary]),
    random=st.randoms(use_true_random=False),
    normalizer=st.sampled_from(NORMALIZERS),
    preset=st.sampled_from([WHOLE, WHOLE, SPLIT, GEMMA]),
    added=some_added,
    texts=st.lists(some_text | some_bytes, max_size=3),
    special=st.sampled_from(["raise", "text", "allow", "plain"]),
    size=st.integers(1, 100),
)
@settings(max_examples=max_examples(300))
def test_native_equals_python(
    native: BackendName,
    make: Callable[[Random], CharacterVocabulary],
    random: Random,
    normalizer: Any,
    preset: Preset,
    added: list[AddedToken],
    texts: list[str | bytes],
    special: str,
    size: int,
) -> None:
    vocabulary = make(random)
    is_text = isinstance(vocabulary, TextVocabulary)
    added = [replace(token, id=1000 + at) for at, token in enumerate(added)]
    both = [
        Tokenizer(
            vocabulary,
            preset if is_text else WHOLE,
            added_tokens=added,
            normalizer=normalizer,
            decoder=DecoderChain((Fuse(),)) if is_text else SentencePieceDecoding(),
            backend=backend,
        )
        for backend in ("python", native)
    ]
    expected = everything(both[0], texts, special, None)
    assert everything(both[1], texts, special, 1) == expected
    with tasks_of(size):
        assert everything(both[1], texts, special, 3) == expected
    for text in texts:
        part = text.encode("utf-8", "replace") if isinstance(text, str) else text
        assert both[1].merge(part) == both[0].merge(part)


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        (LLAMA, True),
        (NormalizerChain((MARKS,)), True),
        (NormalizerChain((Prepend("▁"),)), False),
        (NormalizerChain((Replace(" ", "_"), Prepend("▁"))), False),
        (NormalizerChain((Lowercase(), *LLAMA.steps)), False),
        (NormalizerChain((), MetaspaceStep("_")), False),
        (NormalizerChain((MARKS,), MetaspaceStep()), False),
        (SentencePieceNormalizer(), False),
    ],
)
def test_normalizers_that_only_write_marks(normalizer: Any, expected: bool) -> None:
    assert only_writes_marks(normalizer, ()) == expected
    plain, spaced = (AddedToken(text, 1, normalized=True) for text in ("ab", "a b"))
    assert only_writes_marks(normalizer, [plain]) == (expected and normalizer != LLAMA)
    assert not only_writes_marks(normalizer, [plain, spaced])


def test_byte_level_vocabularies_with_a_normalizer_of_python(native: BackendName) -> None:
    """The core lacks the normalizer Lowercase, so Python normalizes before the core encodes."""
    lower = NormalizerChain((Lowercase(),))
    tokenizer = Tokenizer(PLAIN, "gpt2", normalizer=lower, backend=native)
    assert tokenizer.encode("AB") == list(b"ab")
    assert tokenizer.encode_array("AB").tolist() == list(b"ab")
    assert tokenizer.encode_batch(["AB", "b"]) == [list(b"ab"), list(b"b")]
    assert tokenizer.count("AB") == 2
