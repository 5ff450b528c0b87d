"""`save` names each part of a tokenizer that the format cannot hold, and keeps all others."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import bpe
from bpe import AddedToken, Padding, Template, Truncation, VocabularyError
from bpe.decoders import steps
from bpe.decoders.chain import DecoderChain
from bpe.normalizers.chain import NormalizerChain
from bpe.normalizers.steps import Lowercase
from sentencepiece_models import BYTES, UNKNOWN, model, normal
from support import seeded
from vocabulary_files import made, write

# Each part, and the words of the error that name it.
PARTS: dict[str, tuple[Any, str]] = {
    "added_tokens": ([AddedToken("<|end|>", 300), AddedToken("<|a|>", 301)],
                     r"2 added tokens \('<\|end\|>', '<\|a\|>'\)"),
    "normalizer": ("NFC", "the normalizer NFC"),
    "add_prefix_space": (True, "add_prefix_space"),
    "template": (Template((97,), ()), r"the template \(add_special_tokens\)"),
    "decoder": (DecoderChain((steps.ByteLevel(), steps.Strip("x", 1, 0))), "the decoder"),
    "truncation": (Truncation(8, 0, "longest_first", "right"), "truncation"),
    "padding": (Padding(None, "right", 0, "!", 0, None), "padding"),
}  # fmt: skip
HELD: dict[str, set[str]] = {
    ".tiktoken": set(),
    ".model": {"added_tokens"},
    ".pretok": PARTS.keys() - {"truncation", "padding"},
    ".json": set(PARTS),
}


def loaded(path: Path) -> bpe.Tokenizer:
    return bpe.load(path, "gpt2" if path.suffix == ".tiktoken" else None, backend="python")


def with_parts(*names: str) -> bpe.Tokenizer:
    return made(
        "python", **{"preset": "gpt2", "special": (), **{name: PARTS[name][0] for name in names}}
    )


@pytest.mark.parametrize("suffix", HELD)
@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_held_or_named(tmp_path: Path, suffix: str, part: str) -> None:
    tokenizer, path = with_parts(part), tmp_path / f"a{suffix}"
    if part in HELD[suffix]:
        tokenizer.save(path)
        assert getattr(loaded(path), part) == getattr(tokenizer, part)
        return
    with pytest.raises(VocabularyError, match=f"cannot hold {PARTS[part][1]}.*lossy=True"):
        tokenizer.save(path)
    assert not path.exists()
    tokenizer.save(path, lossy=True)
    assert loaded(path).encode("ab abc") == with_parts().encode("ab abc")


@pytest.mark.parametrize("suffix", HELD)
def test_several_parts(tmp_path: Path, suffix: str) -> None:
    """With `lossy`, the parts that the format holds stay."""
    path = tmp_path / f"a{suffix}"
    for pair in combinations(PARTS, 2):
        tokenizer = with_parts(*pair)
        lost = [name for name in pair if name not in HELD[suffix]]
        if lost:
            expected = " and ".join(PARTS[name][1] for name in lost)
            with pytest.raises(VocabularyError, match=f"cannot hold {expected}"):
                tokenizer.save(path)
        tokenizer.save(path, lossy=True)
        for name in HELD[suffix].intersection(pair):
            assert getattr(loaded(path), name) == getattr(tokenizer, name)


def test_the_first_tokens_are_named(tmp_path: Path) -> None:
    tokens = [AddedToken(f"<{n}>", 300 + n) for n in range(200)]
    with pytest.raises(VocabularyError, match=r"200 added tokens \('<0>', '<1>', '<2>', …\)"):
        made(added_tokens=tokens).save(tmp_path / "a.tiktoken")


def test_flags_are_lost_with_their_tokens(tmp_path: Path) -> None:
    tokenizer = made(added_tokens=[AddedToken("<x>", 300, lstrip=True)])
    with pytest.raises(VocabularyError, match=r"cannot hold 1 added token \('<x>'\); save"):
        tokenizer.save(tmp_path / "a.tiktoken")


@pytest.mark.parametrize("flag", ["normalized", "lstrip", "rstrip", "single_word", "special"])
def test_flags_of_added_tokens(tmp_path: Path, flag: str) -> None:
    token = AddedToken("<x>", 300, **{flag: flag != "special"})
    tokenizer, path = made("python", added_tokens=[token]), tmp_path / "a.model"
    with pytest.raises(VocabularyError, match=r"cannot hold the flags of 1 added token \('<x>'\)"):
        tokenizer.save(path)
    tokenizer.save(path, lossy=True)
    assert loaded(path).added_tokens == (AddedToken("<x>", 300),)
    for suffix in (".json", ".pretok"):
        tokenizer.save(path.with_suffix(suffix))
        assert loaded(path.with_suffix(suffix)).added_tokens == (token,)


def test_a_saved_tokenizer_is_equal(tmp_path: Path) -> None:
    """Saving without `lossy` loses nothing, for random parts of a tokenizer."""
    random = seeded("losses")
    normalizers = [None, "NFC", NormalizerChain((Lowercase(),))]
    for _ in range(60):
        tokens = [
            AddedToken(f"<{n}>", 264 + n, *(random.random() < 0.3 for _ in range(5)))
            for n in range(random.randrange(3))
        ]
        parts = {name: PARTS[name][0] for name in PARTS if random.random() < 0.2}
        parts |= {"added_tokens": tokens, "normalizer": random.choice(normalizers)}
        tokenizer = made("python", preset=random.choice(["cl100k", "gpt2", "qwen2"]), **parts)
        for suffix in HELD:
            path = tmp_path / f"a{suffix}"
            try:
                tokenizer.save(path)
            except VocabularyError:
                continue
            again = bpe.load(path, tokenizer.preset if suffix == ".tiktoken" else None)
            again_parts, expected = again.to_spec(), tokenizer.to_spec()
            for name in ("preset", *PARTS):
                assert getattr(again_parts, name) == getattr(expected, name), (suffix, name)


def test_sentencepiece_models_hold_only_their_own_added_tokens(tmp_path: Path) -> None:
    pieces = [UNKNOWN, *BYTES, *normal("▁", "a", "▁a")]
    ours = bpe.load(write(tmp_path / "a.model", model(pieces, [(3, 2), (35, 1)])))
    options: dict[str, Any] = {"normalizer": ours.normalizer, "decoder": ours.decoder}
    for tokens in ((*ours.added_tokens, AddedToken("a", ours.token_id("a"))), ()):
        other = bpe.Tokenizer(ours.vocabulary, ours.pre_tokenizer, added_tokens=tokens, **options)
        with pytest.raises(VocabularyError, match="cannot hold the added token"):
            other.save(tmp_path / "b.model")
