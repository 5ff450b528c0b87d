"""llama.cpp's published test vectors: texts, and their ids from Hugging Face's tokenizers.

The vectors treat special tokens as text, and add no tokens around a text.
"""

from __future__ import annotations

import pytest

import bpe
import pretok
from bpe import Template, Tokenizer, VocabularyError
from paths import shared
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName


def vectors(name: str) -> list[tuple[str, list[int]]]:
    """Return each text of a model's .inp file with its ids of the .out file."""
    given = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf.inp").read_bytes().decode()
    *texts, end = given.split("\n__ggml_vocab_test__\n")
    lines = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf.out").read_text().splitlines()
    assert end == ""
    assert len(texts) == len(lines) == 46
    return [(text, [*map(int, line.split())]) for text, line in zip(texts, lines, strict=True)]


def _check_vectors(tokenizer: Tokenizer, name: str) -> None:
    published = vectors(name)
    for text, ids in published:
        assert tokenizer.encode(text, "text") == ids, text
        assert tokenizer.decode(ids) == text
    texts = [text for text, _ in published]
    assert tokenizer.encode_batch(texts, "text") == [ids for _, ids in published]


@pytest.mark.parametrize("name", ["gpt-2", "mpt", "starcoder", "deepseek-llm"])
def test_published_vectors(name: str, backend: BackendName) -> None:
    path = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf")
    tokenizer = bpe.load(path, backend=backend)
    assert tokenizer.preset == pretok.get(name).preset
    _check_vectors(tokenizer, name)


def test_published_vectors_of_sentencepiece(backend: BackendName) -> None:
    path = shared("vocabs", "gguf", "ggml-vocab-llama-spm.gguf")
    tokenizer = bpe.load(path, backend=backend)
    assert tokenizer.template == Template((1,), ())
    _check_vectors(tokenizer, "llama-spm")
    spans = [(token.start, token.end) for token in tokenizer.tokens("Führer <s>", "allow")]
    assert spans == [(0, 1), (1, 4), (4, 6), (6, 7), (7, 10)]


@pytest.mark.parametrize(
    ("name", "preset", "files"),
    [
        ("llama-bpe", "llama-bpe", ["llama3_tokenizer.model"]),
        ("qwen2", "qwen2", ["qwen2_vocab.json", "qwen2_merges.txt"]),
    ],
)
def test_published_vectors_of_other_files(
    name: str, preset: str, files: list[str], backend: BackendName
) -> None:
    paths = [shared("vocabs", file) for file in files]
    path = paths[0] if len(paths) == 1 else (paths[0], paths[1])
    _check_vectors(bpe.load(path, preset, backend=backend), name)


def _pieces(preset: str | Preset, published: list[tuple[str, list[int]]]) -> dict[str, list[int]]:
    """Return the ids of the pieces whose ids follow from the ids of whole texts.

    A piece is a pre-token of `preset`. Raises AssertionError if a piece would need different ids in
    different texts.
    """
    split = pretok.get(preset).split
    texts = [(split(text), ids) for text, ids in published]
    known: dict[str, list[int]] = {}
    before = -1
    while before < len(known):
        before = len(known)
        for pieces, ids in texts:
            unknown = {piece for piece in pieces if piece not in known}
            left = len(ids) - sum(len(known[piece]) for piece in pieces if piece in known)
            assert left >= sum(piece in unknown for piece in pieces), pieces
            if len(unknown) == 1:
                piece = unknown.pop()
                start = sum(len(known[other]) for other in pieces[: pieces.index(piece)])
                known[piece] = ids[start : start + left // pieces.count(piece)]
            if not unknown:
                assert [id for piece in pieces for id in known[piece]] == ids, pieces
    return known


def test_published_vectors_without_a_vocabulary() -> None:
    """The ids of Command R are consistent with its preset: each pre-token has the same ids."""
    known = _pieces("command-r", vectors("command-r"))
    assert len(known) > 20
    assert {"3", "Hello", " Hello", "\n   "} < known.keys()
    # The check can fail: with a preset of letters only, the ids are not consistent.
    with pytest.raises(AssertionError):
        _pieces(Preset("letters", rules=(Run(LETTER),)), vectors("command-r"))


def test_published_file_without_a_pre_name(backend: BackendName) -> None:
    path = shared("vocabs", "gguf", "ggml-vocab-gpt-neox.gguf")
    with pytest.raises(VocabularyError, match=r"there is no tokenizer\.ggml\.pre"):
        bpe.load(path, backend=backend)
    tokenizer = bpe.load(path, "default", backend=backend)
    assert tokenizer.special_tokens == {"<|endoftext|>": 0, "<|padding|>": 1}
    text = "Hello   world"
    assert tokenizer.tokens(text)[1] == (50275, b"   ", 5, 8)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    # With the preset of its training, the model has the ids of Hugging Face's tokenizers.
    tokenizers = pytest.importorskip("tokenizers")
    engine = tokenizers.Tokenizer.from_file(str(shared("vocabs", "hf", "gpt_neox.json")))
    own = bpe.load(path, "gpt2", backend=backend)
    for text, _ in vectors("gpt-2"):
        assert own.encode(text, "text") == engine.encode(text).ids, text
