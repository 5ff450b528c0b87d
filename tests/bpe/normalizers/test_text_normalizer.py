"""Normalizers in C++: text and alignment equal those of Python, also for hostile text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from bpe import VocabularyError
from bpe.encoding.utf8 import ESCAPE, decode_utf8
from bpe.formats.pretok_numbers import encode_number
from bpe.formats.sentencepiece import parse
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.characters import CHINESE, CONTROLS
from bpe.normalizers.graphemes import kinds
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import (
    STORED_NORMALIZERS,
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from bpe.normalizers.text_normalizer import TextNormalizer
from bpe.normalizers.unicode_forms import UnicodeForm
from bpe.types import NormalizesText
from charsmaps import charsmap
from pretok.machine.backend import backend
from sentencepiece_models import trained
from support import TIMES, TOO_MUCH, growth, max_examples, scalar_values, seeded

pytestmark = pytest.mark.skipif(backend() != "native", reason="the native backend is not built")

RULES = {"a": "", "b": "x y", "\u0301": "!", "☃": "", "é": "e\u0301", "ﬁ": "fi", "b\u0301": "B",
         "ᄀ": "1", " ": " ", "\t": " ", "c ": "  c ", "▁": " ", "dd": "▁", "\r": "rr"}  # fmt: skip
PARTS = [*"abcdABé☃ﬁᄀ▁ \t\r\n|中가😀", "  ", "dd", "c ", "b\u0301", "e\u0301\u0323", "\r\n",
         "\u0600", "\u200d", "©", "क", "\u094d", "\u0308", "\u1100\u1161\u11a8", "\uff21", "\u0130",
         "the quick", "\u0f73", "\u05c8", "\u32ff", "\U00011938"]  # fmt: skip
BYTES = [
    *(part.encode() for part in PARTS),
    b"\xff",
    b"\xe2\x96",
    b"\x96\x81",
    b"\xc3",
    b"\xf0\x9f",
]


def texts(random: Random, count: int) -> Iterator[bytes]:
    """Yield texts of PARTS, a third with invalid bytes, and texts of random characters."""
    parts = [part.encode() for part in PARTS]
    for at in range(count):
        listed = BYTES if at % 3 == 0 else parts
        characters = [chr(code).encode() for code in random.choices(codes(), k=4)]
        yield b"".join(random.choices([*listed, *characters], k=random.randrange(12)))


@cache
def codes() -> list[int]:
    """Return code points, those of characters that join clusters or have rules more often."""
    joining = np.flatnonzero(kinds()[:0x3000]).tolist()  # of a kind that is not OTHER
    return [
        *range(0x80, 0xD800, 7),
        *joining,
        *range(0xE000, 0x110000, 999),
        *range(0xF900, 0x10000),
    ]


def expected(normalizer: NormalizesText, data: bytes) -> bytes:
    return normalizer.normalize(decode_utf8(data)).encode("utf-8", ESCAPE)


def check(normalizer: NormalizesText, data: bytes) -> None:
    native = TextNormalizer(normalizer)
    assert native.normalized(data) == expected(normalizer, data), (normalizer, data)
    text = decode_utf8(data)
    normal, spans = native.align(text)
    aligned = normal, [(start, end) for start, end in spans.tolist()]
    assert aligned == normalizer.align(text), (normalizer, data)


@cache
def charsmaps() -> dict[str, bytes]:
    """Return our charsmap, none, and those of sentencepiece."""
    found = {
        "rules": charsmap({rule.encode(): replacement for rule, replacement in RULES.items()}),
        "none": b"",
    }
    try:
        import sentencepiece  # noqa: F401
    except ImportError:
        return found
    for name in ("nmt_nfkc", "nfkc_cf"):
        model = trained(["ab c"] * 3, vocab_size=40, normalization_rule_name=name)
        normalizer = parse(model).normalizer
        assert isinstance(normalizer, SentencePieceNormalizer)
        found[name] = normalizer.charsmap
    return found


@pytest.mark.parametrize("name", ["rules", "none", "nmt_nfkc", "nfkc_cf"])
def test_sentencepiece(name: str) -> None:
    if name not in charsmaps():
        pytest.skip("sentencepiece is not installed")
    random = seeded(name)
    symbols = ("<s>", "dd", "d", "é", " A", "  ", "\u0301", "中가", "the qu", "the quick")
    for prefix, trims, escapes, suffix in product([False, True], repeat=4):
        listed = tuple(random.sample(symbols, random.choice([0, 0, 3, 10])))
        normalizer = SentencePieceNormalizer(
            charsmaps()[name], prefix, trims, escapes, suffix, listed
        )
        for data in texts(random, max_examples(60)):
            check(normalizer, data)


@pytest.mark.parametrize("name", ["rules", "nmt_nfkc", "nfkc_cf"])
def test_precompiled(name: str) -> None:
    if name not in charsmaps():
        pytest.skip("sentencepiece is not installed")
    chain = NormalizerChain((Precompiled(charsmaps()[name]),))
    native = TextNormalizer(chain)
    for data in texts(seeded(name), max_examples(900)):
        assert native.normalized(data) == expected(chain, data), data


def test_charsmap_of_damaged_bytes() -> None:
    random = seeded("damage")
    blob = charsmaps()["rules"]
    for _ in range(max_examples(200)):
        damaged = bytearray(blob)
        for _ in range(random.choice([1, 1, 3])):
            damaged[random.randrange(len(blob))] ^= 1 << random.randrange(8)
        try:
            normalizer = SentencePieceNormalizer(bytes(damaged), user_defined=("dd",))
        except VocabularyError:
            continue
        chain = NormalizerChain((Precompiled(bytes(damaged)),))
        for data in texts(random, 5):
            check(normalizer, data)
            assert TextNormalizer(chain).normalized(data) == expected(chain, data)


def test_core_checks_charsmaps() -> None:
    from pretok import _core

    random = seeded("unchecked")
    blob = charsmaps()["rules"]
    for _ in range(max_examples(300)):
        size = random.choice([random.randrange(12), random.randrange(len(blob)), len(blob)])
        damaged = bytearray(blob[:size])
        for _ in range(random.randrange(30)):
            if size:
                damaged[random.randrange(size)] = random.randrange(256)
        code = STORED_NORMALIZERS.names.index("SentencePieceNormalizer")
        stored = bytes([1, code]) + encode_number(size) + damaged + b"\1\1\1\0\0\0"
        try:
            normalizer = SentencePieceNormalizer(bytes(damaged))
        except VocabularyError:
            with pytest.raises(ValueError, match="has a charsmap that"):
                _core.Normalizer(stored, [])
            continue
        for data in texts(random, 3):
            assert _core.Normalizer(stored, []).normalized(data) == expected(normalizer, data)


STEPS: tuple[TextStep, ...] = (
    *(UnicodeForm(form) for form in ("NFC", "NFD", "NFKC", "NFKD")),
    Lowercase(), StripAccents(), Nmt(), ByteLevel(), Strip(), Strip(True, False), Prepend("xé"),
    Prepend("\ud800"), Replace("ab", "é▁"), Replace("A", ""), Replace("  ", " "),
    Replace("é", "中"), Replace(r"\s+", " ", True), BertNormalizer(),
    BertNormalizer(True, True, True, False), BertNormalizer(False, True, False, True),
    BertNormalizer(True, False, None, False),
)  # fmt: skip


@cache
def every_character() -> list[str]:
    """Return scalar_values(), and the characters next to each end of the largest listed ranges."""
    edges = CHINESE.edges | CONTROLS.edges
    codes = {*scalar_values(), *edges, *(edge - 1 for edge in edges)}
    return [chr(code) for code in sorted(codes) if code >= 0 and not 0xD800 <= code < 0xE000]


@pytest.mark.parametrize("step", [step for step in STEPS if step != Prepend("\ud800")], ids=str)
def test_every_character(step: TextStep) -> None:
    """Each character between other characters, and before and after marks."""
    chain = NormalizerChain((step,))
    native = TextNormalizer(chain)
    characters = every_character()
    for at in range(0, len(characters), 0x800):
        part = characters[at : at + 0x800]
        text = "".join(part) + "\n" + "\u0301\u0323".join(part) + "\n" + "\u05b4a\u0345".join(part)
        assert native.normalized(text.encode()) == expected(chain, text.encode()), hex(at)


def test_chains() -> None:
    random = seeded("native chains")
    for _ in range(max_examples(400)):
        chain = NormalizerChain(tuple(random.choices(STEPS, k=random.choice([0, 1, 2, 3, 4]))))
        if Prepend("\ud800") in chain.steps:
            native = TextNormalizer(chain)
            assert native.normalized(b"") == b""
            continue
        for data in texts(random, 4):
            check(chain, data)


def test_strip() -> None:
    ends = ["", " ", "\x1c", "\x85", "\u3000", "\u200b", "é", "a", " \u2003\n", "\n\u00a0", "\x0b"]
    for left, right, strips in product(ends, ends, product([False, True], repeat=2)):
        for middle in ("", "a b", "é", " é a "):
            check(NormalizerChain((Strip(*strips),)), (left + middle + right).encode())


def test_bytes_that_join_are_no_character() -> None:
    """Steps see two invalid bytes, though the text between them is removed."""
    chain = NormalizerChain((Replace("A", ""), Replace("é", "中"), Lowercase()))
    check(chain, b"\xc3A\xa9")
    check(NormalizerChain((UnicodeForm("NFD"), Replace("A", ""), Replace("é", "e"))), b"\xc3A\xa9")


def test_custom_normalizer() -> None:
    class Custom:
        def normalize(self, text: str) -> str:
            return text.upper()

        def align(self, text: str) -> tuple[str, list[tuple[int, int]]]:
            return text.upper(), [(at, at + 1) for at in range(len(text))]

    check(Custom(), b"ab \xff")


def test_subclass() -> None:
    """A step of a subclass need not treat each character by itself."""

    class Reversed(Lowercase):
        def normalize(self, text: str) -> str:
            return text[::-1]

        def align(self, text: AlignedText) -> AlignedText:
            return AlignedText(text.chars[::-1], text.spans[::-1])

    check(NormalizerChain((Reversed(),)), "aBé".encode())


HOSTILE: dict[str, Callable[[int], str]] = {
    "spaces": lambda size: " " * size,
    "marks": lambda size: "a" + "\u0301\u0323" * (size // 2),
    "symbol": lambda size: "x" * size,
    "prepended": lambda size: "\u0600" * size,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_long_texts_take_linear_time(name: str) -> None:
    make = HOSTILE[name]
    data = {size: make(size).encode() for size in (2000, 2000 * TIMES)}
    symbols = ("x" * 255 + "y",)
    for normalizer in (
        SentencePieceNormalizer(charsmaps()["rules"], user_defined=symbols),
        NormalizerChain((Precompiled(charsmaps()["rules"]),)),
        NormalizerChain((BertNormalizer(),)),
    ):
        normalized = TextNormalizer(normalizer).normalized
        assert growth(lambda size, work=normalized: work(data[size]), 2000) < TOO_MUCH  # type: ignore[misc]
