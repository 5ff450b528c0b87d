"""Normalizers: text and alignment equal those of Hugging Face's tokenizers."""

from __future__ import annotations

import unicodedata
from random import Random
from typing import Any

import pytest

import bpe
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.step import TextStep
from bpe.normalizers.steps import (
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from bpe.normalizers.unicode_forms import UnicodeForm
from pretok.machine.backend import BackendName
from pretok.machine.backend import backend as best_backend
from support import seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
hf = tokenizers.normalizers

STEPS: dict[str, tuple[TextStep, Any]] = {
    "NFC": (UnicodeForm("NFC"), hf.NFC()),
    "NFD": (UnicodeForm("NFD"), hf.NFD()),
    "NFKC": (UnicodeForm("NFKC"), hf.NFKC()),
    "NFKD": (UnicodeForm("NFKD"), hf.NFKD()),
    "Lowercase": (Lowercase(), hf.Lowercase()),
    "StripAccents": (StripAccents(), hf.StripAccents()),
    "Nmt": (Nmt(), hf.Nmt()),
    "ByteLevel": (ByteLevel(), hf.ByteLevel()),
    "Strip": (Strip(), hf.Strip()),
    "Strip left": (Strip(True, False), hf.Strip(True, False)),
    "Strip right": (Strip(False, True), hf.Strip(False, True)),
    "Prepend": (Prepend("xé"), hf.Prepend("xé")),
    "Replace": (Replace("ab", "é▁"), hf.Replace("ab", "é▁")),
    "Remove": (Replace("e", ""), hf.Replace("e", "")),
    "spaces": (Replace(r"\s+", " ", True), hf.Replace(tokenizers.Regex(r"\s+"), " ")),
    "each space": (Replace(r"\s", "xy", True), hf.Replace(tokenizers.Regex(r"\s"), "xy")),
    "some spaces": (Replace(r" {2,}", "▁", True), hf.Replace(tokenizers.Regex(r" {2,}"), "▁")),
    **{
        f"Bert {clean} {chinese} {accents} {lower}": (
            BertNormalizer(clean, chinese, accents, lower),
            hf.BertNormalizer(clean, chinese, accents, lower),
        )
        for clean, chinese, accents, lower in (
            (True, True, None, True),
            (True, False, False, False),
            (False, True, None, False),
            (False, False, True, False),
            (True, True, True, False),
        )
    },
}
LETTERS = [*"aeb \t\n\u00a0A\u0130ßﬁ", "ab", "  ", "e\u0301\u0323", "é", "\u1ec7", "가",
           "\u1100\u1161", "\u11a8", "\u3300", "中", "▁", "\u0345", "\u0344", "\u1d15e",
           "\u0f73", "\u05c8", "\u32ff", "\u200b", "\ufffd",
           "\U00010d50", "\U00011938", "😀"]  # fmt: skip


def every_character() -> list[str]:
    """Return every code point that is not a surrogate."""
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@pytest.mark.parametrize(
    "name",
    ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", next(reversed(STEPS))],
)
def test_every_character(name: str) -> None:
    step, engine = STEPS[name]
    text = ("|".join(every_character())).split("|" + chr(0x30000) + "|")[0]
    # The engine normalizes all characters up to U+2FFFF in one call. No step changes the separator
    # "|" or joins it with a character.
    assert step.normalize(text) == engine.normalize_str(text)


MARKS = [char for char in map(chr, range(0x300, 0x1F000)) if unicodedata.combining(char)]


def made_up(random: Random) -> str:
    """Return a short random text of LETTERS and MARKS."""
    parts = [*LETTERS, *LETTERS, *random.sample(MARKS, 40)]
    return "".join(random.choice(parts) for _ in range(random.randrange(1, 12)))


def test_chains() -> None:
    """Text and alignment of chains. A BPE of single characters returns the alignment as offsets."""
    random = seeded("chains")
    for _ in range(600):
        names = random.choices(list(STEPS), k=random.choice([1, 1, 2, 3]))
        text = made_up(random)
        aligned = AlignedText.of(text)
        normal = text
        for name in names:
            step, _ = STEPS[name]
            aligned, normal = step.align(aligned), step.normalize(normal)
        chain = hf.Sequence([STEPS[name][1] for name in names])
        expected = chain.normalize_str(text)
        assert normal == aligned.text == expected, (names, text)
        if expected:
            vocab = {char: id for id, char in enumerate(sorted(set(expected)))}
            tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
            tokenizer.normalizer = chain
            assert tokenizer.encode(text).offsets == aligned.spans, (names, text)


def test_invalid_bytes_stay() -> None:
    for step, _ in STEPS.values():
        assert "\udcff" in step.normalize("a\udcffé") or isinstance(step, ByteLevel)
        assert step.align(AlignedText.of("a\udcffé")).text == step.normalize("a\udcffé")


@pytest.mark.parametrize("backend", ["python", "native"])
def test_no_call_skips_a_normalizer(backend: BackendName) -> None:
    if backend == "native" and best_backend() != "native":
        pytest.skip("the native backend is not built")
    vocabulary = bpe.train(["ab AB é"], vocab_size=258).vocabulary
    plain = bpe.Tokenizer(vocabulary, "gpt2", backend=backend)
    lower = bpe.Tokenizer(
        vocabulary, "gpt2", normalizer=NormalizerChain((Lowercase(),)), backend=backend
    )
    for text in ("AB ab", "É ab"):  # in NFC, so a check for NFC alone would skip Lowercase
        expected = plain.encode(text.lower())
        assert lower.encode(text) == lower.encode_array(text).tolist() == expected
        assert lower.count(text) == len(expected)
        assert lower.encode_batch([text, text]) == [expected, expected]
        assert lower.encode_batch_array([text])[0].tolist() == expected
