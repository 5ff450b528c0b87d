"""Tests of Hugging Face's tokenizers that pass with its classes also pass with the stand-in.

Set PRETOK_TOKENIZERS_SDIST to the folder `bindings/python` of its unpacked source package.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paths import HELPERS

SDIST = os.environ.get("PRETOK_TOKENIZERS_SDIST", "")
SUITES = ("tests/bindings", "tests/implementations", "tests/test_freethreaded.py")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")


@pytest.mark.skipif(not SDIST, reason="needs PRETOK_TOKENIZERS_SDIST")
def test_no_test_of_tokenizers_fails() -> None:
    expected = _passed()
    assert len(expected) > 100
    assert expected - _passed("-p", "huggingface_in_place") == set()


def _passed(*options: str) -> set[str]:
    """Return the names of the tests that pass; many fail because they would download files."""
    paths = os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")])
    suites = [suite for suite in SUITES if Path(SDIST, suite).exists()]  # 0.22.2 lacks the last
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rp", "-p", "no:cacheprovider", *options, *suites],
        cwd=Path(SDIST),
        env={**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = result.stdout.splitlines()
    return {line.split()[1] for line in lines if line.startswith("PASSED ")}
