"""Fixtures of the tests of bpe.compat."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


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
