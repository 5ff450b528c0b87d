"""The classes of tokenizers, under names that stay theirs if somebody puts ours in their place."""

from __future__ import annotations

from typing import Any

import tokenizers
from tokenizers import decoders

RealTokenizer: Any = tokenizers.Tokenizer
RealEncoding: Any = tokenizers.Encoding
RealDecodeStream: Any = decoders.DecodeStream
VERSION: str = tokenizers.__version__
