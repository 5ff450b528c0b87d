"""Each public attribute of a tokenizer and its parts can be read, whatever file it comes from."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import bpe
import pretok
import pretok.pre_tokenizers
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


@pytest.mark.parametrize("name", ["scores", "ranks", "tied_runs", "ranked_merges"])
def test_a_vocabulary_without_scores_has_no_names_for_them(name: str) -> None:
    vocabulary = bpe.train(["ab"], vocab_size=9, alphabet="characters").vocabulary
    assert name not in dir(vocabulary)
    assert not hasattr(vocabulary, name)


PUBLIC = (pretok, pretok.charsets, pretok.pre_tokenizers, bpe, bpe.chat, bpe.corpus, bpe.statistics)
INTERNAL = {
    "Backend", "Encoded", "IdStream", "KeptText", "Matcher", "Merge", "Options", "Packed", "Path",
    "PathLike", "Pipeline", "Position", "Rows", "Shard", "Training", "TextStream", "Words",
    "WorkFolder",
}  # fmt: skip
"""Types of paths, and of members that users do not call, such as the methods of rules."""
STANDS_IN = {"AddedToken", "DecodeStream", "Tokenizer"}
"""Names of Hugging Face's tokenizers and transformers, which bpe.compat defines again."""
STEPS = {"ByteLevel", "Metaspace", "Replace", "Spaces", "Split", "Step", "Strip"}
"""Names of components of a tokenizer.json: one JSON name stands for several things."""


def annotations_of(value: object) -> Iterator[str]:
    """Yield the annotations of the signatures of a function, or of the methods of a class."""
    functions = [value]
    if inspect.isclass(value):
        names = [name for name in dir(value) if name == "__init__" or not name.startswith("_")]
        functions = [inspect.getattr_static(value, name) for name in names]
    for function in functions:
        function = getattr(function, "fget", None) or getattr(function, "__func__", function)
        try:
            signature = inspect.signature(cast("Any", function))
        except (TypeError, ValueError):  # not a function, or one of C
            continue
        yield str(signature.return_annotation)
        yield from (str(parameter.annotation) for parameter in signature.parameters.values())


def test_the_types_of_public_signatures_are_public() -> None:
    public = {name for module in PUBLIC for name in module.__all__}
    definition = re.compile(r"^(?:class )?([A-Z]\w+)(?:\(|:| =)", re.MULTILINE)
    paths = [path for package in (bpe, pretok) for path in Path(package.__path__[0]).rglob("*.py")]
    ours = {name for path in paths for name in definition.findall(path.read_text("utf-8"))}
    used: dict[str, str] = {}
    for module in PUBLIC:
        for name in module.__all__:
            for annotation in annotations_of(getattr(module, name)):
                for word in re.findall(r"(?<!['\".])\b[A-Z]\w+", annotation):
                    used[word] = f"{module.__name__}.{name}"
    assert {name: place for name, place in used.items() if name in ours - public - INTERNAL} == {}


def test_no_other_class_has_the_name_of_a_public_class() -> None:
    public = {name for module in PUBLIC for name in module.__all__}
    places: dict[str, list[str]] = {}
    for package in (bpe, pretok):
        for path in Path(package.__path__[0]).rglob("*.py"):
            for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
                places.setdefault(name, []).append(str(path))
    names = public - STANDS_IN - STEPS
    assert {name: found for name, found in places.items() if len(found) > 1 and name in names} == {}
