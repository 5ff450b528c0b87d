"""Programs that use a tokenizer of tokenizers, transformers or tiktoken work with the stand-ins.

A program that is not installed is repeated here by its calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

import bpe
import huggingface_pairs as pairs
from bpe.compat import tiktoken
from huggingface_features import plain
from support import need

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
hf = importlib.import_module("bpe.compat.huggingface")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "the é quick 🦙 fox 日本. " * 9


@pytest.fixture(autouse=True)
def nothing_falls_back() -> Iterator[None]:
    """Fail if a call falls back."""
    before = hf.fallbacks()
    yield
    assert hf.fallbacks() == before


def encoding() -> Any:
    """Return a small Encoding of bpe.compat.tiktoken."""
    return tiktoken.Encoding.from_tokenizer(bpe.train([TEXT], vocab_size=280), "small")


def test_the_types_name_the_libraries_that_they_stand_in_for() -> None:
    # chonkie and other programs choose the calls by these names.
    assert "tokenizers" in str(type(pairs.both(pairs.base())[1]))
    assert "tiktoken" in str(type(encoding()))
    assert "tokenizers" not in str(type(encoding()))
    assert not any("transformers" in str(type(tok)) for tok in (hf.Tokenizer, encoding()))


@pytest.mark.parametrize("name", ["tokenizers", "transformers", "tiktoken"])
def test_chonkie(name: str, tok: Any) -> None:
    chonkie = need("chonkie")
    real, ours = pairs.both(pairs.base())

    def run(tokenizer: Any) -> Any:
        auto = chonkie.tokenizer.AutoTokenizer(tokenizer)
        assert auto._backend == name
        chunks = chonkie.TokenChunker(tokenizer, chunk_size=16, chunk_overlap=3)(TEXT)
        batch = auto.encode_batch([TEXT, "the"])
        return [(c.text, c.token_count, c.start_index) for c in chunks], batch

    if name == "tokenizers":
        assert run(ours) == run(real)
    elif name == "transformers":
        expected = run(tok)
        with hf.patched():
            assert run(tok) == expected
    else:
        assert len(run(encoding())[0]) > 1


def test_semchunk(tok: Any) -> None:
    semchunk = need("semchunk")
    real, ours = pairs.both(pairs.base())
    assert semchunk.chunkerify(ours, 16)(TEXT) == semchunk.chunkerify(real, 16)(TEXT)
    expected = semchunk.chunkerify(tok, 16)(TEXT)
    with hf.patched():
        assert semchunk.chunkerify(tok, 16)(TEXT) == expected
    assert len(semchunk.chunkerify(encoding(), 16)(TEXT)) > 1


def test_lm_eval_encodes_tuples(tok: Any) -> None:
    # generate_until gets the contexts of a chunk by zip(*chunk).
    contexts, _ = zip(*[(TEXT, 1), ("the", 2), ("é", 3)], strict=True)

    def run(tok: Any) -> Any:
        tok.padding_side = "left"
        batch = tok(contexts, truncation=True, padding="longest", max_length=20)
        arrays = tok(contexts, padding="longest", return_tensors="np", add_special_tokens=False)
        overflowing = tok(contexts, truncation=True, max_length=9, return_overflowing_tokens=True)
        texts = tok.batch_decode((*batch["input_ids"],), skip_special_tokens=True)
        return *map(plain, (batch, arrays, tok(contexts), overflowing)), texts

    expected = run(tok)
    with hf.patched():
        assert run(tok) == expected


def test_langchain_counts_tokens(tok: Any) -> None:
    """The calls of from_huggingface_tokenizer and of SentenceTransformersTokenTextSplitter."""

    def run(tok: Any) -> Any:
        rows = tok.encode(TEXT, max_length=2**32, truncation="do_not_truncate")
        return len(tok.tokenize(TEXT)), [tok.decode(rows[at : at + 9]) for at in range(len(rows))]

    expected = run(tok)
    with hf.patched():
        assert run(tok) == expected
