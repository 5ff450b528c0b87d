"""The layouts of shards: file formats that training programs read."""

from __future__ import annotations

from bpe.corpus.layouts.layout import Layout
from bpe.corpus.layouts.megatron import MegatronLayout
from bpe.corpus.layouts.parquet import ParquetLayout
from bpe.corpus.layouts.raw import BinLayout, LlmcLayout, NpyLayout

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (BinLayout(), LlmcLayout(), MegatronLayout(), NpyLayout(), ParquetLayout())
}
