"""Published files are known by their content, and have the ids of the packages with them."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import unicodedata
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bpe
from bpe import MissingPresetError, UnknownVocabularyError, VocabularyError, VocabularyWarning
from bpe.hub.published import PUBLISHED
from bpe.normalizers.chain import NFC
from paths import shared
from support import max_examples, seeded

FILES = {
    "llama3": "llama3_tokenizer.model",
    "qwen": "qwen.tiktoken",
    "whisper": "whisper_multilingual.tiktoken",
    "r50k_base": "r50k_base.tiktoken",
    "p50k_base": "p50k_base.tiktoken",
    "cl100k_base": "cl100k_base.tiktoken",
    "o200k_base": "o200k_base.tiktoken",
}
PIECES = [
    *"aZ é\u0301中ア1²!\n\r\t😀", "'ll", "'S", "  ", "hello", "World", "123", "<|endoftext|>",
    "\r\n", "<|im_end|>", "<|eot_id|>", "<|eot|>", "<|0.02|>", "<|begin_of_text|>",
]  # fmt: skip


def in_package(package: str, name: str) -> Path:
    """Return the path of a file of an installed package; skip the test without the package."""
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    return Path(str(next(file.locate() for file in listed if str(file).endswith(name))))


def module(path: Path, name: str) -> ModuleType:
    """Return the module of the file `path`, without the rest of its package."""
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def llama(version: int) -> tuple[Path, dict[str, int], Callable[[str], list[int]]]:
    path = in_package("llama-models", f"llama_models/llama{version}/tokenizer.model")
    own = importlib.import_module(f"llama_models.llama{version}.tokenizer").Tokenizer(path)
    return path, own.special_tokens, lambda text: own.model.encode(text, allowed_special="all")


def qwen() -> tuple[Path, dict[str, int], Callable[[str], list[int]]]:
    path = in_package("dashscope", "resources/qwen.tiktoken")
    own = importlib.import_module("dashscope.tokenizers.qwen_tokenizer").QwenTokenizer(str(path))
    return path, own._special_tokens, own.encode


def whisper(asset: str, languages: int) -> tuple[Path, dict[str, int], Callable[[str], list[int]]]:
    path = in_package("openai-whisper", f"assets/{asset}.tiktoken")
    source = in_package("openai-whisper", "whisper/tokenizer.py")
    encoding = module(source, "whisper_tokenizer").get_encoding(asset, languages)
    return path, encoding._special_tokens, lambda text: encoding.encode(text, allowed_special="all")


PACKAGES: dict[str, Callable[[], tuple[Path, dict[str, int], Callable[[str], list[int]]]]] = {
    "llama3": lambda: llama(3),
    "llama4": lambda: llama(4),
    "qwen": qwen,
    "whisper": lambda: whisper("multilingual", 99),
    "whisper_large_v3": lambda: whisper("multilingual", 100),
    "whisper_en": lambda: whisper("gpt2", 99),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_ids_equal_those_of_the_package(name: str) -> None:
    path, special, encode = PACKAGES[name]()
    assert dict(PUBLISHED[name].special_tokens) == special
    shares_file = name in ("whisper_large_v3", "whisper_en")
    ours = bpe.load(path, special_tokens=special if shares_file else None)
    assert ours.special_tokens == special
    random = seeded(f"published {name}")
    for _ in range(max_examples(200)):
        text = "".join(random.choices(PIECES, k=random.randrange(12)))
        assert ours.encode(text, "allow") == encode(text), text


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_known_under_any_name(name: str, tmp_path: Path) -> None:
    data, known = shared("vocabs", FILES[name]).read_bytes(), PUBLISHED[name]
    lines = data.replace(b"\n", b"\r\n")
    for path, content in (
        ("a.bin", data), ("a.tiktoken.gz", gzip.compress(data, 1)), ("windows", lines)
    ):  # fmt: skip
        (tmp_path / path).write_bytes(content)
        ours = bpe.load(tmp_path / path)
        assert ours.name == name
        assert ours.normalizer == (NFC if known.normalizer else None)
        assert ours.special_tokens == known.special_tokens
        assert ours.preset is not None
        assert ours.preset.name == known.preset
    (tmp_path / "a.bin").write_bytes(data[: data.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(MissingPresetError):
        bpe.load(tmp_path / "a.bin")


def test_qwen_normalizes_text_before_it_finds_special_tokens() -> None:
    ours = bpe.load(shared("vocabs", "qwen.tiktoken"))
    assert ours.encode("e\u0301") == ours.encode("é")
    text = "<|im_end|>\u0338"  # ">" and this mark become one character
    assert unicodedata.normalize("NFC", text) == "<|im_end|\u226f"
    assert 151645 not in ours.encode(text, "allow")
    # With a preset, the file is a plain rank file, except for its special tokens.
    plain = bpe.load(shared("vocabs", "qwen.tiktoken"), "qwen2")
    assert plain.normalizer is None
    assert plain.special_tokens == ours.special_tokens


def test_arguments_win_and_contradictions_are_named() -> None:
    path = shared("vocabs", "llama3_tokenizer.model")
    with pytest.warns(VocabularyWarning, match="preset 'gpt2' splits .* with 'llama3'; without"):
        ours = bpe.load(path, "gpt2")
    assert ours.preset is not None
    assert ours.preset.name == "gpt2"
    special = {"<|eot_id|>": 128001}
    match = r"special_tokens gives '<\|eot_id\|>' the id 128001, but .* llama3 it has the id 128009"
    with pytest.warns(VocabularyWarning, match=match):
        assert bpe.load(path, special_tokens=special).special_tokens == special


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("llama3", {"preset": "llama3"}),
        ("llama3", {"special_tokens": {"<|mine|>": 128256}}),
        ("r50k_base", {"preset": "gpt2"}),
        ("r50k_base", {"special_tokens": PUBLISHED["whisper_en"].special_tokens}),
        ("whisper", {"special_tokens": PUBLISHED["whisper_large_v3"].special_tokens}),
        ("o200k_base", {"special_tokens": PUBLISHED["o200k_base"].special_tokens}),
        ("p50k_base", {"special_tokens": PUBLISHED["p50k_edit"].special_tokens}),
    ],
)
def test_arguments_that_fit_a_vocabulary_with_this_file(name: str, arguments: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bpe.load(shared("vocabs", FILES[name]), **arguments)


def test_names_of_files_without_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    with pytest.raises(UnknownVocabularyError, match="get it from the package dashscope on PyPI"):
        bpe.load("qwen")
    with pytest.raises(UnknownVocabularyError, match=r"qwen has no URL .* package dashscope"):
        bpe.fetch("qwen")
    (tmp_path / "qwen.tiktoken").write_bytes(shared("vocabs", "qwen.tiktoken").read_bytes())
    assert bpe.load("qwen").name == "qwen"
    (tmp_path / "qwen.tiktoken").write_bytes(b"IQ== 0\n")
    with pytest.raises(VocabularyError, match=r"got another or damaged .* get it from the package"):
        bpe.load("qwen")
    multilingual = shared("vocabs", FILES["whisper"]).read_bytes()
    (tmp_path / "multilingual.tiktoken").write_bytes(multilingual)
    tokenizer = bpe.load("whisper_large_v3")
    assert tokenizer.name == "whisper_large_v3"
    assert tokenizer.token_id("<|notimestamps|>") == 50364


def test_a_file_is_hashed_only_if_its_size_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    from bpe.hub import published

    hashed: list[int] = []

    def sha256(data: bytes) -> Any:
        hashed.append(len(data))
        return hashlib.sha256(data)

    monkeypatch.setattr(published, "sha256", sha256)
    data = shared("vocabs", "o200k_base.tiktoken").read_bytes()
    assert [each.name for each in published.vocabularies_of((data,))] == [
        "o200k_base",
        "o200k_harmony",
    ]
    assert published.vocabularies_of((data[:-1],)) == []
    assert hashed == [len(data)]
