"""Run every example of docstrings and pages."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import bpe
import pretok
from paths import ROOT

# What needs libraries that only some have, and has no examples, is imported by its own tests.
OPTIONAL = ("fuzz", "bench", "cli", "__main__", "_core")
MODULES = sorted(
    module.name
    for package in (pretok, bpe)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.partition(".")[2].removeprefix("unicode.").startswith(OPTIONAL)
)


def has_examples(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return ">>> " in Path(spec.origin).read_text(encoding="utf-8")


pytestmark = pytest.mark.usefixtures("own_registry")


def run(test: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    out: list[str] = []
    runner.run(test, out=out.append)
    assert runner.failures == 0, "".join(out)


@pytest.mark.parametrize(
    "module", [name for name in ("pretok", "bpe", *MODULES) if has_examples(name)]
)
def test_examples_in_docstrings(module: str) -> None:
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    assert any(test.examples for test in tests)
    for test in tests:
        run(test)


def test_public_names_are_sorted_and_there() -> None:
    for package in (pretok, bpe):
        assert len(set(package.__all__)) == len(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)
    assert {"Tokenizer", "Vocabulary", "AddedToken", "DecodeStream", "BpeError"} <= set(bpe.__all__)
    assert {"get", "presets", "register", "Preset", "Run", "Contraction", "Spaces", "CasedWord",
            "PreTokenizer", "Step", "Stream", "backend"} <= set(pretok.__all__)  # fmt: skip


def pages() -> list[Path]:
    return [path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"]


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Return (line, code) of each block that is marked as Python."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start()) + 1, found.group(1))
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)
    ]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_examples_on_pages(page: Path) -> None:
    # One reader goes through the page: a later block may use what an earlier one made.
    names: dict[str, object] = {}
    for line, code in python_blocks(page):
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            assert test.examples
            runner = doctest.DocTestRunner()
            out: list[str] = []
            runner.run(test, out=out.append, clear_globs=False)
            assert runner.failures == 0, "".join(out)
            names = test.globs
        else:
            exec(compile(code, f"{page.name}:{line}", "exec"), names)
