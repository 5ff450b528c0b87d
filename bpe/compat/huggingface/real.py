"""The classes of the library tokenizers, also after a program replaced tokenizers.Tokenizer."""

from __future__ import annotations

from typing import Any

import tokenizers
from tokenizers import decoders, normalizers, pre_tokenizers, processors

RealTokenizer: Any = tokenizers.Tokenizer
RealEncoding: Any = tokenizers.Encoding
RealDecodeStream: Any = decoders.DecodeStream
SEQUENCES: tuple[Any, ...] = (
    normalizers.Sequence,
    pre_tokenizers.Sequence,
    processors.Sequence,
)
"""The classes of components from which a caller can take an item and change it."""
VERSION: str = tokenizers.__version__
