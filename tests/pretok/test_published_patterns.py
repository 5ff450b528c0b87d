"""Patterns and aliases equal those of the installed tiktoken."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import pretok

PRESET_OF_ENCODING = {
    "r50k_base": "r50k",
    "p50k_base": "r50k",
    "p50k_edit": "r50k",
    "cl100k_base": "cl100k",
    "o200k_base": "o200k",
    "o200k_harmony": "o200k",
}


@pytest.fixture
def openai_public(monkeypatch: pytest.MonkeyPatch) -> Any:
    """tiktoken's list of encodings, without their vocabularies, which it would download."""
    module = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    monkeypatch.setattr(module, "load_tiktoken_bpe", lambda *_, **__: {})
    return module


@pytest.mark.parametrize("encoding", PRESET_OF_ENCODING)
def test_pattern_is_the_published_one(openai_public: Any, encoding: str) -> None:
    preset = pretok.get(encoding).preset
    assert preset.name == PRESET_OF_ENCODING[encoding]
    assert preset.engine == "tiktoken"
    assert preset.pattern == getattr(openai_public, encoding)()["pat_str"]


def test_every_encoding_of_tiktoken_is_known(openai_public: Any) -> None:
    # tiktoken's "gpt2" has the pattern of r50k. pretok's "gpt2" has the pattern of GPT-2's release.
    # test_gpt2_and_r50k_split_alike tests that both split alike.
    assert set(openai_public.ENCODING_CONSTRUCTORS) == {*PRESET_OF_ENCODING, "gpt2"}


def test_gpt2_and_r50k_split_alike() -> None:
    gpt2, r50k = pretok.get("gpt2"), pretok.get("r50k")
    letters = "a1.' \n\u3000s"
    texts = ["".join(text) for size in range(6) for text in product(letters, repeat=size)]
    assert gpt2.split_batch(texts) == r50k.split_batch(texts)


def test_model_names_are_aliases_of_their_encodings() -> None:
    model = pytest.importorskip("tiktoken.model", reason="tiktoken is not installed")
    known = {name for preset in pretok.presets() for name in (preset.name, *preset.aliases)}
    checked = []
    for name, encoding in model.MODEL_TO_ENCODING.items():
        if name in known:
            wanted = PRESET_OF_ENCODING.get(encoding, encoding)
            assert pretok.get(name).preset.name == wanted, name
            checked.append(name)
    assert {"gpt-4", "gpt-4o", "text-embedding-3-small"} <= set(checked)
