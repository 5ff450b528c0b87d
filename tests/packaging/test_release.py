"""Check that all files have one version, and that the tests of wheels exist."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERSIONS = ROOT / ".ci" / "versions"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if not script.exists():
        pytest.skip("the sdist has no folder .ci")
    return subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=False
    )


def test_all_files_have_the_same_version() -> None:
    done = run(VERSIONS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == project()["project"]["version"] == version("pretok-bpe")


def copied(folder: Path) -> Path:
    """Copy the script and all that it reads to `folder`; return the script."""
    names = ("pyproject.toml", "cpp/CMakeLists.txt", "cpp/capi/pretok.h", "CHANGELOG.md")
    for name in (*names, ".ci/versions"):
        if not ROOT.joinpath(name).exists():
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ROOT.joinpath(name).read_bytes())
    return folder / ".ci" / "versions"


def test_a_release_needs_a_tag_a_date_and_equal_versions(tmp_path: Path) -> None:
    script = copied(tmp_path)
    number = project()["project"]["version"]
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(f"# Changes\n\n## {number} (unreleased)\n", encoding="utf-8")
    assert "expected the tag" in run(script, "--release", f"{number}").stderr
    assert "replace '(unreleased)'" in run(script, "--release", f"v{number}").stderr
    changes.write_text(f"# Changes\n\n## {number} (2026-12-01)\n", encoding="utf-8")
    assert run(script, "--release", f"v{number}").stdout == f"{number}\n"
    package = tmp_path / "cpp" / "wasm" / "package.json"
    package.parent.mkdir()
    package.write_text('{"version": "9.9.9"}', encoding="utf-8")
    done = run(script)
    assert done.returncode == 1
    assert "cpp/wasm/package.json: 9.9.9" in done.stderr


def test_the_tests_of_wheels_exist() -> None:
    command = project()["tool"]["cibuildwheel"]["test-command"].split()
    assert command[0] == "pytest"
    for path in command[1:]:
        assert ROOT.joinpath(path).exists(), path
