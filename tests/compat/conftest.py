"""Fixtures of the tests of bpe.compat."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import huggingface_pairs as pairs
import newer_tokenizers
import transformers_calls as calls


@pytest.fixture
def tok(tmp_path: Path) -> Any:
    """Return a small tokenizer, made without bpe's patch of transformers."""
    return calls.make(pairs.base(), {"pad_token": "e"}, tmp_path)


@pytest.fixture
def plain(tok: Any) -> Any:
    """Return `tok`, for tests that compare plain calls with patched ones."""
    return tok


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that gets an item for each tokenizer that is read as a whole."""
    state = importlib.import_module("bpe.compat.huggingface.state")
    seen: list[Any] = []
    read = state._engine_of

    def counted(real: Any) -> Any:
        seen.append(real)
        return read(real)

    monkeypatch.setattr(state, "_engine_of", counted)
    return seen


@pytest.fixture(scope="session")
def tokenizers_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tokenizers 1.0, for the PYTHONPATH of another process."""
    # Workers of pytest-xdist share the parent folder.
    return newer_tokenizers.installed(tmp_path_factory.getbasetemp().parent)
