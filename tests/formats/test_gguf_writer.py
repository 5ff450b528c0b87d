"""GGUF files that `convert` writes: their keys, their ids, and the rest of a model."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, Template, UnsupportedError, VocabularyError
from bpe.conversion import convert as convert_module
from bpe.conversion.texts import texts_for
from bpe.formats import gguf, gguf_facts, gguf_pre
from conversions import SOURCES, loaded
from gguf_files import Typed, metadata, sentencepiece_metadata
from gguf_files import gguf as gguf_file
from llama_texts import random_text
from llama_vocab import PRE_TYPES, LlamaVocabulary, library
from paths import shared
from pretok.formats import gguf_metadata
from pretok.machine.backend import BackendName
from pretok.presets import BUILT_IN
from support import FULL, max_examples, need, seeded
from vocabulary_files import made, made_vocabulary, write

WITHOUT_NAME = {"cl100k", "clip", "gemma4", "nanochat", "superbpe-extend", "whitespace"}
"""The presets that no value of tokenizer.ggml.pre stands for, if tokens are bytes."""
WITHOUT_GGUF = {"cl100k_base", "Mistral 0.3 (JSON)"}
"""The published vocabularies that a GGUF file cannot hold."""
SEPARATOR = "\n__ggml_vocab_test__\n"


def test_the_names_are_those_of_llama_cpp() -> None:
    assert list(gguf_pre.LLAMA_CPP) == PRE_TYPES


@pytest.mark.parametrize("preset", BUILT_IN, ids=lambda preset: preset.name)
def test_a_name_splits_like_its_preset(preset: Any) -> None:
    """A name is chosen only if its preset splits alike, and its flags if there is a choice."""
    for ignores in (False, True):
        if preset.name in WITHOUT_NAME:
            with pytest.raises(UnsupportedError, match=f"preset '{preset.name}'; .* one of a.x-4"):
                gguf_pre.pre_for(preset, ignores)
            continue
        name = gguf_pre.pre_for(preset, ignores)
        ours, theirs = (
            bpe.Tokenizer(made_vocabulary(), preset),
            bpe.Tokenizer(made_vocabulary(), name),
        )
        for text in texts_for([ours], 60)[:120]:
            assert (
                ours.pre_tokenizer.offsets(text).tolist()
                == theirs.pre_tokenizer.offsets(text).tolist()
            )
        if gguf_pre.pre_for(preset, not ignores) != name:
            assert (name in gguf.IGNORE_MERGES) == ignores


@pytest.mark.parametrize(
    ("source", "vectors"),
    [
        ("GPT-2", "gpt-2"),
        ("Llama 2 (JSON)", "llama-spm"),
        ("Llama 3", "llama-bpe"),
        *([("Qwen2 (vocab.json)", "qwen2"), ("StarCoder (GGUF)", "starcoder")] if FULL else []),
    ],
)
def test_written_files_have_the_ids_that_llama_cpp_has_recorded(
    tmp_path: Path, source: str, vectors: str, native: BackendName
) -> None:
    folder = shared("vocabs", "gguf")
    given = (folder / f"ggml-vocab-{vectors}.gguf.inp").read_bytes().decode()
    texts = given.removesuffix(SEPARATOR).split(SEPARATOR)
    lines = (folder / f"ggml-vocab-{vectors}.gguf.out").read_text().splitlines()
    path = tmp_path / "new.gguf"
    bpe.convert(loaded(source), path, texts=10, lossy=True)
    tok = bpe.load(path)
    for text, line in zip(texts, lines, strict=True):
        assert tok.encode(text, "text") == [*map(int, line.split())], text


@pytest.mark.parametrize(
    "source",
    sorted({*SOURCES} - WITHOUT_GGUF)
    if FULL
    else ["GPT-2", "Llama 2", "Llama 2 (JSON)", "Llama 3", "Qwen"],
)
def test_llama_cpp_loads_the_file(tmp_path: Path, source: str, native: BackendName) -> None:
    """The ids of llama.cpp itself; needs its sources, see CONTRIBUTING.md."""
    library()
    path = tmp_path / "new.gguf"
    bpe.convert(loaded(source), path, texts=10, lossy=True)
    llama, tok = LlamaVocabulary(path), bpe.load(path)
    random = seeded(f"written {source}")
    tokens = texts_for([tok], 0)
    missing = frozenset(tok.vocabulary.missing_bytes)
    for _ in range(max_examples(1000)):
        text = random_text(random, tokens)
        if missing.isdisjoint(text.encode()):
            for special, parses in (("text", False), ("allow", True)):
                ids = llama.tokenize(text, parse_special=parses)
                assert tok.encode(text, special) == ids, ascii(text)
    around = tok.encode("a", add_special_tokens=True)
    assert llama.tokenize("a", add_special=True) == around


def test_the_package_gguf_reads_the_file(tmp_path: Path, native: BackendName) -> None:
    reader = need("gguf").GGUFReader
    path = tmp_path / "new.gguf"
    bpe.convert(loaded("Llama 2"), path, texts=10)
    fields = reader(path).fields
    assert fields["general.architecture"].contents() == "llama"
    assert fields["tokenizer.ggml.model"].contents() == "llama"
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert len(tokens) == 32000
    assert tokens[259:262] == ["▁▁", "▁t", "er"]
    assert fields["tokenizer.ggml.token_type"].contents()[:4] == [2, 3, 3, 6]
    assert fields["tokenizer.ggml.scores"].contents()[260] == -1.0


def keys_of(path: Path) -> dict[str, Any]:
    names = [key for key in (*gguf.KEYS, *gguf_facts.KEYS) if key != "general.name"]
    return gguf_metadata.load(path, [*names, "general.architecture"])


def test_the_keys_of_a_small_file(tmp_path: Path) -> None:
    facts = bpe.TokenFacts(roles={"bos": 97, "eot": 301}, chat_template="{{ messages }}")
    added = [AddedToken("<|end|>", 301), AddedToken("<x>", 303, special=False)]
    source = made("python", preset="gpt2", added_tokens=added, facts=facts, add_prefix_space=True,
                  template=Template((301,), (97,)))  # fmt: skip
    path = tmp_path / "new.gguf"
    result = bpe.convert(source, path, texts=20)
    keys = keys_of(path)
    assert keys["general.architecture"] == "llama"
    assert keys["tokenizer.ggml.pre"] == "gpt-2"
    assert keys["tokenizer.ggml.tokens"][300:] == ["[PAD300]", "<|end|>", "[PAD302]", "<x>"]
    assert keys["tokenizer.ggml.token_type"][299:] == [5, 5, 3, 5, 4]
    assert keys["tokenizer.ggml.merges"][:2] == ["a b", "Ġ t"]
    assert keys["tokenizer.ggml.bos_token_id"] == 301
    assert keys["tokenizer.ggml.eos_token_id"] == 97
    assert keys["tokenizer.ggml.eot_token_id"] == 301
    assert (keys["tokenizer.ggml.add_bos_token"], keys["tokenizer.ggml.add_eos_token"]) == (1, 1)
    assert keys["tokenizer.ggml.add_space_prefix"]
    assert keys["tokenizer.chat_template"] == "{{ messages }}"
    assert result.omitted == ("the roles bos",)
    tok = bpe.load(path, backend="python")
    assert tok.template == source.template
    assert {*tok.added_tokens} == {*added}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"preset": "cl100k"}, r"no pre-tokenizer that splits like preset 'cl100k'; .* qwen2,"),
        ({"template": Template((97, 98), ())}, "cannot hold the template"),
        ({"added_tokens": [AddedToken("<x>", 300, lstrip=True)]}, "the flags of 1 added token"),
        ({"added_tokens": [AddedToken("ab", 300)]}, "tokens 256 and 300 have the same text 'ab'"),
    ],
)
def test_what_llama_cpp_lacks(tmp_path: Path, options: dict[str, Any], match: str) -> None:
    with pytest.raises((UnsupportedError, VocabularyError), match=match):
        bpe.convert(made("python", **{"preset": "gpt2", **options}), tmp_path / "new.gguf")


def model(
    tmp_path: Path, tensors: int = 3, order: str = "<", rows: int = 0, **changes: Any
) -> Path:
    """Return a GGUF file with tensors, and keys before and after those of the tokenizer.

    With `rows`, the last tensor is an embedding with this number of rows.
    """
    values = {**metadata(**changes), "general.name": "m", "llama.block_count": 7}
    values["quantize.imatrix"] = Typed("array", [1.5, 2.5], "float64")
    data = gguf_file(values, order=order, tensors=tensors)
    for index in range(tensors):
        is_table = rows and index == tensors - 1
        name = b"token_embd.weight" if is_table else f"blk.{index}.weight".encode()
        data += struct.pack("<Q", len(name)) + name
        data += struct.pack("<IQQIQ", 2, 4, rows if is_table else 2, 0, 32 * index)
    data += bytes(-len(data) % 32) + bytes(range(32)) * tensors
    return write(tmp_path / "model.gguf", data)


def test_the_tokenizer_of_a_model_is_replaced(tmp_path: Path) -> None:
    """Tensors and other metadata stay byte for byte; the file is aligned again."""
    path = model(tmp_path)
    old = path.read_bytes()
    source = made("python", preset="qwen2", special=(("<|end|>", 264),))
    new = tmp_path / "new.gguf"
    bpe.convert(source, new, into=path, texts=20)
    data = new.read_bytes()
    assert path.read_bytes() == old
    assert data[-96:] == bytes(range(32)) * 3
    assert len(data) % 32 == 0
    everything = ["general.name", "llama.block_count", "quantize.imatrix", "general.alignment",
                  "general.architecture", "tokenizer.chat_template"]  # fmt: skip
    assert gguf_metadata.load(new, everything) == gguf_metadata.load(path, everything)
    assert gguf_metadata.load(new, ["tokenizer.ggml.pre"]) == {"tokenizer.ggml.pre": "qwen2"}
    infos = old[old.index(b"blk.0") - 8 : old.index(b"blk.2") + 12 + 8 + 16]
    assert infos in data
    assert bpe.load(new, backend="python").encode("abc the 12") == source.encode("abc the 12")
    # In place, the result is the same.
    bpe.convert(source, path, into=path, texts=20)
    assert path.read_bytes() == data
    assert [file.name for file in tmp_path.iterdir()].count("model.gguf") == 1


def test_the_package_gguf_reads_a_model(tmp_path: Path) -> None:
    reader = need("gguf").GGUFReader
    source = made("python", preset="qwen2", special=(("<|end|>", 264),))
    bpe.convert(source, tmp_path / "new.gguf", into=model(tmp_path), texts=20)
    read = reader(tmp_path / "new.gguf")
    assert [tensor.name for tensor in read.tensors] == [f"blk.{n}.weight" for n in range(3)]
    assert all(tensor.data.tobytes() == bytes(range(32)) for tensor in read.tensors)


def test_a_smaller_vocabulary_is_padded_and_a_larger_one_refused(tmp_path: Path) -> None:
    path = model(tmp_path)  # 265 tokens
    small = made("python", preset="gpt2", special=())
    bpe.convert(small, tmp_path / "new.gguf", into=path, texts=20)
    tokens = gguf_metadata.load(tmp_path / "new.gguf", ["tokenizer.ggml.tokens"])
    assert tokens["tokenizer.ggml.tokens"][263:] == ["čĊ", "[PAD264]"]
    large = made("python", preset="gpt2", special=(("<|end|>", 265),))
    with pytest.raises(VocabularyError, match="has 265 tokens, but the tokenizer has 266"):
        bpe.convert(large, path, into=path)


def test_every_id_keeps_its_row(tmp_path: Path) -> None:
    """A model with an embedding accepts a tokenizer whose tokens have their ids of the model."""
    path, new = model(tmp_path, rows=265), tmp_path / "new.gguf"
    source = made("python", preset="gpt2", special=(("<|end|>", 264),))
    bpe.convert(source, new, into=path, texts=20)
    # A new token may take the id of an added one, and ids may be left out.
    renamed = made("python", preset="gpt2", special=(("<|tool|>", 264),))
    bpe.convert(renamed, new, into=path, texts=20)
    bpe.convert(source.shrink(keep=[97, 98, 264], gaps=True).tokenizer, new, into=path, texts=20)
    tokens = gguf_metadata.load(path, ["tokenizer.ggml.tokens"])["tokenizer.ggml.tokens"]
    assert tokens[262] == "Ã©"
    raw = [*tokens[:262], "é", *tokens[263:]]  # as in Command R's file
    bpe.convert(source, new, into=model(tmp_path, rows=265, tokens=raw), texts=20)
    path = model(tmp_path, rows=265)
    old = path.read_bytes()
    shrunk = source.shrink(keep=[*range(256), 258, 264]).tokenizer
    swapped = source.remap({256: 257, 257: 256}).tokenizer
    replaced = bpe.train(["xyz xyz"], vocab_size=258, preset="gpt2")
    for tok, match in (
        (shrunk, "2 tokens would get the embeddings of other tokens: id 257 is 'abc', which has "),
        (swapped, "2 tokens would .* id 256 is 'Ġt', which has id 257 in .* id 256 is 'ab'; keep"),
        (replaced, "2 tokens would .* id 256 is 'xy', which has no id in the model, whose id 256"),
    ):
        with pytest.raises(VocabularyError, match=match):
            bpe.convert(tok, path, into=path, texts=20)
        assert path.read_bytes() == old
        bpe.convert(tok, new, into=path, rows_match=True, texts=20)
        assert bpe.load(new).encode("abc the") == tok.encode("abc the")
    with pytest.raises(ValueError, match="rows_match= needs into="):
        bpe.convert(source, tmp_path / "a.gguf", rows_match=True)


def test_the_embedding_says_how_many_ids_fit(tmp_path: Path) -> None:
    """A model without a tokenizer, such as one whose rows were just cut, has a row for each id."""
    new = tmp_path / "new.gguf"
    source = made("python", preset="gpt2", special=(("<|end|>", 264),))
    bpe.convert(source, new, into=model(tmp_path, rows=270, tokens=...), texts=20)
    tokens = gguf_metadata.load(new, ["tokenizer.ggml.tokens"])["tokenizer.ggml.tokens"]
    assert tokens[264:] == ["<|end|>", *(f"[PAD{id}]" for id in range(265, 270))]
    with pytest.raises(VocabularyError, match="has 264 tokens, but the tokenizer has 265"):
        bpe.convert(source, new, into=model(tmp_path, rows=264, tokens=...), texts=20)


def test_a_model_is_not_overwritten_by_its_tokenizer(tmp_path: Path) -> None:
    path = model(tmp_path)
    old = path.read_bytes()
    with pytest.raises(VocabularyError, match="has tensors, which would be lost; pass into="):
        bpe.convert(made("python", preset="gpt2"), path)
    assert path.read_bytes() == old


def test_a_model_that_shrinks_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = model(tmp_path)
    prove = convert_module._prove

    def shrink(*arguments: Any) -> int:
        path.write_bytes(path.read_bytes()[:-40])
        return prove(*arguments)

    monkeypatch.setattr(convert_module, "_prove", shrink)
    with pytest.raises(VocabularyError, match="the file has changed while it was copied"):
        bpe.convert(made("python", preset="gpt2", special=()), tmp_path / "new.gguf", into=path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.gguf"]


def test_models_that_cannot_be_changed(tmp_path: Path) -> None:
    source, new = made("python", preset="gpt2", special=()), tmp_path / "new.gguf"
    path = model(tmp_path)
    data = path.read_bytes()
    for size in range(0, data.index(b"blk.2") + 30, 41):
        path.write_bytes(data[:size])
        with pytest.raises(VocabularyError):
            bpe.convert(source, new, into=path)
    with pytest.raises(UnsupportedError, match="little-endian"):
        bpe.convert(source, new, into=model(tmp_path, tensors=0, order=">"))
    assert not new.exists()


def test_text_models(tmp_path: Path) -> None:
    """A file of SentencePiece's BPE gets the same metadata again."""
    path = write(tmp_path / "old.gguf", gguf_file(sentencepiece_metadata()))
    source = bpe.load(path, backend="python")
    bpe.convert(source, tmp_path / "new.gguf", texts=20)
    old, new = keys_of(path), keys_of(tmp_path / "new.gguf")
    for key in ("model", "tokens", "token_type", "bos_token_id", "eos_token_id"):
        assert new[f"tokenizer.ggml.{key}"] == old[f"tokenizer.ggml.{key}"], key
