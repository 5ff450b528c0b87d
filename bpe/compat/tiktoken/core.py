"""The names of tiktoken.core."""

from __future__ import annotations

from bpe.compat.tiktoken.encoding import Encoding

__all__ = ["Encoding"]
