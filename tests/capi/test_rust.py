"""The Rust crate in cpp/rust: its tests, its documentation and its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from c_library import CLibrary
from paths import CPP, ROOT
from support import FULL

CRATE = CPP / "rust"


def cargo(folder: Path, target: Path, *arguments: str, **variables: str) -> None:
    """Run cargo in `folder` without a network; skip the test if a tool is not installed."""
    for tool in ("cargo", "c++", "ar"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTDOCFLAGS": "-D warnings",
                   "CARGO_PROFILE_DEV_DEBUG": "0", **variables}  # fmt: skip
    command = ["cargo", *arguments, "--offline"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "warning" not in done.stderr, done.stderr


def packaged(folder: Path) -> Path:
    """Package the crate as its README says, unpack the package in `folder`, and return its path."""
    crate = folder / "crate"
    shutil.copytree(CRATE, crate, ignore=shutil.ignore_patterns("target", "native", "LICENSE"))
    amalgamate = [sys.executable, CPP / "amalgamate.py", crate / "native"]
    subprocess.run([*map(str, amalgamate)], check=True)
    shutil.copy(ROOT / "LICENSE", crate)
    cargo(crate, folder / "package", "package", "--allow-dirty", "--no-verify", "--locked")
    (package,) = (folder / "package" / "package").glob("*.crate")
    subprocess.run(["tar", "-xzf", package], cwd=folder, check=True)
    return folder / package.name.removesuffix(".crate")


def compiler_of(c_library: CLibrary, folder: Path) -> str:
    """Return a command for CXX that copies the object of `c_library` in place of compiling again.

    It accepts only the call of build.rs.
    """
    script = folder / "compiler"
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '"-std=c++17 -pthread "*" -c "*/native/pretok.cpp" -o "*/pretok.o) ;;\n'
        '*) echo "unexpected arguments: $*" >&2; exit 1 ;;\n'
        "esac\n"
        "for last; do :; done\n"
        f'cp "{c_library.path.parent}/pretok.o" "$last"\n'
    )
    script.chmod(0o755)
    return str(script)


def test_the_package_passes_its_tests_and_its_documentation_builds(
    c_library: CLibrary, tmp_path: Path
) -> None:
    package = packaged(tmp_path)
    (tmp_path / "examples").symlink_to(CPP / "examples")
    compiler = compiler_of(c_library, tmp_path)
    cargo(package, tmp_path / "target", "test", CXX=compiler)
    cargo(package, tmp_path / "target", "doc", "--no-deps", CXX=compiler)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="takes a minute; set PRETOK_FULL=1")
def test_the_crate_compiles_the_library(tmp_path: Path) -> None:
    cargo(CRATE, tmp_path, "test", "--tests", "--locked")


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
