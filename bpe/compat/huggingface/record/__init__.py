"""The classes of tokenizers 0.23 that the stand-in wraps, without the library tokenizers.

bpe.compat.huggingface uses them if the installed tokenizers lacks these classes, as version 1.0
does, or if no tokenizers is installed. They keep the file, the added tokens and the settings of a
tokenizer, and check arguments as tokenizers 0.23.3 does. They neither encode nor decode.
"""

from __future__ import annotations

from bpe.compat.huggingface.record.added_token import AddedToken
from bpe.compat.huggingface.record.stream import DecodeStream
from bpe.compat.huggingface.record.tokenizer import Tokenizer

__all__ = ["AddedToken", "DecodeStream", "Tokenizer"]
