"""Precompiled: text and alignment equal those of Hugging Face's tokenizers.

Precompiled applies a charsmap to each grapheme cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from bpe import VocabularyError
from bpe.formats.sentencepiece import parse
from bpe.normalizers import graphemes
from bpe.normalizers.aligned_text import AlignedText
from bpe.normalizers.graphemes import clusters
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from charsmaps import charsmap
from pretok.unicode.graphemes import Kind
from sentencepiece_models import trained
from support import seeded

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
hf = tokenizers.normalizers

# Rules that drop, shorten, lengthen or keep a text, and a rule that is a prefix of another rule.
RULES = {"a": "", "b": "x y", "\u0301": "!", "☃": "", "é": "e\u0301", "ﬁ": "fi", "b\u0301": "B",
         "ᄀ": "1"}  # fmt: skip

UNIFORM = ((0x3400, 0x9FFE), (0xA000, 0xA48F), (0xAC20, 0xD700), (0xD800, 0xF8FF))
"""Ranges without tests: large blocks whose code points have one kind, and surrogates."""
# Each byte is a rule with the replacement "b", so each cluster of at most 5 bytes becomes one "b".
CLUSTERS = hf.Precompiled(charsmap({bytes([byte]): "b" for byte in range(1, 256)}))


def joined(text: str) -> str:
    """Return the expected result of CLUSTERS for `text`, by the clusters of bpe.

    CLUSTERS replaces each character of a longer cluster by "b".
    """
    return "".join(
        "b" if len(cluster.encode()) < 6 else "b" * len(cluster) for cluster in clusters(text)
    )


@cache
def charsmaps() -> dict[str, bytes]:
    """Return the charsmap of RULES, and the largest charsmap of sentencepiece."""
    ours = charsmap({rule.encode(): replacement for rule, replacement in RULES.items()})
    model = trained(["ab c"] * 3, vocab_size=40, normalization_rule_name="nmt_nfkc_cf")
    normalizer = parse(model).normalizer
    assert isinstance(normalizer, SentencePieceNormalizer)
    return {"rules": ours, "nfkc": normalizer.charsmap}


@cache
def by_kind() -> dict[Kind, list[str]]:
    """Return the characters of each kind that graphemes distinguish, without UNIFORM."""
    table = graphemes.kinds().tolist()
    kinds: dict[Kind, list[str]] = {Kind(kind): [] for kind in sorted(set(table))}
    for code in (*range(1, 0x12000), *range(0x1F000, 0x1FC10)):
        if not any(first <= code <= last for first, last in UNIFORM):
            kinds[Kind(table[code])].append(chr(code))
    return kinds


def texts(random: Random, count: int) -> Iterator[str]:
    """Yield texts in which all kinds of characters meet."""
    kinds = by_kind()
    common = [*"ab \u0301\u0308é☃ﬁ\u0600\u200d©\r\n", "b\u0301", "한", "\u094d", "क", "ᄀ"]
    for _ in range(count):
        yield "".join(
            random.choice(common) if random.random() < 0.4 else random.choice(kinds[kind])
            for kind in random.choices(list(kinds), k=random.randrange(1, 12))
        )


def test_every_character() -> None:
    """Put each character before and after characters that join clusters.

    Line breaks separate these texts. Only a tenth of the characters that join nothing is tested.
    """
    around = ("a{}a", "\u0600{}\u1100", "क{}क\u0301", "☀{}\u200d☀\u0301", "{}\u094dक\u0301",
              "©\u200d{}\u0301")  # fmt: skip
    texts_of = "\r\r".join(around).format
    characters = [
        char
        for kind, listed in by_kind().items()
        for char in listed[:: 10 if kind in (Kind.OTHER, Kind.PICTOGRAPHIC) else 1]
    ]
    text = "\r\r".join([texts_of(*[char] * len(around)) for char in characters])
    assert joined(text) == CLUSTERS.normalize_str(text)


def test_clusters() -> None:
    random = seeded("clusters")
    for text in texts(random, 3000):
        assert joined(text) == CLUSTERS.normalize_str(text), ascii(text)


@pytest.mark.parametrize("name", ["nfkc", "rules"])
def test_text_and_alignment_equal_hugging_face(name: str) -> None:
    ours, theirs = Precompiled(charsmaps()[name]), hf.Precompiled(charsmaps()[name])
    for text in texts(seeded(name), 500):
        expected = theirs.normalize_str(text)
        aligned = ours.align(AlignedText.of(text))
        assert ours.normalize(text) == aligned.text == expected, ascii(text)
        if expected:
            vocab = {char: id for id, char in enumerate(sorted(set(expected)))}
            tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
            tokenizer.normalizer = theirs
            assert tokenizer.encode(text).offsets == aligned.spans, ascii(text)


def test_invalid_bytes_and_errors() -> None:
    assert Precompiled(charsmaps()["rules"]).normalize("\udcffé\udcc3") == "\udcffe\u0301\udcc3"
    assert Precompiled(charsmaps()["rules"]).normalize("") == ""
    with pytest.raises(VocabularyError, match="charsmap has 3 bytes"):
        Precompiled(b"abc")
