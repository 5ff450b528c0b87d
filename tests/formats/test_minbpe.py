"""minbpe's .model files, and the exercise of minbpe: to recover the merges of cl100k_base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, Template, UnsupportedError, Vocabulary, VocabularyError
from paths import shared
from pretok import Preset, Run
from pretok.charsets import LETTER
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from pretok.pre_tokenizer import PreTokenizer
from pretok.presets import GPT2
from vocabularies import installed_ranks
from vocabulary_files import TEXTS, made, made_vocabulary, minbpe_text, write

GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)


def test_round_trip(tmp_path: Path, backend: BackendName) -> None:
    path = tmp_path / "small.model"
    made(backend, preset="llama3").save(path)
    preset = made(backend, preset="llama3").preset
    assert preset is not None
    assert path.read_text(encoding="utf-8") == minbpe_text(pattern=preset.pattern)
    assert bpe.load(path, backend=backend) == made(backend, preset="llama3")


@pytest.mark.parametrize("preset", ["gpt2", "r50k", "cl100k", "llama3", "qwen2", "o200k", WHOLE])
def test_presets_are_saved_and_loaded(tmp_path: Path, preset: Any) -> None:
    tokenizer = made("python", preset=preset)
    tokenizer.save(tmp_path / "small.model")
    assert bpe.load(tmp_path / "small.model", backend="python") == tokenizer


@pytest.mark.parametrize(("pattern", "preset"), [("", "whole"), (GPT4, "llama3")])
def test_files_that_minbpe_writes(tmp_path: Path, pattern: str, preset: str) -> None:
    path = write(tmp_path / "a.model", minbpe_text(pattern=pattern))
    tokenizer = bpe.load(path, backend="python")
    assert tokenizer.preset is not None
    assert tokenizer.preset.name == preset
    assert tokenizer.special_tokens == {"<|end|>": 300}
    assert tokenizer.vocabulary == made_vocabulary()
    crlf = write(tmp_path / "b.model", minbpe_text(pattern=pattern).replace("\n", "\r\n"))
    assert bpe.load(crlf, backend="python") == tokenizer


def test_other_pattern_needs_a_preset(tmp_path: Path) -> None:
    path = write(tmp_path / "a.model", minbpe_text(pattern=r"\w+|\W+"))
    with pytest.raises(VocabularyError, match=r"no preset has the pattern of line 2.*preset="):
        bpe.load(path)
    assert bpe.load(path, "gpt2", backend="python").preset == made(preset="gpt2").preset


def test_more_special_tokens_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "a.model", minbpe_text())
    given = {"<|end|>": 300, "<|more|>": 301}
    assert bpe.load(path, special_tokens=given, backend="python").special_tokens == given
    with pytest.raises(VocabularyError, match=r"'<\|end\|>' the id 299, but the file says 300"):
        bpe.load(path, special_tokens={"<|end|>": 299})


def test_bytes_with_other_ids(tmp_path: Path, backend: BackendName) -> None:
    vocabulary = made_vocabulary(byte_ids=reversed(range(256)))
    tokenizer = made(backend, vocabulary)
    path = tmp_path / "small.model"
    tokenizer.save(path)
    # minbpe refuses this file, because it asserts that the first line is "minbpe v1".
    assert path.read_text(encoding="utf-8").splitlines()[0].startswith("minbpe v1 bytes=fffefd")
    assert bpe.load(path, backend=backend) == tokenizer


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("minbpe v2\n\n0\n", UnsupportedError, "line 1 is 'minbpe v2'; expected 'minbpe v1'"),
        (
            "minbpe v1 bytes=00\n\n0\n",
            VocabularyError,
            "line 1: expected 256 different ids after 'bytes='",
        ),
        (
            "minbpe v1 bytes=zz\n\n0\n",
            VocabularyError,
            "line 1: expected 256 different ids after 'bytes='",
        ),
        ("minbpe v1\n", VocabularyError, "the file ends with line 1"),
        ("minbpe v1\n\nmany\n", VocabularyError, "line 3 is 'many'; expected a number"),
        ("minbpe v1\n\n3\n<a> 300\n", VocabularyError, "announces 3 special tokens, but .* line 4"),
        ("minbpe v1\n\n1\n300\n", VocabularyError, "line 4 is '300'; expected a special token"),
        ("minbpe v1\n\n1\n< > 300\n", VocabularyError, "line 4 is '< > 300'; expected a special"),
        ("minbpe v1\n\n1\n<a> x\n", VocabularyError, "line 4 is '<a> x'; expected a special"),
        ("minbpe v1\n\n0\n97\n", VocabularyError, "line 4 is '97'; expected two ids"),
        ("minbpe v1\n\n0\n97 -1\n", VocabularyError, "line 4 is '97 -1'; expected two ids"),
        ("minbpe v1\n\n0\n97 256\n", VocabularyError, "line 4 merges token 256, which no earlier"),
        (
            "minbpe v1\n\n0\n97 98",
            VocabularyError,
            "line 4 has no line break; the file is truncated",
        ),
        (
            "minbpe v1\n\n0\n97 97\n" + "".join(f"{id} {id}\n" for id in range(256, 300)),
            VocabularyError,
            "line 20 makes a token of 131072 bytes",
        ),
        ("minbpe v1\n\n1\n<a> 97\n", VocabularyError, "has id 97, which is the id of b'a'"),
    ],
)
def test_malformed(tmp_path: Path, text: str, error: type[Exception], message: str) -> None:
    path = write(tmp_path / "a.model", text)
    with pytest.raises(error, match=message) as caught:
        bpe.load(path, "gpt2")
    assert str(path) in str(caught.value)


_OWN = Preset("letters", rules=(Run(LETTER),), engine="hf", pattern=r"[[a-z]&&[^x]]+")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalizer": "NFC"}, "cannot hold the normalizer NFC; save the"),
        ({"add_prefix_space": True}, "cannot hold add_prefix_space; save the"),
        ({"template": Template((300,))}, r"cannot hold the template \("),
        ({"added_tokens": [AddedToken("a b", 300)]}, "contains white space"),
        ({"added_tokens": [AddedToken("a\nb", 300)]}, "contains white space"),
        ({"added_tokens": [AddedToken("ab", 256, special=False)]},
         r"the flags of 1 added token \('ab'\)"),
        ({"added_tokens": [AddedToken("x", 300, lstrip=True)]},
         r"the flags of 1 added token \('x'\)"),
        ({"preset": _OWN}, "no pattern that splits like preset 'letters'"),
        ({"preset": Preset("none", rules=(Run(LETTER),))}, "that splits like preset 'none'"),
        ({"preset": Preset("n", rules=(Run(LETTER),), engine="tiktoken", pattern="a\nb")},
         "has line breaks or white space"),
        ({"preset": PreTokenizer(GPT2, "17.0")}, "got Unicode 17.0"),
        ({"vocabulary": Vocabulary({**made_vocabulary().token_bytes, 264: b"xy"},
                                   made_vocabulary().merges)}, "no merge makes token 264"),
        ({"vocabulary": Vocabulary({**made_vocabulary([]).token_bytes, 257: b"ab"},
                                   [(97, 98, 257)])}, "expected merge 0 to make id 256, got 257"),
        ({"vocabulary": Vocabulary({**made_vocabulary([]).token_bytes, 256: b"xyz"})},
         "no two tokens merge to token 256, b'xyz'"),
        ({"vocabulary": Vocabulary({**{300 + i: bytes([i]) for i in range(256)}, 256: b"ab"},
                                   [(397, 398, 256)])}, "got ids from 300 to 555"),
        ({"vocabulary": Vocabulary(
            {**made_vocabulary([]).token_bytes, 256: b"bc", 257: b"ab", 258: b"abc"},
            [(98, 99, 256), (97, 98, 257), (257, 99, 258)], ignore_merges=True)},
         "the bytes of token 258, b'abc', do not merge to it"),
    ],
)  # fmt: skip
def test_tokenizers_that_the_format_cannot_hold(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(VocabularyError, match=message):
        made(**{"special": (), **options}).save(tmp_path / "a.model")
    assert list(tmp_path.iterdir()) == []


def test_exercise_of_minbpe(tmp_path: Path, backend: BackendName) -> None:
    """Recover the merges of cl100k_base from its ranks, save them as .model, and load the file."""
    size = 100_256 if backend == "native" else 20_256
    ranks = {id: token for token, id in installed_ranks("cl100k_base").items() if id < size}
    tokenizer = bpe.Tokenizer(Vocabulary(ranks), "cl100k", backend=backend)
    tokenizer.save(tmp_path / "cl100k.model")
    loaded = bpe.load(tmp_path / "cl100k.model", backend=backend)
    assert loaded.vocabulary.merges is not None
    assert len(loaded.vocabulary.merges) == size - 256
    assert loaded.preset == tokenizer.preset
    texts = [*TEXTS, "    hello world!!!", "the exercise is to recover the merges " * 20]
    texts += [text * 7 for text in TEXTS]
    for text in texts:
        assert loaded.encode(text) == tokenizer.encode(text)
    if backend == "native":
        assert loaded.encode("    hello world!!!") == [262, 24748, 1917, 12340]


def test_exercise_on_real_text(tmp_path: Path) -> None:
    path = shared("vocabs", "cl100k_base.tiktoken")
    tokenizer = bpe.load(path)
    tokenizer.save(tmp_path / "cl100k.model")
    loaded = bpe.load(tmp_path / "cl100k.model")
    for file in ("multilingual.txt", "code.txt", "naughty_strings.txt"):
        text = shared("texts", file).read_bytes()[:500_000]
        assert loaded.encode(text, "text") == tokenizer.encode(text, "text")
