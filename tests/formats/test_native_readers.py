"""C++ and Python read the same from real tokenizer files."""

from __future__ import annotations

import json
from typing import Any

import pytest

import bpe
from bpe.formats import pretok_file
from native_models import said_to_cpp, said_to_python
from paths import shared
from pre_tokenizer_json import BYTES, sequence, split
from pretok.machine.backend import BackendName
from vocabulary_files import huggingface

RANK_FILES = [
    "cl100k_base.tiktoken", "o200k_base.tiktoken", "p50k_base.tiktoken", "r50k_base.tiktoken",
    "qwen.tiktoken", "whisper_multilingual.tiktoken", "llama3_tokenizer.model",
]  # fmt: skip
GGUF_FILES = ["deepseek-llm", "gpt-2", "gpt-neox", "llama-spm", "mpt", "starcoder"]
JSON_FILES = ["gpt2_tokenizer.json", "gpt_neox.json"]
NOT_VOCABULARIES = ["gpt2_merges.txt", "PROVENANCE.md"]


@pytest.mark.parametrize("name", RANK_FILES)
def test_rank_files(name: str, native: BackendName) -> None:
    data = shared("vocabs", name).read_bytes()
    said = said_to_cpp(data)
    assert said.unsupported is None
    assert said == said_to_python(data)


@pytest.mark.parametrize("name", GGUF_FILES)
def test_gguf_files(name: str, native: BackendName) -> None:
    data = shared("vocabs", "gguf", f"ggml-vocab-{name}.gguf").read_bytes()
    said = said_to_cpp(data)
    assert said.unsupported is None
    python = said_to_python(data)
    if name == "llama-spm":  # C++ lists the merges that make runs of "▁" in another order
        assert said.merges is not None
        assert python.merges is not None
        assert sorted(said.merges) == sorted(python.merges)
        said, python = said._replace(merges=()), python._replace(merges=())
    assert said == python


@pytest.mark.parametrize("name", JSON_FILES)
def test_json_files(name: str, native: BackendName) -> None:
    data = shared("vocabs", "hf", name).read_bytes()
    assert said_to_cpp(data) == said_to_python(data)


DIGITS = {"type": "Digits", "individual_digits": True}


@pytest.mark.parametrize(
    ("pre_tokenizer", "is_good"),
    [
        (sequence(*[DIGITS] * 255, BYTES), True),
        (sequence(*[DIGITS] * 256, BYTES), False),
        (sequence(*[sequence(DIGITS)] * 255, BYTES), True),
        (sequence(*[sequence(DIGITS)] * 256, BYTES), False),
        (sequence(*[sequence()] * 256, BYTES), False),
        (sequence(*[DIGITS] * 100_000, BYTES), False),
        (sequence(split("(" * 100_000), BYTES), True),
        (sequence(split("a{" + "9" * 5000 + "}"), {**BYTES, "add_prefix_space": True}), True),
        ({**BYTES, "add_prefix_space": True}, True),
    ],
    ids=lambda value: str(value)[:60],
)
def test_hostile_pre_tokenizers(
    pre_tokenizer: dict[str, Any], is_good: bool, native: BackendName
) -> None:
    data = json.dumps({**huggingface(), "pre_tokenizer": pre_tokenizer}).encode()
    said = said_to_cpp(data)
    assert (said.unsupported is None) == is_good
    expected = said_to_python(data)
    if is_good and not said.preset:  # C++ leaves the split to Python
        expected = expected._replace(preset="", program=(), unicode="", add_prefix_space=False)
    assert said == expected


@pytest.mark.parametrize("name", NOT_VOCABULARIES)
def test_files_without_a_vocabulary(name: str, native: BackendName) -> None:
    data = shared("vocabs", name).read_bytes()
    said = said_to_cpp(data)
    assert said.unsupported is not None
    assert said == said_to_python(data)


@pytest.mark.parametrize(
    "name", ["cl100k_base.tiktoken", "hf/gpt_neox.json", "gguf/ggml-vocab-deepseek-llm.gguf"]
)
def test_pretok_files(name: str, native: BackendName) -> None:
    tokenizer = bpe.load(shared("vocabs", *name.split("/")), "cl100k" if "cl100k" in name else None)
    data = pretok_file.dump(tokenizer.to_spec())
    said = said_to_cpp(data)
    assert said == said_to_python(data)
    assert said.tokens == tokenizer.vocabulary.token_bytes
    assert said.merges == tokenizer.vocabulary.merges
