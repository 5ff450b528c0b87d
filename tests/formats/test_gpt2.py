"""GPT-2's format: vocab.json with merges.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, BpeError, UnsupportedError, VocabularyError
from bpe.normalizers.chain import NFC
from paths import shared
from pretok.machine.backend import BackendName
from vocabulary_files import TEXTS, added, gpt2_files, huggingface, made, made_vocabulary, write


def test_either_file_finds_the_other(tmp_path: Path, backend: BackendName) -> None:
    vocab, merges = gpt2_files(tmp_path)
    ours = bpe.load((vocab, merges), "gpt2", {"<|end|>": 300}, backend=backend)
    assert ours == made(backend, preset="gpt2")
    for given in (vocab, merges, tmp_path, str(merges)):
        assert bpe.load(given, "gpt2", {"<|end|>": 300}, backend=backend) == ours


def test_ids_equal_hugging_face(tmp_path: Path, backend: BackendName) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    vocab, merges = gpt2_files(tmp_path, "small_")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocab), str(merges)))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours = bpe.load(vocab, "gpt2", backend=backend)
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids


def test_prefix_of_the_names(tmp_path: Path) -> None:
    for prefix in ("small_", "small-", "small."):
        vocab, merges = gpt2_files(tmp_path, prefix)
        assert bpe.load(vocab, "gpt2") == bpe.load(merges, "gpt2")
    with pytest.raises(VocabularyError, match=r"the other file .*, merges.txt, is not in the same"):
        bpe.load(vocab.rename(tmp_path / "vocab.json"), "gpt2")
    with pytest.raises(VocabularyError, match=r"so the name of its vocab.json is unknown;"):
        bpe.load(merges.rename(tmp_path / "pairs"), "gpt2")


def test_names_of_openai(tmp_path: Path) -> None:
    vocab, merges = gpt2_files(tmp_path)
    expected = bpe.load((vocab, merges), "gpt2")
    vocab = vocab.rename(tmp_path / "encoder.json")
    merges = merges.rename(tmp_path / "vocab.bpe")
    for given in (vocab, merges, tmp_path):
        assert bpe.load(given, "gpt2") == expected


def test_a_byte_without_a_token_is_dropped(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    entries = huggingface()["model"]["vocab"]
    del entries["z"]
    vocab, merges = gpt2_files(tmp_path)
    write(vocab, entries)
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocab), str(merges)))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours = bpe.load(vocab, "gpt2")
    for text in (*TEXTS, "zabzc z the"):
        assert ours.encode(text) == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text.replace("z", "")


def test_a_preset_is_needed(tmp_path: Path) -> None:
    vocab, merges = gpt2_files(tmp_path)
    for given in (tmp_path, vocab, (vocab, merges)):
        with pytest.raises(VocabularyError, match=r"do not say how to split text; pass preset="):
            bpe.load(given)


@pytest.mark.parametrize(
    "merges",
    [
        "#version: 0.2\r\na b\r\nab c\r\n",
        "a b\nab c",
        "\n#version: 0.2\n\na b\n\n\nab c\n\n",
        "\ufeffa b\nab c\n",
    ],
)
def test_forms_of_merges(tmp_path: Path, merges: str) -> None:
    vocab, _ = gpt2_files(tmp_path)
    write(tmp_path / "merges.txt", merges)
    found = bpe.load(vocab, "gpt2", backend="python").vocabulary
    assert found.merges == ((97, 98, 256), (256, 99, 258))


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ("a b\nab\n", r"merges.txt: line 2 is 'ab'; expected two tokens"),
        ("a b\nab c d\n", r"merges.txt: line 2 is 'ab c d'; expected two tokens"),
        ("#version: 0.2\na b\nab  c\n", r"merges.txt: line 3 is 'ab  c'"),
        ("a b\n\nz z\n", r"merges.txt line 3 merges 'z' and 'z', but .* no token 'zz'"),
        ("a b\na b", r"merges.txt: line 2 makes the same token as an earlier line"),
    ],
)
def test_bad_merges(tmp_path: Path, merges: str, message: str) -> None:
    vocab, path = gpt2_files(tmp_path)
    write(path, merges)
    with pytest.raises(VocabularyError, match=message):
        bpe.load(vocab, "gpt2")


def test_merges_that_are_not_utf8(tmp_path: Path) -> None:
    vocab, path = gpt2_files(tmp_path)
    write(path, b"a b\n\xff a\n")
    with pytest.raises(VocabularyError, match=r"merges.txt: line 2 is not UTF-8: byte 0xff"):
        bpe.load(vocab, "gpt2")


def test_config_beside_the_files(tmp_path: Path) -> None:
    tokens = {"300": added(300, "<|x|>", lstrip=True), "301": added(301, "y", special=False)}
    for token in tokens.values():
        del token["id"]
    write(
        tmp_path / "tokenizer_config.json",
        {"added_tokens_decoder": tokens, "add_prefix_space": True, "model_max_length": 10**30},
    )
    vocab, _ = gpt2_files(tmp_path)
    ours = bpe.load(vocab, "gpt2")
    assert ours.added_tokens == (AddedToken("<|x|>", 300, lstrip=True), AddedToken("y", 301, False))
    assert ours.add_prefix_space
    assert bpe.load(vocab, "gpt2", {}).added_tokens == ()


@pytest.mark.parametrize(
    "config",
    [
        {"tokenizer_class": "GPT2Tokenizer", "bos_token": None},
        {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True, "pad_token": "<|p|>"},
        {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "unk_token": None,
         "pad_token": None, "additional_special_tokens": ["<|a|>", "<|b|>"]},
        {"tokenizer_class": "Qwen2TokenizerFast", "added_tokens_decoder": {
            "300": {"content": "<|x|>", "lstrip": True, "special": True}}},
    ],
)  # fmt: skip
def test_classes_of_transformers(tmp_path: Path, backend: BackendName, config: Any) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    vocab, _ = gpt2_files(tmp_path)
    ids = huggingface()["model"]["vocab"]
    write(vocab, ids | {"<|endoftext|>": len(ids)})
    write(tmp_path / "tokenizer_config.json", config)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ours = bpe.load(tmp_path, backend=backend)
    assert ours.normalizer == (NFC if "Qwen2" in config["tokenizer_class"] else None)
    listed = theirs.added_tokens_decoder.items()
    assert {token.id: token.content for token in ours.added_tokens} == {
        id: token.content for id, token in listed
    }
    for text in (*TEXTS, "e\u0301 2024's", "<|endoftext|>a <|a|>", " <|x|><|im_end|>a<|p|>"):
        assert ours.encode(text, "allow") == theirs.encode(text, add_special_tokens=False), text


def test_a_class_that_adds_ids_does_not_say_the_split(tmp_path: Path) -> None:
    gpt2_files(tmp_path)
    for config in ({"add_bos_token": True, "tokenizer_class": "GPT2Tokenizer"},
                   {"tokenizer_class": "OtherTokenizer"}, {"tokenizer_class": 5}):  # fmt: skip
        write(tmp_path / "tokenizer_config.json", config)
        with pytest.raises(BpeError, match="do not say how to split text"):
            bpe.load(tmp_path)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"added_tokens_decoder": {"x": added(1, "x")}}, VocabularyError, "added_tokens_decoder.x"),
        (
            {"added_tokens_decoder": {"300": {"content": "x", "single_word": None}}},
            VocabularyError,
            "300.single_word is",
        ),
        ({"added_tokens_decoder": {"300": {"surprise": 1}}}, UnsupportedError, "300.surprise is 1"),
        ({"add_prefix_space": "yes"}, VocabularyError, 'add_prefix_space is "yes"'),
        ("[]", VocabularyError, r"the file is \[\]; expected an object"),
    ],
)
def test_bad_config(tmp_path: Path, config: Any, error: type[Exception], message: str) -> None:
    path = write(tmp_path / "tokenizer_config.json", config)
    vocab, _ = gpt2_files(tmp_path)
    with pytest.raises(error, match=message) as caught:
        bpe.load(vocab, "gpt2")
    assert str(caught.value).startswith(f"{path}: ")


def test_a_special_token_in_vocab_json_is_not_merged_from_text(tmp_path: Path) -> None:
    vocab, _ = gpt2_files(tmp_path)
    write(vocab, huggingface()["model"]["vocab"] | {"<|end|>": 300})
    ours = bpe.load(vocab, "gpt2", {"<|end|>": 300})
    assert ours.vocabulary == made_vocabulary()
    assert ours.encode("<|end|>", "allow") == [300]
    with pytest.raises(VocabularyError, match="has id 300, which is the id of"):
        bpe.load(vocab, "gpt2", {"<|other|>": 300})


def test_real_qwen2(backend: BackendName) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    files = shared("vocabs", "qwen2_vocab.json"), shared("vocabs", "qwen2_merges.txt")
    ours = bpe.load(files, "qwen2", normalizer="NFC", backend=backend)
    assert ours.special_tokens == {
        "<|endoftext|>": 151643,
        "<|im_start|>": 151644,
        "<|im_end|>": 151645,
    }
    assert ours.preset is not None
    kinds = tokenizers.pre_tokenizers
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(*map(str, files)))
    theirs.normalizer = tokenizers.normalizers.NFC()
    theirs.pre_tokenizer = kinds.Sequence(
        [
            kinds.Split(tokenizers.Regex(ours.preset.pattern), "isolated"),
            kinds.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    theirs.add_special_tokens(
        [tokenizers.AddedToken(text, normalized=False) for text in ours.special_tokens]
    )
    for name in ("multilingual.txt", "code.txt", "naughty_strings.txt"):
        text = shared("texts", name).read_text("utf-8")[:30_000] + "<|im_start|>e\u0301"
        assert ours.encode(text, "allow") == theirs.encode(text).ids
