"""Blocks with the names and the behavior of the pre_tokenizers of Hugging Face tokenizers.

Each block has `pre_tokenize_str`, which returns the same pieces and offsets as in tokenizers,
`stages()` for a Preset, and `to_dict()`, which `from_dict` reads.
"""

from __future__ import annotations

from pretok.pre_tokenizers.block import Block
from pretok.pre_tokenizers.cutters import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from pretok.pre_tokenizers.scripts import UnicodeScripts
from pretok.pre_tokenizers.sequence import Sequence, from_dict
from pretok.pre_tokenizers.spellings import ByteLevel, Metaspace

__all__ = [
    "BertPreTokenizer",
    "Block",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "from_dict",
]
