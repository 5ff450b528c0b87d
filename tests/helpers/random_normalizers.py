"""Random normalizers, added tokens and texts for tests of normalized text."""

from __future__ import annotations

from random import Random

import pretok
from bpe import AddedToken
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
from bpe.types import NormalizesText
from charsmaps import charsmap

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
