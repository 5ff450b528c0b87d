"""Spans through normalizers in C++ equal those of pure Python, for str and any bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import bpe
import pretok
from bpe import AddedToken, SpecialTokenError, Tokenizer
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain, PrependScheme
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.steps import (
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.types import NormalizesText, Text
from bpe.vocabulary import Vocabulary
from charsmaps import charsmap
from pretok.machine.backend import BackendName
from support import max_examples, seeded

GPT2 = pretok.get("gpt2").preset
RULES = charsmap({b"ab": "x", "é".encode(): "", "ﬁ".encode(): "fi", b"q": "é▁"})
STEPS = (
    UnicodeForm("NFC"), UnicodeForm("NFD"), UnicodeForm("NFKC"), UnicodeForm("NFKD"),
    Lowercase(), StripAccents(), Strip(),
    BertNormalizer(), BertNormalizer(True, False, None, False), ByteLevel(), Prepend("_é"),
    Precompiled(RULES), Replace("a", ""), Replace("b", "xyz"), Replace(r"\s+", " ", True),
    Replace("e", "É"), Replace(r"[^a-z ]", "?", True),
)  # fmt: skip
PIECES = [
    b"a", b"A", b"b", b" ", b"  ", b"\n", b"q", b"<e>", b"Ab", b"ab", b"Q!", b"q!", b"\xc3",
    b"\x89", b"\xa9", b"\xcc", b"\x81", b"\x80", b"\xe2", b"\x96", b"\xff", "É".encode(),
    "é".encode(), "\u0301".encode(), "ﬁ".encode(), "▁".encode(), "中".encode(), "\u00ad".encode(),
    b"\r\n", "😀".encode(),
]  # fmt: skip
ADDED = [
    AddedToken("<e>", 900),
    AddedToken("Ab", 901, False, normalized=True),
    AddedToken("é", 902, False, normalized=True, lstrip=True),
    AddedToken("Q!", 903, normalized=True),
    AddedToken("fi", 904, False, normalized=True, single_word=True, rstrip=True),
    AddedToken("▁", 905, False, normalized=True),
]
SCHEMES: tuple[PrependScheme, ...] = ("always", "first", "never")


def random_normalizer(random: Random) -> NormalizesText:
    if random.random() < 0.2:
        flag = iter(lambda: random.random() < 0.5, None)
        return SentencePieceNormalizer(
            random.choice([b"", RULES]), next(flag), next(flag), next(flag), next(flag)
        )
    metaspace = None
    if random.random() < 0.4:
        scheme = random.choice(SCHEMES)
        metaspace = MetaspaceStep("▁", scheme, random.choice((None, GPT2)))
    return NormalizerChain(tuple(random.choices(STEPS, k=random.randrange(4))), metaspace)


def result(tokenizer: Tokenizer, text: Text, **options: Any) -> object:
    """Return the ids and the spans of a text, or the error."""
    try:
        ids, starts, ends = tokenizer.token_spans(text, **options)
    except SpecialTokenError as error:
        return str(error), error.token, error.position
    assert tokenizer.encode(text, **options) == ids.tolist()
    return ids.tolist(), starts.tolist(), ends.tolist()


def test_spans(native: BackendName) -> None:
    random = seeded("normalized spans")
    vocabulary = bpe.train(["xe xe ▁a ▁x é É fi"] * 3, vocab_size=266).vocabulary
    for _ in range(max_examples(300)):
        added = random.sample(ADDED, random.randrange(len(ADDED)))
        compare(random, vocabulary, random_normalizer(random), added)


def compare(
    random: Random, vocabulary: Vocabulary, normalizer: NormalizesText, added: list[AddedToken]
) -> None:
    options: dict[str, Any] = {
        "normalizer": normalizer, "added_tokens": added, "add_prefix_space": random.random() < 0.3,
    }  # fmt: skip
    try:
        expected = Tokenizer(vocabulary, "gpt2", backend="python", **options)
    except bpe.VocabularyError:  # the normalizer removes an added token
        return
    ours = Tokenizer(vocabulary, "gpt2", backend="native", **options)
    for _ in range(6):
        data = b"".join(random.choices(PIECES, k=random.randrange(14)))
        given = {
            "special": random.choice(("raise", "text", "allow", "plain")),
            "continuation": random.random() < 0.3,
        }
        for text in (data, data.decode("utf-8", "replace")):
            found = result(ours, text, **given)
            assert found == result(expected, text, **given), (normalizer, added, text, given)
