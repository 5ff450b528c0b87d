"""Charsmap: the longest rule, and damage, which raises VocabularyError or still normalizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bpe import UnsupportedError, VocabularyError
from bpe.formats.sentencepiece import parse
from bpe.normalizers.charsmap import Charsmap, _check
from bpe.normalizers.sentencepiece import SentencePieceNormalizer
from pretok.machine.backend import BackendName
from sentencepiece_models import trained
from support import max_examples, seeded
from vocabulary_files import write

pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

RULES = "61 62\t78 20 79\n2603\t\n20\t5F\n41\t20\n3042 20\t20 20\n"


@pytest.fixture(scope="module")
def blob(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    rules: Path = write(tmp_path_factory.mktemp("rules") / "rules.tsv", RULES)
    sentences = ["ab あ A☃b c d e"] * 3
    data = trained(sentences, vocab_size=40, normalization_rule_tsv=str(rules))
    normalizer = parse(data).normalizer
    assert isinstance(normalizer, SentencePieceNormalizer)
    return normalizer.charsmap


def test_longest_rule(blob: bytes) -> None:
    charsmap = Charsmap(blob)
    text = "abA☃あ ".encode()
    assert charsmap.longest(text, 0) == (2, "x y")
    assert charsmap.longest(text, 1) == (0, "")
    assert charsmap.longest(text, 2) == (1, " ")
    assert charsmap.longest(text, 3) == (3, "")
    assert charsmap.longest(text, 6) == (4, "  ")
    assert charsmap.longest(text[:-1], 6) == (0, "")


def test_alignment(blob: bytes) -> None:
    normalizer = SentencePieceNormalizer(blob, remove_extra_whitespaces=False)
    assert normalizer.align("cab\udcff") == (
        "▁cx▁y\ufffd",
        [(0, 0), (0, 1), (1, 1), (1, 1), (1, 3), (3, 4)],
    )


def test_damaged(blob: bytes) -> None:
    random = seeded("charsmap")
    errors = 0
    for _ in range(150):
        at = random.randrange(len(blob))
        damaged = blob[:at] + bytes([blob[at] ^ 1 << random.randrange(8)]) + blob[at + 1 :]
        try:
            normalizer = SentencePieceNormalizer(damaged)
        except VocabularyError:
            errors += 1
        else:
            assert normalizer.normalize("abA☃あ  c\udcff").encode()
    assert errors > 5


def problem(blob: bytes, charsmap: Charsmap) -> str:
    """Return what `_check` finds wrong with the trie of `blob`."""
    size = int.from_bytes(blob[:4], "little")
    try:
        _check(np.frombuffer(blob, "<u4", size // 4, 4), charsmap._replacements)
    except VocabularyError as error:
        return str(error)
    return ""


def test_cpp_finds_the_same_problems(native: BackendName, blob: bytes) -> None:
    from pretok import _core

    random = seeded("charsmap in C++")
    whole = Charsmap(blob)
    found: set[str] = set()
    size = int.from_bytes(blob[:4], "little")
    tried, least = 0, max_examples(400)
    while tried < least or (len(found) < 3 and tried < 20_000):
        tried += 1
        damaged = bytearray(blob)
        for _ in range(random.choice([1, 1, 5, 200])):
            # Damage only the trie. Most units of such a small trie are not in use.
            at = 4 + random.randrange(random.choice([16, 800, size]))
            damaged[at] = random.choice([damaged[at] ^ 1 << random.randrange(8), 0, 0xFF])
        expected = problem(bytes(damaged), whole)
        mine, _ = _core.check_charsmap(bytes(damaged))
        assert expected == (f"the trie of the charsmap {mine}; the file is damaged" if mine else "")
        found.add(mine)
    assert len(found) >= 3


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda blob: blob[:3], "charsmap has 3 bytes"),
        (lambda blob: b"\xff\xff\xff\xff" + blob[4:], "a trie of 4294967295"),
        (lambda blob: blob[:-1], "has no end"),
        (lambda blob: blob[:-2] + b"\xff\0", "is not UTF-8"),
        (lambda blob: blob[:4] + b"\xff\xff\xff\x7f" + blob[8:], "points outside of itself"),
    ],
)
def test_malformed(blob: bytes, damage: object, match: str) -> None:
    assert callable(damage)
    with pytest.raises(VocabularyError, match=match):
        Charsmap(damage(blob))


def test_user_defined_symbols_have_a_maximum_length() -> None:
    with pytest.raises(UnsupportedError, match="has 257 characters; expected at most 256"):
        SentencePieceNormalizer(user_defined=("x" * 257,))
