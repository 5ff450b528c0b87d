"""Promises of .github/SECURITY.md that no other test checks."""

from __future__ import annotations

import ast
import doctest
import re
import socket
import sys
from pathlib import Path

import pytest

import bpe
import pretok
from bpe.formats import files
from bpe.vocabulary import ID_LIMIT
from paths import ROOT

PAGE = ROOT / ".github" / "SECURITY.md"
NETWORK = {"http", "urllib", "socket", "ssl", "ftplib", "asyncio", "requests", "httpx"}
# Modules that may run code while they read data.
RUNS_DATA = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


def page() -> str:
    if not PAGE.exists():
        pytest.skip("no SECURITY.md: the tests were taken out of the repository")
    return PAGE.read_text(encoding="utf-8")


def test_the_examples_of_the_page() -> None:
    found = re.findall(r"^```python\n(.*?)^```", page(), re.M | re.S)
    assert found
    for code in found:
        test = doctest.DocTestParser().get_doctest(code, {}, PAGE.name, str(PAGE), 0)
        assert len(test.examples) >= 3
        out: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        runner.run(test, out=out.append)
        assert runner.failures == 0, "".join(out)


def test_limits_are_those_of_the_code() -> None:
    text = page()
    assert f"2^24 ({ID_LIMIT:,})" in text
    assert ID_LIMIT == 1 << 24
    assert f"{files.MAX_BYTES >> 20} MiB" in text


def test_the_links_of_the_page_lead_to_files() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page()):
        assert (PAGE.parent / link).exists(), link


def imports_of(source: str) -> set[str]:
    """Return the top-level names of all modules that a source imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def modules() -> list[Path]:
    roots = (Path(package.__path__[0]) for package in (pretok, bpe))
    # Leave out benchmarks and fuzzing, which run the engines of other projects.
    return [path for root in roots for path in root.rglob("*.py")
            if not {"bench", "fuzz"} & set(path.parts)]  # fmt: skip


def test_few_modules_import_network_libraries_and_none_imports_pickle() -> None:
    assert len(modules()) > 60
    networked = []
    for path in modules():
        imports = imports_of(path.read_text(encoding="utf-8"))
        assert not imports & RUNS_DATA, path
        if imports & NETWORK:
            networked.append(path.name)
    # server.py serves the page of `pretok page` on the loopback address. async_calls.py takes the
    # running loop of asyncio, encode_stream.py its threads, and both open nothing.
    assert sorted(networked) == ["async_calls.py", "encode_stream.py", "fetch.py", "server.py"]


def test_loading_opens_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection is opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    for variable in ("TIKTOKEN_CACHE_DIR", "HF_HOME", "XDG_CACHE_HOME", "PRETOK_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(LookupError):
        bpe.load("somebody/a-model-that-is-nowhere")
    tok = bpe.train(["some text"], vocab_size=258, preset="gpt2")
    tok.save(tmp_path / "tokenizer.json")
    assert bpe.load(tmp_path / "tokenizer.json").encode("some") == tok.encode("some")


class Harmful:
    """Unpickling it would call `sys.exit`."""

    def __reduce__(self) -> tuple[object, ...]:
        return sys.exit, ()


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_pickle_is_refused_without_unpickling(tmp_path: Path, protocol: int) -> None:
    import pickle

    path = tmp_path / "tokenizer.bin"
    path.write_bytes(pickle.dumps(Harmful(), protocol=protocol))
    with pytest.raises(bpe.UnsupportedError, match="pickle"):
        bpe.load(path, preset="gpt2")
