"""A part Digits after ByteLevel, as in Falcon's tokenizer.json, gives the ids of tokenizers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, decoders, models, trainers
from tokenizers import pre_tokenizers as blocks

import bpe
from bpe.byte_level import to_text
from bpe.compat import huggingface
from bpe.errors import UnsupportedError
from gguf_files import loaded, metadata
from pretok.machine.backend import BackendName
from pretok.patterns.lookup import WHOLE
from support import max_examples

THREE = blocks.Split(Regex("[0-9][0-9][0-9]"), "isolated")
TRAINING = "мир труд ½ месяца ²о ¼ 12345 abc 1² 3 世界½界 ¾ й в 2024 " * 20
TEXTS = st.text(st.sampled_from(" ½²³¼¾¹٣۲۳0129abмирв中界文ï，\n's.!Ⅷ５"), max_size=14)


def pre_tokenizer(individual: bool = False, use_regex: bool = True) -> Any:
    return blocks.Sequence([
        blocks.Punctuation("contiguous"), blocks.ByteLevel(False, use_regex=use_regex),
        blocks.Digits(individual), THREE,
    ])  # fmt: skip


def trained(part: Any, **options: Any) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = part
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340, initial_alphabet=blocks.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([TRAINING], trainer)
    return tokenizer


REAL = {
    "falcon": trained(pre_tokenizer()),
    "individual": trained(pre_tokenizer(individual=True)),
    "without regex": trained(pre_tokenizer(use_regex=False)),
    "only digits": trained(blocks.Sequence([blocks.ByteLevel(False), blocks.Digits(False)])),
    "only a split": trained(blocks.Sequence([blocks.ByteLevel(False), THREE])),
}


@cache
def ours(name: str, backend: BackendName) -> bpe.Tokenizer:
    """Load the tokenizer.json of a tokenizer of REAL."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        REAL[name].save(str(path))
        return bpe.load(path, backend=backend)


@given(name=st.sampled_from(sorted(REAL)), text=TEXTS)
@example("falcon", "ied 4 ½ months")
@example("falcon", "½123 1² ½12")
@settings(max_examples=max_examples(500))
def test_the_ids_are_those_of_tokenizers(backend: BackendName, name: str, text: str) -> None:
    found = ours(name, backend).encode(text)
    assert found == REAL[name].encode(text).ids
    assert ours(name, backend).decode(found) == text


def test_the_split_of_falcon_is_known(backend: BackendName, tmp_path: Path) -> None:
    tokenizer = ours("falcon", backend)
    assert tokenizer.preset is not None
    assert tokenizer.preset.name == "falcon"
    for name in ("again.json", "again.pretok"):
        tokenizer.save(tmp_path / name)
        assert bpe.load(tmp_path / name, backend=backend) == tokenizer
    real = tokenizers.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in (TRAINING, "ied 4 ½ months", "½123 1² ½12"):
        assert real.encode(text).ids == REAL["falcon"].encode(text).ids


def changed(tmp_path: Path, **model: Any) -> Path:
    """Write the tokenizer.json of Falcon's split with members of the model replaced."""
    value = json.loads(REAL["falcon"].to_str())
    value["model"] |= model
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("pair", [b"\xbc5", b" \xbd", b"\xb2\xd0"])
def test_a_merge_that_the_split_prevents_is_refused(
    tmp_path: Path, backend: BackendName, pair: bytes
) -> None:
    model = json.loads(REAL["falcon"].to_str())["model"]
    left, right = to_text(pair[:1]), to_text(pair[1:])
    vocab = model["vocab"] | {left + right: len(model["vocab"])}
    path = changed(tmp_path, vocab=vocab, merges=[*model["merges"], [left, right]])
    with pytest.raises(UnsupportedError, match=r"pretokenizers\[2\]: it isolates the bytes B2"):
        bpe.load(path, backend=backend)
    assert bpe.load(path, preset=WHOLE, backend=backend).encode(pair) == [len(vocab) - 1]


def test_a_look_up_of_whole_pre_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="ignore_merges"):
        bpe.load(changed(tmp_path, ignore_merges=True))


@pytest.mark.parametrize(
    "part", [blocks.Split(Regex("[0-9]{3}$"), "isolated"), blocks.Punctuation(), blocks.ByteLevel()]
)
def test_other_parts_after_byte_level_are_refused(tmp_path: Path, part: Any) -> None:
    real = trained(blocks.Sequence([blocks.ByteLevel(False), blocks.Digits(False), part]))
    path = tmp_path / "tokenizer.json"
    real.save(str(path))
    with pytest.raises(UnsupportedError, match="pre_tokenizer"):
        bpe.load(path)


def test_the_stand_in_leaves_it_to_tokenizers() -> None:
    """The words of an encoding are pieces of the split, also within a code point."""
    wrapped = huggingface.Tokenizer.from_str(REAL["falcon"].to_str())
    text = "мир ½ 12345"
    assert wrapped.encode(text).word_ids == REAL["falcon"].encode(text).word_ids
    served = huggingface.engine(wrapped)
    assert served.name != "bpe"
    assert "isolates the bytes" in served.reason


def test_gguf(tmp_path: Path, backend: BackendName) -> None:
    """A GGUF file of Falcon is checked, too."""
    tokens = metadata()["tokenizer.ggml.tokens"]
    assert loaded(tmp_path, backend=backend, pre="falcon").encode("½1") == [
        tokens.index(to_text(bytes([byte]))) for byte in "½1".encode()
    ]
    merges = [f"{to_text(b' ')} {to_text(bytes([0xBD]))}"]
    with pytest.raises(UnsupportedError, match=r"tokenizer\.ggml\.pre: it isolates the bytes B2"):
        loaded(
            tmp_path, backend=backend, pre="falcon", tokens=[*tokens, to_text(b" \xbd")],
            token_type=..., merges=merges,
        )  # fmt: skip
