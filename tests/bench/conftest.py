"""The fixture `call` runs the benchmark instead of the command `pretok`."""

from __future__ import annotations

import pytest

from command_line import Call, caller
from pretok_bench.commands import main


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that runs `main` in this process; returns its status, output and errors."""
    return caller(monkeypatch, capsys, main)
