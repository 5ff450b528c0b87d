"""Byte-level vocabularies that lack tokens of some bytes: .pretok files and the C interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, Tokenizer, UnsupportedError
from bpe.characters.text_vocabulary import TextOptions, TextVocabulary
from bpe.decoders.chain import DecoderChain
from bpe.decoders.steps import ByteLevel
from bpe.formats import pretok_file
from c_library import CLibrary, CTokenizer
from missing_bytes import TRAINED_ON, trained_without_bytes
from support import max_examples, seeded

OPTIONS: dict[str, dict[str, Any]] = {
    "dropped": {},
    "unknown": {"unk_token": "<unk>"},
    "fused": {"unk_token": "<unk>", "fuse_unk": True},
    "whole": {"ignore_merges": True, "unk_token": "<unk>"},
}
PARTS = [*"heZ \n\u00e9\u4e2d", "hello", " world", "ZZ", "\U0001f600", "<unk>", "\x00"]
BAD = [b"\xff", b"\xc3", b"\x80"]


def check(c_library: CLibrary, tok: Tokenizer, data: bytes, ours: CTokenizer) -> list[int]:
    """Compare one text, whole and in chunks; return its ids."""
    ids = tok.encode(data, "allow")
    assert ours.encode(data, "allow") == ids, data
    assert ours.stream([data[at : at + 3] for at in range(0, len(data), 3)], "allow") == ids
    assert ours.decode(ids) == tok.decode_bytes(ids)
    assert "".join(ours.decode_stream([[id] for id in ids], False)) == tok.decode(ids)
    return ids


@pytest.mark.parametrize("name", OPTIONS)
def test_bytes_that_training_never_saw(c_library: CLibrary, tmp_path: Path, name: str) -> None:
    theirs = trained_without_bytes(tmp_path / "tokenizer.json", **OPTIONS[name])
    tok = bpe.load(tmp_path / "tokenizer.json")
    tok.save(tmp_path / "small.pretok")
    data = (tmp_path / "small.pretok").read_bytes()
    loaded = bpe.load(tmp_path / "small.pretok", backend="python")
    assert loaded == tok
    assert pretok_file.dump(loaded.to_spec()) == data
    ours = CTokenizer(c_library, data)
    random = seeded(name)
    for text in [*TRAINED_ON, "", *("".join(random.choices(PARTS, k=random.randrange(20)))
                                    for _ in range(max_examples(60)))]:  # fmt: skip
        ids = check(c_library, tok, text.encode(), ours)
        assert ids == theirs.encode(text).ids == loaded.encode(text, "allow"), text
        assert tok.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
        check(c_library, tok, text.encode() + random.choice(BAD) + text.encode(), ours)


AB = {
    0: "a",
    1: "b",
    2: "ab",
    3: "\u0120",
    4: "\u0120a",
    5: "<s>",
    6: "\u4e2d",
    7: " ",
    8: "\u00ea",
}
MERGES = [(0, 1, 2), (3, 0, 4)]
OF_BYTES = DecoderChain((ByteLevel(),))


@pytest.mark.parametrize("normalizer", [None, "NFC"])
@pytest.mark.parametrize("ignores_merges", [False, True])
def test_all_other_options(
    c_library: CLibrary, normalizer: Any, ignores_merges: bool, tmp_path: Path
) -> None:
    """Entries that stand for no bytes, a prefix space, NFC, a split and added tokens."""
    options = TextOptions(unknown="\u4e2d", ignores_merges=ignores_merges, byte_level=True)
    added = [AddedToken("<s>", 5), AddedToken("ab b", 9, special=False, normalized=True)]
    vocabulary = TextVocabulary(AB, MERGES, options, [5])
    tok = Tokenizer(
        vocabulary, "llama3", added_tokens=added, normalizer=normalizer, add_prefix_space=True,
        decoder=OF_BYTES,
    )  # fmt: skip
    tok.save(tmp_path / "a.pretok")
    assert bpe.load(tmp_path / "a.pretok") == tok
    ours = CTokenizer(c_library, tmp_path / "a.pretok")
    random = seeded(f"{normalizer} {ignores_merges}")
    parts = ["a", "b", " a", "ab", "<s>", "ab b", "\u4e2d", "e\u0302", " ", "\n", "1", "\u00ea"]
    for _ in range(max_examples(60)):
        check(c_library, tok, "".join(random.choices(parts, k=8)).encode(), ours)


def made(changes: dict[str, Any]) -> Tokenizer:
    parts: dict[str, Any] = {"vocabulary": TextVocabulary(AB, MERGES, TextOptions(byte_level=True)),
             "decoder": OF_BYTES, **changes}  # fmt: skip
    return Tokenizer(parts.pop("vocabulary"), "gpt2", **parts)


@pytest.mark.parametrize(
    "changes",
    [
        {"added_tokens": [AddedToken("\u00e9", 9)]},
        {"vocabulary": TextVocabulary(AB, [(0, 1, 4)], TextOptions(byte_level=True))},
        {"vocabulary": TextVocabulary(AB, MERGES, TextOptions(byte_level=True, suffix="b"))},
    ],
)
def test_odd_models(c_library: CLibrary, changes: dict[str, Any], tmp_path: Path) -> None:
    """A character of an added token, a merge of another token, and a suffix."""
    tok = made(changes)
    tok.save(tmp_path / "a.pretok")
    assert bpe.load(tmp_path / "a.pretok", backend="python") == tok
    ours = CTokenizer(c_library, tmp_path / "a.pretok")
    random = seeded(str(sorted(changes)))
    for _ in range(max_examples(40)):
        check(c_library, tok, "".join(random.choices(["a", "b", " ", "é", "<s>"], k=7)).encode(),
              ours)  # fmt: skip


def test_models_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="without a decoder"):
        made({"decoder": None}).save(tmp_path / "a.pretok")
