"""NFC as in Hugging Face's tokenizers: every code point, and marks in any order."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe import Tokenizer, Vocabulary
from bpe.normalizers.chain import NFC
from bpe.normalizers.unicode_forms import UnicodeForm, is_normal
from pretok.machine.backend import BackendName
from support import TIMES, TOO_MUCH, growth, max_examples, seeded
from vocabularies import BYTES

PLAIN = Vocabulary(BYTES, [])
normalize = UnicodeForm("NFC").normalize
# Letters that compose, marks of several combining classes, characters that NFC decomposes, parts of
# Hangul syllables, characters newer than Unicode 9 (the NFC of tokenizers is that of Unicode 9, so
# it keeps them), marks that have a combining class of their own, and the code points beside the
# surrogates.
PARTS = (
    "aeoAKq\u00e9\u00e5\u212b\u212a\u1e9b\u0323\u0301\u0302\u0307\u0308\u031b\u0327\u0338\u0345"
    "\u0344\u0340\u0958\u0915\u093c\u09c7\u09be\u0b47\u0b56\u0dd9\u0dca\u0dcf\u1025\u102e"
    "\u1100\u1161\u11a7\u11a8\u11c2\uac00\uac01\ud55c\u1112\u3099\u304b\u304c\uff76\uff9e"
    "\u0f71\u0f72\u0f73\u0f74\uf900\ufb1d\ufb2a\u2126\u2adc\u1df6\u08d3\u1ab0\u1abf\u20d0\u05b0\u0591\u064b\u0653\u0627"
    "\U00011099\U000110ba\U00011131\U00011127\U0001d15e\U0001d157\U0001d165\U00011938\U00011930"
    "\U00011935\U000113c2\U0001e6e3\U00016d67\U0001e08f\U000e0100 \n1\ud7ff\ue000\U0001f600"
)
texts = st.text(PARTS, max_size=12) | st.text(max_size=8)


@cache
def engine() -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    return tokenizers.normalizers.NFC()


@given(texts)
@example("\u1100\u1161\u11a8\u11a8")
@example("a\u1df6\u0301\u0323")
@settings(max_examples=max_examples(2000))
def test_equals_hugging_face(text: str) -> None:
    normal = engine().normalize_str(text)
    assert normalize(text) == normal
    # If is_normal is true, the text is in NFC. It may also be false for text in NFC.
    assert is_normal(text) <= (normal == text)


CONTEXTS = ("{}", "a{}", "{}\u0301", "e\u0323{}\u0302", "a{}\u0323", "\u1100{}\u11a8",
            "\u1100\u1161{}", "\u0301{}\u0323", "{0}{0}", "\u304b{}\u3099",
            "\u0627{}\u0653")  # fmt: skip


@pytest.mark.parametrize("context", CONTEXTS, ids=ascii)
def test_every_code_point_equals_hugging_face(context: str) -> None:
    # NFC changes no code point outside these ranges, so a sample of them is enough.
    codes = [*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20),
             *range(0x30000, 0x110000, 97), *range(0xE0000, 0xE0200)]  # fmt: skip
    lines = [context.format(chr(code)) for code in codes if code != 0x0A]
    text = "\n".join(lines)
    wanted = engine().normalize_str(text).split("\n")
    assert len(wanted) == len(lines)
    if normalize(text).split("\n") != wanted:
        pairs = zip(lines, wanted, strict=True)
        wrong = [(line, normal) for line, normal in pairs if normalize(line) != normal]
        assert not wrong[:20], f"{len(wrong)} of {len(lines)} lines: (line, expected)"


@pytest.mark.parametrize("seed", range(3))
def test_many_random_texts(seed: int) -> None:
    rng = seeded(seed)
    lines = ["".join(rng.choices(PARTS.replace("\n", ""), k=9)) for _ in range(20_000)]
    assert normalize("\n".join(lines)) == engine().normalize_str("\n".join(lines))
    for line in lines[:1000]:
        assert normalize(line) == engine().normalize_str(line)


@given(texts)
@settings(max_examples=max_examples(300))
def test_a_tokenizer_normalizes(backend: BackendName, text: str) -> None:
    tok = Tokenizer(PLAIN, "gpt2", normalizer="NFC", backend=backend)
    normal = list(normalize(text).encode())
    assert tok.encode(text) == tok.encode(text.encode()) == normal
    assert tok.encode_array(text).tolist() == normal
    assert tok.count(text) == len(normal)
    assert tok.encode_batch([text, "x", text]) == [normal, [120], normal]
    ids, offsets = tok.encode_batch_array(["x", text])
    assert (ids.tolist(), offsets.tolist()) == ([120, *normal], [0, 1, 1 + len(normal)])
    found = tok.tokens(text)
    assert [token.id for token in found] == normal
    assert b"".join(token.bytes for token in found) == normalize(text).encode()
    assert tok.decode(tok.encode(text)) == normalize(text)
    spans = NFC.align(text)[1]
    chars = [span for char, span in zip(normalize(text), spans, strict=True) for _ in char.encode()]
    assert [(token.start, token.end) for token in found] == chars
    data = text.encode()
    for token, of_bytes in zip(found, tok.tokens(data), strict=True):
        assert data[of_bytes.start : of_bytes.end] in text[token.start : token.end].encode()


def test_pairs_of_surrogates_are_joined_first(backend: BackendName) -> None:
    tok = Tokenizer(PLAIN, "gpt2", normalizer="NFC", backend=backend)
    joined = "\U00011099\U000110ba"
    pairs = "".join(
        chr(unit) for char in joined
        for unit in (0xD800 + (ord(char) - 0x10000 >> 10), 0xDC00 + (ord(char) & 0x3FF))
    )  # fmt: skip
    assert normalize(joined) == "\U0001109a"
    assert tok.encode(joined) == list("\U0001109a".encode())
    assert tok.encode(pairs) == tok.encode(joined)
    assert tok.count(pairs) == 4
    assert tok.encode_batch([pairs]) == [tok.encode(joined)]
    assert {(token.start, token.end) for token in tok.tokens(pairs)} == {(0, 2)}
    assert tok.encode(f"e\u0301{pairs}") == tok.encode(f"\u00e9{joined}")


def test_lone_surrogates_and_invalid_utf8(backend: BackendName) -> None:
    tok = Tokenizer(PLAIN, "gpt2", normalizer="NFC", backend=backend)
    assert tok.encode("e\u0301\ud800") == list("\u00e9\ufffd".encode())
    assert tok.encode("e\u0301\udcff", errors="surrogateescape") == [*"\u00e9".encode(), 0xFF]
    assert tok.encode("e\u0301\xff".encode()[:-1]) == [*"\u00e9".encode(), 0xC3]
    assert tok.encode(b"\xffe\xcc\x81\xcc") == [0xFF, *"\u00e9".encode(), 0xCC]
    with pytest.raises(UnicodeEncodeError):
        tok.encode("e\u0301\ud800", errors="strict")
    found = tok.tokens(b"\xffe\xcc\x81\xcc")
    assert [(token.start, token.end) for token in found] == [(0, 1), (1, 2), (1, 2), (4, 5)]


@pytest.mark.parametrize(
    "unit",
    ["\u0301", "e\u0301", "\u1100\u1161\u11a8", "\u0301\u0323", "\u00e9", "\u1df6", "a", "\u0344"],
    ids=ascii,
)
def test_normalizing_takes_linear_time(backend: BackendName, unit: str) -> None:
    tok = Tokenizer(PLAIN, "gpt2", normalizer="NFC", backend=backend)
    texts = {size: (unit * size)[:size] for size in (60_000 // TIMES, 60_000 // TIMES * TIMES)}
    assert growth(lambda size: normalize(texts[size]), 60_000 // TIMES) < TOO_MUCH
    assert growth(lambda size: tok.token_spans(texts[size]), 60_000 // TIMES) < TOO_MUCH
    assert growth(lambda size: tok.count(texts[size]), 60_000 // TIMES) < TOO_MUCH
