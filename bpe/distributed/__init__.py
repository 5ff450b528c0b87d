"""Make corpora and train vocabularies on a Ray cluster; needs `pip install ray`."""

from __future__ import annotations

from bpe.distributed.cluster import connect as connect
from bpe.distributed.job import tokenize as tokenize
from bpe.distributed.training import train as train

__all__ = ["connect", "tokenize", "train"]
