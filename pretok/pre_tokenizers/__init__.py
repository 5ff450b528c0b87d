"""Blocks with the names and the behavior of the pre_tokenizers of Hugging Face's tokenizers.

Each block has three methods. `pre_tokenize_str` returns the same pieces and offsets as the library
tokenizers. `stages` returns stages for a Preset. `to_dict` returns a JSON object that `from_dict`
converts back to a block.
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
from pretok.pre_tokenizers.piece import Piece
from pretok.pre_tokenizers.scripts import UnicodeScripts
from pretok.pre_tokenizers.sequence import Sequence, from_dict
from pretok.pre_tokenizers.spellings import ByteLevel, Metaspace, PrependScheme

__all__ = [
    "BertPreTokenizer",
    "Block",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "Piece",
    "PrependScheme",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "from_dict",
]
