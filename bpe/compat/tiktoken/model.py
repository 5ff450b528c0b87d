"""The names of tiktoken.model: the encoding of each model of OpenAI."""

from __future__ import annotations

from bpe.compat.tiktoken.encodings import encoding_for_model
from bpe.hub.openai import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, encoding_name_for_model

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]
