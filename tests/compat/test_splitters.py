"""The splitters for langchain and LlamaIndex return the chunks of Tokenizer.chunks."""

from __future__ import annotations

import importlib.util
from importlib import import_module

import pytest

import bpe
from support import need

TEXT = "It rains. It pours. It rains.\nThe old man is snoring! 中文。 Good night.\n" * 4


def tokenizer() -> bpe.Tokenizer:
    return bpe.train([TEXT], vocab_size=290)


def test_langchain() -> None:
    need("langchain_text_splitters")
    from bpe.compat.langchain import ChunkSplitter

    tok = tokenizer()
    splitter = ChunkSplitter(tok, chunk_size=30, chunk_overlap=12, add_start_index=True)
    chunks = list(tok.chunks(TEXT, 30, 12, "sentence"))
    assert splitter.split_text(TEXT) == [chunk.text for chunk in chunks]
    made = splitter.create_documents([TEXT, "ab"], [{"page": 1}, {"page": 2}])
    assert [document.metadata for document in made] == [
        *({"page": 1, "start_index": chunk.start} for chunk in chunks),
        {"page": 2, "start_index": 0},
    ]
    assert "".join(ChunkSplitter(tok, 9).split_text(TEXT)) == TEXT
    assert [part.page_content for part in splitter.split_documents(made[-1:])] == ["ab"]


def test_llama_index() -> None:
    if importlib.util.find_spec("llama_index") is None:
        pytest.skip("llama-index-core is not installed")
    from bpe.compat.llama_index import ChunkParser

    tok = tokenizer()
    parser = ChunkParser(tok, chunk_size=30, chunk_overlap=0)
    chunks = list(tok.chunks(TEXT, 30, on="sentence"))
    document = import_module("llama_index.core").Document(text=TEXT)
    nodes = parser.get_nodes_from_documents([document])
    assert [node.get_content() for node in nodes] == [chunk.text for chunk in chunks]
    assert parser.split_text(TEXT) == [chunk.text for chunk in chunks]
