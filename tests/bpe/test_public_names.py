"""Each public attribute of a tokenizer and its parts can be read, whatever file it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bpe
from bpe.normalizers.chain import NormalizerChain
from gguf_files import gguf, metadata, sentencepiece_metadata
from pretok.machine.backend import BackendName
from sentencepiece_models import BYTE_FALLBACK, BYTES, UNKNOWN, model, normal
from tekken_files import tekken
from text_models import CASES, file_of
from vocabulary_files import gpt2_files, huggingface, made, minbpe_text, tiktoken_lines, write

KINDS = {
    "CharacterVocabulary", "DecoderChain", "NormalizerChain", "SentencePieceDecoding",
    "SentencePieceNormalizer", "TextVocabulary", "Vocabulary",
}  # fmt: skip


def files(folder: Path) -> Iterator[tuple[str, Path | tuple[Path, Path]]]:
    """Write a vocabulary of each kind; yield its name and its path."""
    yield "tiktoken", write(folder / "ranks.tiktoken", tiktoken_lines())
    yield "vocab.json", gpt2_files(folder)
    yield "tekken", write(folder / "tekken.json", tekken())
    yield "minbpe", write(folder / "minbpe.model", minbpe_text())
    yield "gguf", write(folder / "gpt2.gguf", gguf(metadata()))
    yield "gguf of pieces", write(folder / "llama.gguf", gguf(sentencepiece_metadata()))
    rows = [UNKNOWN, *BYTES, *normal("ab", "▁a", "▁", "a", "b")]
    yield "pieces", write(folder / "pieces.model", model(rows, BYTE_FALLBACK))
    yield "bytes", write(folder / "bytes.json", huggingface())
    for name, changes in CASES.items():
        yield name, write(folder / f"{name}.json", file_of(**changes))
    saved = folder / "saved.pretok"
    made(normalizer="NFC").save(saved)
    yield "pretok", saved


def unreadable(part: object) -> list[str]:
    """Return the public names that `dir` lists but that cannot be read."""
    names = [name for name in dir(part) if not name.startswith("_")]
    return [name for name in names if not hasattr(part, name)]


def test_every_public_attribute_can_be_read(tmp_path: Path, backend: BackendName) -> None:
    kinds = set()
    for name, path in files(tmp_path):
        preset = "gpt2" if name in ("tiktoken", "vocab.json", "minbpe") else None
        tok = bpe.load(path, preset, backend=None if backend == "native" else backend)
        steps = tok.normalizer.steps if isinstance(tok.normalizer, NormalizerChain) else ()
        parts = (
            tok, tok.vocabulary, tok.normalizer, tok.decoder, tok.pre_tokenizer, tok.preset,
            tok.to_spec(), tok.template, tok.padding, tok.truncation, tok.decode_stream(),
            *steps, *getattr(tok.decoder, "steps", ()), *tok.added_tokens[:1],
        )  # fmt: skip
        for part in parts:
            assert not unreadable(part), (name, type(part).__name__, unreadable(part))
        kinds |= {type(part).__name__ for part in parts}
    assert kinds >= KINDS


@pytest.mark.parametrize("name", ["scores", "ranks", "tied_runs", "ranked_merges", "run_merges"])
def test_a_vocabulary_without_scores_has_no_names_for_them(name: str) -> None:
    vocabulary = bpe.train(["ab"], vocab_size=9, alphabet="characters").vocabulary
    assert name not in dir(vocabulary)
    assert not hasattr(vocabulary, name)
