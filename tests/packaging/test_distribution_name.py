"""Check that nothing tells anybody, or pip, to install the distribution `pretok` of an index.

That distribution of PyPI is another project, with the same import name. Ours is `pretok-bpe`. On
npm, `pretok` is ours.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OURS = "pretok-bpe"
TAKEN = "pretok"
# The name, unless it is a part of a longer name or path.
_NAME = rf"(?<![\w./-]){TAKEN}(?![\w/-])(?!\.\w)"
# The words of a command up to its end: a shell operator, a comment, a closing quote or the line.
_WORDS = r"[^&|;`#\n]*?"
PATTERNS = {
    # `pip install X`, also with options and other packages between; the name may begin a new line
    # of prose. In JavaScript, `npm install X` is right. "reinstall X" is advice to do the same.
    "install": rf"(?<!npm )install\s+(?:-\S+\s+)*['\"]?{_NAME}",
    "pip": rf"\bpip\d? install {_WORDS}{_NAME}",
    # Other installers: `uv add X`, `poetry add X`, `pipx run X`, `uvx X`, `uv run --with X`.
    "add": rf"\b(?:uv|poetry|pdm|hatch|rye|pixi) add {_WORDS}{_NAME}",
    "run": rf"\b(?:pipx run|uvx|uv tool run) {_WORDS}{_NAME}",
    "option": rf"--with[ =]{_NAME}",
    "conda": rf"\b(?:conda|mamba|micromamba) (?:install|create) {_WORDS}{_NAME}",
    # A requirement with extras, a version or an address: `X[fuzz]`, `X>=1`, `X @ https://...`.
    "requirement": rf"{_NAME} ?(?:\[[a-z, ]+\]|(?:[=~!<>]=|===)\d| @ )",
    # A look-up of the installed distribution, which would find the other project.
    "metadata": rf"\b(?:version|distribution|metadata|requires|files)\(['\"]{TAKEN}['\"]\)",
    "address": rf"(?:pypi\.org/(?:project|pypi|simple)|pypistats\.org/packages)/{TAKEN}(?![\w-])",
}
"""Expressions of texts that name the other project as something to install, or look it up."""

BAD = (
    f"pip install {TAKEN}",
    f"    pip install --upgrade {TAKEN}",
    f"`pip install '{TAKEN}[fuzz]'`",
    f"run pip3 install numpy {TAKEN} && x",
    f"python -m pip install\n{TAKEN} from PyPI",
    f"reinstall {TAKEN} with a compiler",
    f"uv add {TAKEN}",
    f"uvx {TAKEN} split",
    f"uv run --with {TAKEN} x.py",
    f"pipx run {TAKEN} split",
    f"poetry add {TAKEN}",
    f"conda install -c conda-forge {TAKEN}",
    f'test = ["{TAKEN}[fuzz,hf]"]',
    f"{TAKEN}==0.1.0",
    f"{TAKEN}>=0.1",
    f"{TAKEN} @ file:///x",
    f'version("{TAKEN}")',
    f"https://pypi.org/project/{TAKEN}/",
)
GOOD = (
    f"pip install {OURS}",
    f"pip install '{OURS}[fuzz]' {OURS}==0.1.0",
    f"pip install . && {TAKEN} split --preset qwen2",
    f"pip install '.[bench]'  # then run {TAKEN} bench",
    f"pip install --upgrade pip\n{TAKEN} split",
    f"pip install ./{TAKEN} /src/{TAKEN}/",
    f"npm install {TAKEN}",
    f"import {TAKEN}; {TAKEN}.get(name) == {TAKEN}.get(other)",
    f"https://pypi.org/project/{OURS}/",
)


def found(text: str) -> list[str]:
    """Return the names of the patterns that `text` has, each with the place in the text."""
    return [
        f"{name}: {match[0]!r}"
        for name, pattern in PATTERNS.items()
        for match in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize("text", BAD)
def test_the_search_finds(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", GOOD)
def test_the_search_does_not_find(text: str) -> None:
    assert found(text) == []


def files() -> Iterator[Path]:
    """Yield the files of the repository; skip the test where git does not know them."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git repository")
    for name in done.stdout.decode().split("\0")[:-1]:
        if ROOT.joinpath(name).is_file():
            yield ROOT / name


def test_no_file_names_the_other_project_as_something_to_install() -> None:
    problems = []
    count = 0
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        count += 1
        problems += [f"{path.relative_to(ROOT)}: {problem}" for problem in found(text)]
    assert count > 500
    assert problems == []


def requirements(value: Any) -> Iterator[str]:
    """Yield every string of the lists in `value`, a table of TOML: all requirements are there."""
    if isinstance(value, dict):
        for item in value.values():
            yield from requirements(item)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield re.split(r"[\[<>=~! ;@]", item.strip(), maxsplit=1)[0]


def test_no_requirement_is_the_other_project() -> None:
    projects = [path for path in files() if path.name == "pyproject.toml"]
    assert len(projects) == 2
    for path in projects:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for part in ("build-system", "project", "dependency-groups"):
            assert TAKEN not in requirements(table.get(part, {})), path
    assert OURS in requirements(tomllib.loads(projects[0].read_text(encoding="utf-8"))["project"])
    for path in files():
        if path.match("*requirements*.txt"):
            lines = path.read_text(encoding="utf-8").splitlines()
            assert TAKEN not in requirements(lines), path


def test_the_installed_distribution_has_our_name() -> None:
    assert metadata(OURS)["Name"] == OURS
    urls = dict(url.split(", ") for url in metadata(OURS).get_all("Project-URL") or ())
    assert urls["Homepage"].endswith(f"/{OURS}/")
    assert urls["npm"].endswith(f"/{TAKEN}")
