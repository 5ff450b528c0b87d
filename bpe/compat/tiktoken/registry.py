"""The names of tiktoken.registry."""

from __future__ import annotations

from bpe.compat.tiktoken.encodings import ENCODINGS, get_encoding, list_encoding_names

__all__ = ["ENCODINGS", "get_encoding", "list_encoding_names"]
