"""Folders whose tokenizer_config.json adds tokens: ids equal those of Hugging Face's tokenizers."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import BpeError, Tokenizer, UnsupportedError, VocabularyWarning
from pretok.machine.backend import BackendName
from support import max_examples
from vocabulary_files import added, huggingface, write

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def folder(path: Path, *tokens: dict[str, Any], **changes: Any) -> Path:
    """Write a tokenizer.json, and a tokenizer_config.json with `tokens`."""
    listed = {str(token["id"]): {k: v for k, v in token.items() if k != "id"} for token in tokens}
    write(path / "tokenizer.json", huggingface(**changes))
    write(path / "tokenizer_config.json", {"bos_token": None, "added_tokens_decoder": listed})
    return path


def theirs(path: Path, *tokens: dict[str, Any]) -> Any:
    """Return a folder's tokenizers.Tokenizer, with `tokens` added as transformers adds them."""
    tokenizers = pytest.importorskip("tokenizers")
    live = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
    for token in sorted(tokens, key=lambda token: int(token["id"])):
        flags = {name: token[name] for name in FLAGS}
        live.add_tokens([tokenizers.AddedToken(token["content"], **flags)])
    return live


NEW = added(265, "<new>", special=False, lstrip=True)
OTHER = added(266, "other", special=False, single_word=True)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [added(264, "<|end|>")],
        [NEW],
        [OTHER, NEW],
        [added(264, "<|end|>"), NEW, OTHER],
        [added(264, "<|end|>", rstrip=True), NEW],
        [added(97, "a", special=False)],
        [added(97, "a"), NEW],
    ],
)
def test_tokens_of_the_config(
    tokens: list[dict[str, Any]], backend: BackendName, tmp_path: Path
) -> None:
    path = folder(tmp_path, *tokens)
    ours = bpe.load(path, backend=backend)
    live = theirs(path, *tokens)
    for text in ("ab <new>x other another other<|end|>  y", "<|end|><new> <new>", "aaa"):
        assert ours.encode(text, "allow") == live.encode(text).ids
    for suffix in (".pretok", ".json"):
        ours.save(tmp_path / f"saved{suffix}")
        assert bpe.load(tmp_path / f"saved{suffix}", backend=backend) == ours
    plain = bpe.load(path / "tokenizer.json", backend=backend)
    assert [token.content for token in plain.added_tokens] == ["<|end|>"]


@given(
    tokens=st.lists(
        st.builds(
            added,
            st.just(0),
            st.sampled_from(["<x>", " y", "ab", "abc", "<|end|>", "zz", "b"]),
            lstrip=st.booleans(),
            rstrip=st.booleans(),
            single_word=st.booleans(),
        ),
        max_size=5,
        unique_by=lambda token: token["content"],
    ),
    texts=st.lists(st.text("ab<x> yz|end>", max_size=20), max_size=10),
)
@settings(max_examples=max_examples(60))
def test_any_tokens(
    tokens: list[dict[str, Any]], texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    vocab = huggingface()["model"]["vocab"]
    next_id = 265
    for token in tokens:
        known = 264 if token["content"] == "<|end|>" else vocab.get(token["content"])
        token["id"] = next_id if known is None else known
        next_id += known is None
    path = folder(tmp_path_factory.mktemp("any"), *tokens)
    ours = bpe.load(path, backend="python")
    live = theirs(path, *tokens)
    for text in texts:
        assert ours.encode(text, "allow") == live.encode(text).ids


@pytest.mark.parametrize("known", list(product((False, True), repeat=3)))
def test_tokens_with_other_flags_in_the_two_files(
    known: tuple[bool, ...], backend: BackendName, tmp_path: Path
) -> None:
    # The <|END_OF_TURN_TOKEN|> of Cohere's Command R is special in one file only.
    names = ("special", "normalized", "rstrip")
    for number, flags in enumerate(product((False, True), repeat=3)):
        token, other = (added(264, "<End>", **dict(zip(names, each, strict=True)))
                        for each in (known, flags))  # fmt: skip
        path = tmp_path / str(number)
        path.mkdir()
        folder(path, other, added_tokens=[token], normalizer={"type": "NFC"})
        if known[1] and not flags[1]:
            with pytest.raises(UnsupportedError, match="says normalized=False of the added token"):
                bpe.load(path, backend=backend)
            continue
        ours = bpe.load(path, backend=backend)
        live = theirs(path, other)
        for text in ("a<End>  b", "<End><End>", "a <End>"):
            assert ours.encode(text, "allow") == live.encode(text).ids
        for ids in ([264], [97, 264, 98]):
            assert ours.decode(ids, skip_special=True) == live.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize(
    "flags",
    [{}, {"special": True}, {"special": False, "lstrip": True}, {"__type": "AddedToken"}],
)
def test_missing_flags_have_the_defaults_of_transformers(
    flags: dict[str, Any], tmp_path: Path
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = folder(tmp_path, {"id": 265, "content": "<new>", **flags})
    [ours] = (token for token in bpe.load(path).added_tokens if token.id == 265)
    known = {name: flag for name, flag in flags.items() if name in FLAGS}
    theirs = tokenizers.AddedToken("<new>", **known)
    assert {name: getattr(ours, name) for name in FLAGS} == {
        name: getattr(theirs, name) for name in FLAGS
    }


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (added(-1, "<new>"), "expected an id as the key"),
        (added(265, ""), "added_tokens_decoder.265.content is"),
        ({**NEW, "surprise": 1}, "added_tokens_decoder.265.surprise is 1"),
    ],
)
def test_invalid_entries_are_refused(token: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = folder(tmp_path, token)
    with pytest.raises(BpeError, match=message) as caught:
        bpe.load(path)
    assert str(caught.value).startswith(str(tmp_path))
    assert isinstance(bpe.load(path / "tokenizer.json"), Tokenizer)


@pytest.mark.parametrize(
    ("token", "id"), [(added(270, "<new>"), 265), (added(265, "<|end|>"), 264)]
)
def test_other_ids_are_those_of_the_library(token: dict[str, Any], id: int, tmp_path: Path) -> None:
    path = folder(tmp_path, token)
    match = f"not those in tokenizer_config.json: '.*' has the id {id}, not {token['id']}$"
    with pytest.warns(VocabularyWarning, match=match):
        ours = bpe.load(path)
    assert (
        ours.token_id(token["content"]) == theirs(path, token).token_to_id(token["content"]) == id
    )


def test_special_tokens_that_the_config_names(backend: BackendName, tmp_path: Path) -> None:
    path = folder(tmp_path, OTHER | {"id": 265})
    config = json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8"))
    # transformers adds the new tokens in this order: eos, pad, and the list of special tokens.
    config |= {"pad_token": "<pad>", "additional_special_tokens": ["ab", "other"]}
    config |= {"eos_token": {"__type": "AddedToken", "content": "<|end|>"}, "extra": ["<x>"]}
    write(path / "tokenizer_config.json", config)
    ours = bpe.load(path, backend=backend)
    assert ours.special_tokens == {"<|end|>": 264, "<pad>": 266, "ab": huggingface_id("ab")}
    live = theirs(path, OTHER | {"id": 265}, added(266, "<pad>"), added(267, "ab"))
    for text in ("other<pad>aab <|end|>", "<pad"):
        assert ours.encode(text, "allow") == live.encode(text).ids


def huggingface_id(text: str) -> int:
    id: int = huggingface()["model"]["vocab"][text]
    return id


def test_configs_without_tokens(tmp_path: Path) -> None:
    path = folder(tmp_path)
    whole = bpe.load(path, backend="python")
    write(path / "tokenizer_config.json", {"model_max_length": 1e30})
    assert bpe.load(path, backend="python") == whole
    write(path / "tokenizer_config.json", "{")
    with pytest.raises(BpeError, match=r"tokenizer_config.json: line 1 column 2"):
        bpe.load(path)
