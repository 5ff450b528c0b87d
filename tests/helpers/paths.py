"""Paths of the repository, its parts, and the folder of shared texts."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
CPP = ROOT / "cpp"
TESTS = ROOT / "tests"
CASES = TESTS / "cases"
REGRESSIONS = TESTS / "regressions.toml"
HELPERS = TESTS / "helpers"
EXAMPLES = TESTS / "examples"
EXAMPLE_PLUGIN = TESTS / "example_plugin"


def _shared_folder() -> Path | None:
    setting = os.environ.get("PRETOK_SHARED")
    folder = Path(setting) if setting else ROOT.parent / "shared"
    return folder if folder.is_dir() else None


SHARED: Path | None = _shared_folder()
"""The folder of texts, golden cases and vocabularies that is not part of the repository."""


def shared(*parts: str) -> Path:
    """Return the path of a file or folder under SHARED; skip the test if it does not exist."""
    if SHARED is None:
        pytest.skip("no shared folder: set PRETOK_SHARED, or put it next to the repository")
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared folder has no {'/'.join(parts)}")
    return path


def generator(name: str) -> ModuleType:
    """Import a generator, cpp/generate/NAME.py, which wheels leave out."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # last, because the tests must import the installed package
    return importlib.import_module(f"cpp.generate.{name}")


def repository_module(*parts: str) -> ModuleType:
    """Import a module of the repository by its path."""
    spec = importlib.util.spec_from_file_location("_".join(parts), ROOT.joinpath(*parts))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
