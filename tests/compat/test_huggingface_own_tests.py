"""The tests of tokenizers pass with the stand-in in place of its classes.

Set PRETOK_TOKENIZERS_SDIST to the folder `bindings/python` of tokenizers' unpacked source package.
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
pytest.importorskip("tokenizers", reason="the engine is not installed")


@pytest.mark.skipif(not SDIST, reason="PRETOK_TOKENIZERS_SDIST is not set")
def test_no_test_of_tokenizers_fails() -> None:
    expected = _passed()
    assert len(expected) > 100
    assert expected - _passed("-p", "huggingface_in_place") == set()


def _passed(*options: str) -> set[str]:
    """Return the names of the tests that pass; many need files that only their network has."""
    paths = os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rp", "-p", "no:cacheprovider", *options, *SUITES],
        cwd=Path(SDIST),
        env={**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = result.stdout.splitlines()
    return {line.split()[1] for line in lines if line.startswith("PASSED ")}
