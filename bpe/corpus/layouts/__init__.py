"""The layouts of shards: file formats that training programs read."""

from __future__ import annotations

from bpe.corpus.layouts.layout import BinLayout, Layout, LlmcLayout, NpyLayout
from bpe.corpus.layouts.megatron import MegatronLayout
from bpe.corpus.layouts.parquet import ParquetLayout

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (BinLayout(), LlmcLayout(), MegatronLayout(), NpyLayout(), ParquetLayout())
}
