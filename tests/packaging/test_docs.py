"""Every example in the documentation is run, and says what really happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import bpe
import pretok
from paths import ROOT

# What needs libraries that only some have, and has no examples, is imported by its own tests.
OPTIONAL = ("fuzz", "bench", "cli", "__main__", "generate", "_core")
MODULES = sorted(
    found.name
    for package in (pretok, bpe)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.partition(".")[2].removeprefix("unicode.").startswith(OPTIONAL)
)


pytestmark = pytest.mark.usefixtures("own_registry")


def run(test: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    out: list[str] = []
    runner.run(test, out=out.append)
    assert runner.failures == 0, "".join(out)


def examples_of(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("module", ["pretok", "bpe", *MODULES])
def test_examples_in_docstrings(module: str) -> None:
    for test in examples_of(module):
        run(test)


def test_there_are_examples() -> None:
    assert len(MODULES) > 30
    with_examples = [module for module in MODULES if examples_of(module)]
    assert {
        "pretok.pretokenizer",
        "pretok.registry",
        "pretok.rules.run",
        "pretok.stream",
        "bpe.tokenizer",
        "bpe.vocabulary",
        "bpe.merge",
        "bpe.decode",
        "bpe.normalize",
    } <= set(with_examples)


PUBLIC = [(package, name) for package in (pretok, bpe) for name in package.__all__
          if name != "__version__"]  # fmt: skip
DOCUMENTED_IN_FULL = ("pretok.pretokenizer", "pretok.stream", "bpe.tokenizer", "bpe.decode",
                      "bpe.vocabulary")  # fmt: skip


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_what_is_public_is_documented(package: ModuleType, name: str) -> None:
    value = getattr(package, name)
    if isinstance(value, type) or callable(value):
        assert value.__doc__, name
        first = value.__doc__.splitlines()[0]
        assert first.strip().endswith((".", ":")) or value.__doc__.count("\n") > 1, first
        for method, member in vars(value).items() if isinstance(value, type) else ():
            if not method.startswith("_") and value.__module__ in DOCUMENTED_IN_FULL:
                of_a_tuple = isinstance(value, type) and issubclass(value, tuple)
                assert member.__doc__ or of_a_tuple, f"{name}.{method}"


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


def test_the_readme_has_examples() -> None:
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("no README.md: the tests were taken out of the repository")
    assert sum(">>>" in code for _, code in python_blocks(readme)) >= 2
