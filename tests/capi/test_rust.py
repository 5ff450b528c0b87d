"""The Rust crate in cpp/rust: its tests, its documentation and its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paths import CPP, ROOT

CRATE = CPP / "rust"


def cargo(target: Path, *arguments: str) -> None:
    """Run cargo without a network; skip the test if a tool is not installed."""
    for tool in ("cargo", "c++", "ar"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTDOCFLAGS": "-D warnings"}
    command = ["cargo", *arguments, "--offline", "--locked"]
    done = subprocess.run(
        command, cwd=CRATE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "warning" not in done.stderr, done.stderr


def test_the_crate_passes_its_tests_and_its_documentation_builds(tmp_path: Path) -> None:
    cargo(tmp_path, "test")
    cargo(tmp_path, "doc", "--no-deps")


def test_the_crate_has_the_version_of_the_project() -> None:
    cmake = (CPP / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(pretok VERSION ([\d.]+)", cmake)
    assert version is not None
    for name in ("Cargo.toml", "Cargo.lock"):
        text = (CRATE / name).read_text(encoding="utf-8")
        assert re.findall(r'^version = "(\d+\.\d+\.\d+)"', text, re.MULTILINE) == [version[1]]


def test_the_documentation_names_the_crate() -> None:
    text = (ROOT / "docs" / "how-to" / "cpp.md").read_text(encoding="utf-8")
    assert "cpp/rust" in text
