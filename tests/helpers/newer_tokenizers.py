"""Install tokenizers 1.0 in a folder of its own, and run code beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bpe
from command_line import environment
from paths import HELPERS

VERSION = "1.0.0rc3"
PIP = ("--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--retries=1",
       "--timeout=10")  # fmt: skip
PACKAGE_FOLDER = Path(bpe.__file__).parents[1]


def installed(folder: Path) -> Path:
    """Return a folder with tokenizers 1.0, which is made if `folder` lacks it.

    Skips the test if the package cannot be downloaded; fails it if PRETOK_REQUIRE_FRIENDS=1.
    """
    made = folder / f"tokenizers-{VERSION}"
    if made.exists():  # another worker has made it
        return made
    own = folder / f"{made.name}-{os.getpid()}"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *PIP, f"--target={own}", f"tokenizers=={VERSION}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        reason = f"tokenizers {VERSION} cannot be installed: {done.stderr.strip()[-300:]}"
        if os.environ.get("PRETOK_REQUIRE_FRIENDS") == "1":
            pytest.fail(f"PRETOK_REQUIRE_FRIENDS=1, but {reason}")
        pytest.skip(reason)
    try:
        own.rename(made)
    except OSError:  # another worker was faster
        return own
    return made


def beside(folder: Path | None) -> dict[str, str]:
    """Return an environment with the tokenizers in `folder`; with None, without any tokenizers."""
    first = folder if folder is not None else _blocking()
    return environment(PYTHONPATH=os.pathsep.join(map(str, (first, PACKAGE_FOLDER, HELPERS))))


@cache
def _blocking() -> Path:
    """Return a folder in which `tokenizers` cannot be imported."""
    return HELPERS / "no_tokenizers"


def run(folder: Path | None, *arguments: str, text: str = "") -> Any:
    """Return the JSON that Python prints with these arguments; `beside` explains `folder`."""
    done = subprocess.run(
        [sys.executable, *arguments], env=beside(folder), input=text, capture_output=True,
        text=True, check=False, cwd=os.sep,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
