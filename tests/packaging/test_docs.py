"""Run every example of docstrings and pages."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shutil
from base64 import b64encode
from functools import cache
from pathlib import Path

import pytest

import bpe
import pretok
from paths import ROOT
from vocabularies import installed_ranks

# These modules need optional libraries, and have no examples; their own tests import them.
OPTIONAL = ("fuzz", "cli", "__main__", "_core")
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


def test_public_names_are_unique_and_exist() -> None:
    for package in (pretok, bpe):
        assert len(set(package.__all__)) == len(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)
    assert {"Tokenizer", "Vocabulary", "AddedToken", "DecodeStream", "BpeError"} <= set(bpe.__all__)
    assert {"get", "presets", "register", "Preset", "Run", "Contraction", "Spaces", "CasedWord",
            "PreTokenizer", "Step", "Stream", "backend"} <= set(pretok.__all__)  # fmt: skip


def pages() -> list[Path]:
    root = [path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"]
    others = [ROOT / ".github" / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [*root, *(path for path in others if path.exists())]  # the sdist has no .github


@pytest.fixture
def files(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with the files that the examples of the page open; return the folder."""
    text = page.read_text(encoding="utf-8")
    for name in ("cl100k_base", "o200k_base"):
        if f'bpe.load("{name}")' in text or f'get_encoding("{name}")' in text:
            (tmp_path / f"{name}.tiktoken").write_bytes(rank_file(name))
    if "tokenizer.model" in text:
        package = pytest.importorskip("mistral_common", reason="it contains the tokenizer.model")
        model = Path(package.__file__).parent / "data" / "tokenizer.model.v1"
        shutil.copy(model, tmp_path / "tokenizer.model")
    if ">>> from transformers import" in text:
        pytest.importorskip("transformers", reason="transformers is not installed")
    if "huggingface as hf" in text:
        pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    if "sample.txt" in text:
        shutil.copy(ROOT / "docs" / "tutorial" / "sample.txt", tmp_path)
    monkeypatch.setenv("PRETOK_VOCAB_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def rank_file(name: str) -> bytes:
    """Return the rank file of a tiktoken vocabulary, as it is published."""
    ranks = sorted(installed_ranks(name).items(), key=lambda item: item[1])
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for token, rank in ranks)


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if ">>> " in page.read_text(encoding="utf-8")],
    ids=lambda page: page.stem,
)
def test_pages_as_doctest_runs_them(page: Path, files: Path) -> None:
    """`python -m doctest PAGE` knows no fences: it needs an empty line after each result."""
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        assert code.startswith(">>> "), "doctest does not run code without a prompt"
    failed, count = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (failed, count > 0) == (0, True)
