"""Normalizers and decoders that grow a text, and others."""

from __future__ import annotations

from bpe.decoders import steps as decoders
from bpe.normalizers import steps as normalizers
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.step import TextStep
from bpe.normalizers.unicode_forms import UnicodeForm
from charsmaps import charsmap

_RULES = {"ﬁ": "fi", "x": "▁ yy", "☃": "", "é": "e\u0301", "y": "x"}
RULES_MAP = Precompiled(charsmap({rule.encode(): new for rule, new in _RULES.items()}))
_REPLACES = [
    ("a", "aa"), ("aa", "a"), ("a", "à"), ("à", "ﷺ"), (" ", "▁"), ("ل", "ﷺ"), ("b", "中㍿"),
    ("▁", " "), ("ab", "İé"), ("i", "ab"), ("Ġ", "à"), ("é", "ééé"), ("\u0301", "中"),
]  # fmt: skip
NORMALIZERS: list[TextStep] = [
    *map(UnicodeForm, ("NFC", "NFD", "NFKC", "NFKD")),  # type: ignore[arg-type]
    normalizers.Lowercase(), normalizers.StripAccents(), normalizers.Nmt(), normalizers.ByteLevel(),
    normalizers.Strip(), normalizers.BertNormalizer(), RULES_MAP,
    normalizers.BertNormalizer(lowercase=False, strip_accents=True),
    normalizers.Prepend("▁"), normalizers.Prepend("à中"), normalizers.Prepend("ﷺ"),
    normalizers.Replace(r"\s+", "à ", True),
    *(normalizers.Replace(*each) for each in _REPLACES),
]  # fmt: skip
DECODERS: list[decoders.TokenStep] = [
    decoders.ByteLevel(), decoders.ByteFallback(), decoders.Fuse(), decoders.Spaces(),
    decoders.Strip(" ", 1, 1), decoders.Metaspace("▁", "always"), decoders.BPEDecoder("a"),
    decoders.WordPiece("a", True), decoders.CTC("a", "", True), decoders.CTC("", "|", True),
    decoders.Replace(r"\s", "à ", True),
    *(decoders.Replace(*each) for each in _REPLACES),
]  # fmt: skip
