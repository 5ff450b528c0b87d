"""Draw the numbers of bpe.statistics with matplotlib, which `pip install matplotlib` installs."""

from __future__ import annotations

from bpe.plots.comparison import draw_comparison as draw_comparison
from bpe.plots.curves import draw_curves as draw_curves
from bpe.plots.documents import draw_document_lengths as draw_document_lengths
from bpe.plots.picture import check_picture as check_picture
from bpe.plots.ranks import draw_ranks as draw_ranks
