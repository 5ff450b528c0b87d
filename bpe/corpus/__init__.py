"""Make corpora for training: encode the documents of files to shards of ids, and read them."""

from __future__ import annotations

from bpe.corpus.job import Inputs as Inputs
from bpe.corpus.job import tokenize as tokenize
from bpe.corpus.reader import Corpus as Corpus
from bpe.corpus.work import CorpusEngine as CorpusEngine

__all__ = ["Corpus", "CorpusEngine", "Inputs", "tokenize"]
