"""For mypy, the public names have their documented types."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pretok

PROGRAM = Path(__file__).with_name("typing_examples.py")


def test_a_users_program_has_the_types_it_expects(tmp_path: Path) -> None:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed; pip install '.[dev]'")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    # Outside the repository, mypy finds the installed package and its py.typed.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache"]
    done = subprocess.run(
        [*command, program.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Success: no issues found in 1 source file" in done.stdout


def test_the_package_says_that_it_is_typed() -> None:
    folder = Path(pretok.__file__).parent
    assert (folder / "py.typed").is_file()
    if any(folder.glob("_core*.so")) or any(folder.glob("_core*.pyd")):
        assert (folder / "_core.pyi").is_file()
