"""Make corpora and train vocabularies on a Ray cluster; needs `pip install ray`."""

from __future__ import annotations

from bpe.distributed.engine import RayEngine as RayEngine
from bpe.distributed.engine import ray as ray

__all__ = ["RayEngine", "ray"]
