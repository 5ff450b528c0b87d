"""The real classes of tokenizers, even if a program replaces tokenizers.Tokenizer by ours."""

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
"""The classes of components whose items have handles of their own."""
VERSION: str = tokenizers.__version__
