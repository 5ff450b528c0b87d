"""CLIP's file of merges, bpe_simple_vocab_16e6.txt.gz."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

import bpe
from bpe import UnsupportedError, VocabularyError
from bpe.formats import clip
from pretok.byte_characters import BYTE_CHARACTERS
from support import seeded
from text_models import SENTENCES

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

WORDS = [*"aAéßIİ日Σς!'3", "the", "Hello", "don't", "'S", "  ", "\n\t", "e\u0301", "<|endoftext|>"]


@cache
def merges() -> list[str]:
    """Return merges that Hugging Face's trainer finds with end_of_word_suffix."""
    live = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix=clip.END_OF_WORD))
    live.normalizer = tokenizers.normalizers.Lowercase()
    live.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(clip.PATTERN), "removed", invert=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, end_of_word_suffix=clip.END_OF_WORD, show_progress=False
    )
    live.train_from_iterator(SENTENCES, trainer)
    return [" ".join(merge) for merge in json.loads(live.to_str())["model"]["merges"]]


def text_of(lines: list[str]) -> bytes:
    return "\n".join([clip.FIRST_LINE + ": 0.2", *lines, ""]).encode()


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_ids(tmp_path: Path) -> None:
    """The ids are, in order: the characters of bytes, each with </w>, merges, special tokens."""
    lines = merges()
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", text_of(lines)), backend="python")
    chars = sorted(BYTE_CHARACTERS)
    names = [*chars, *(char + "</w>" for char in chars), *(line.replace(" ", "") for line in lines)]
    assert ours.special_tokens == {
        "<|startoftext|>": len(names),
        "<|endoftext|>": len(names) + 1,
    }
    assert "the</w>" in names
    assert ours.encode("  THE the3\n") == [names.index(x) for x in ("the</w>", "the</w>", "3</w>")]
    assert ours.decode(ours.encode("The 日")) == "the 日 "
    assert ours.encode("a", add_special_tokens=True) == [
        len(names), names.index("a</w>"), len(names) + 1
    ]  # fmt: skip
    ids = {"<start_of_text>": len(names), "<end_of_text>": len(names) + 1}  # open_clip 3's names
    renamed = bpe.load(tmp_path / "vocab.txt.gz", special_tokens=ids, backend="python")
    assert renamed.special_tokens == ids
    plain = tmp_path / "vocab.txt"
    plain.write_bytes(text_of(lines))
    assert bpe.load(plain, backend="python") == ours


def test_ids_and_texts_equal_hugging_face(tmp_path: Path) -> None:
    ours = bpe.load(packed(tmp_path / "vocab.txt.gz", text_of(merges())))
    ours.save(tmp_path / "tokenizer.json")
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    random = seeded("clip")
    for _ in range(200):
        text = "".join(random.choices(WORDS, k=random.randrange(8)))
        expected = live.encode(text, add_special_tokens=False)
        assert ours.encode(text, "allow") == expected.ids, text
        assert [(token.start, token.end) for token in ours.tokens(text, "allow")] == (
            expected.offsets
        )
        assert ours.decode(expected.ids) == (
            live.decode(expected.ids, skip_special_tokens=False) if expected.ids else ""
        )


def test_lines_after_the_last_merge_of_clip_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip, "MERGES", 3)
    path = packed(tmp_path / "vocab.txt.gz", text_of(["a b", "ab c", "c d", "d"]))
    ours = bpe.load(path, backend="python")
    assert ours.special_tokens["<|startoftext|>"] == 515


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (gzip.compress(b"\x80\x03a b", mtime=0), UnsupportedError, "this is a pickle"),
        (
            gzip.compress(text_of(["a b"]), mtime=0)[:-9],
            VocabularyError,
            "gzip file is damaged or trunc",
        ),
        (b"\x1f\x8bxxxx", VocabularyError, "gzip file is damaged or truncated"),
        (text_of(["a b", "a"]), VocabularyError, "line 3 is 'a'; expected two tokens with a sp"),
        (text_of(["a bc"]), VocabularyError, r"merges 'a' and 'bc', but .* no token 'bc'"),
        (text_of(["a b"])[:-1] + b"\xff", VocabularyError, "line 2 is not UTF-8"),
    ],
    ids=["another gzip file", "truncated", "damaged", "one token", "unknown token", "not UTF-8"],
)
def test_damaged(tmp_path: Path, data: bytes, error: type[Exception], match: str) -> None:
    path = tmp_path / "vocab.gz"
    path.write_bytes(data)
    with pytest.raises(error, match=match):
        bpe.load(path)


def test_size_is_bounded(tmp_path: Path) -> None:
    bomb = text_of(["a b"]) + bytes(1 << 22)
    with pytest.raises(VocabularyError, match="holds more than 1,4.*; expected a vocabulary"):
        bpe.load(packed(tmp_path / "vocab.gz", bomb))
