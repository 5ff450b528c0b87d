"""Every example in the documentation is run, and says what really happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import pretok
from support import REPOSITORY

# What needs libraries that only some have, and has no examples, is imported by its own tests.
OPTIONAL = ("fuzz", "bench", "cli", "__main__", "generate", "_core")
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(pretok.__path__, "pretok.")
    if not found.name.removeprefix("pretok.").removeprefix("unicode.").startswith(OPTIONAL)
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


@pytest.mark.parametrize("module", ["pretok", *MODULES])
def test_examples_in_docstrings(module: str) -> None:
    for test in examples_of(module):
        run(test)


def test_there_are_examples() -> None:
    assert len(MODULES) > 12
    with_examples = [module for module in MODULES if examples_of(module)]
    assert {"pretok.pretokenizer", "pretok.registry", "pretok.rules", "pretok.stream"} <= set(
        with_examples
    )


PUBLIC = [name for name in pretok.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_is_documented(name: str) -> None:
    value = getattr(pretok, name)
    if isinstance(value, type) or callable(value):
        assert value.__doc__, name
        first = value.__doc__.splitlines()[0]
        assert first.strip().endswith((".", ":")) or value.__doc__.count("\n") > 1, first
        for method, member in vars(value).items() if isinstance(value, type) else ():
            if not method.startswith("_") and callable(member) and value.__module__ in (
                "pretok.pretokenizer", "pretok.stream"
            ):  # fmt: skip
                assert member.__doc__, f"{name}.{method}"


def test_public_names_are_sorted_and_there() -> None:
    assert len(set(pretok.__all__)) == len(pretok.__all__)
    assert all(hasattr(pretok, name) for name in pretok.__all__)
    assert {"get", "presets", "register", "Preset", "Run", "Contraction", "Spaces", "CasedWord",
            "PreTokenizer", "Step", "Stream", "backend"} <= set(pretok.__all__)  # fmt: skip


def pages() -> list[Path]:
    return [path for path in sorted(REPOSITORY.glob("*.md")) if path.name != "CHANGELOG.md"]


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
    readme = REPOSITORY / "README.md"
    if not readme.exists():
        pytest.skip("no README.md: the tests were taken out of the repository")
    assert sum(">>>" in code for _, code in python_blocks(readme)) >= 2
