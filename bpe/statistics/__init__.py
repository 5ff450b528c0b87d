"""Numbers about vocabularies: how many tokens texts become, and which tokens there are."""

from __future__ import annotations

from bpe.statistics.comparison import Comparison as Comparison
from bpe.statistics.comparison import compare as compare
from bpe.statistics.comparison import word_spans as word_spans
from bpe.statistics.curve import Curve as Curve
from bpe.statistics.curve import curve as curve
from bpe.statistics.ranks import Ranks as Ranks
from bpe.statistics.ranks import ranks as ranks

__all__ = ["Comparison", "Curve", "Ranks", "compare", "curve", "ranks", "word_spans"]
