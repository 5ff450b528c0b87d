"""A peer in a virtual environment of its own: tokenizers 1.0, replaced here by a small package."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_peers import QUICK, TEXT, nothing, small_subject
from pretok_bench import venvs
from pretok_bench.encode import ARRAYS, LISTS
from pretok_bench.latency import bench_latency
from pretok_bench.matrix import bench_passes
from pretok_bench.peer import OTHER_ANSWER
from pretok_bench.peers import PEERS, installed
from pretok_bench.peers.tokenizers_1 import MODULE, REQUIREMENT, Tokenizers1
from pretok_bench.timing import OURS, Settings

LENIENT = Settings(rounds=2, is_strict=False)
PACKAGE = '''
"""A package with the calls of tokenizers 1.0 and the ids of bpe, plus those in MORE."""

import numpy
import bpe

__version__ = "1.0.0-rc.3"
MORE = []

class Encoding:
    def __init__(self, ids):
        self.ids = ids
        self.ids_array = numpy.array(ids, numpy.uint32)

class Tokenizer:
    @staticmethod
    def from_file(path):
        tok = Tokenizer()
        tok.real = bpe.load(path)
        return tok

    def encode(self, text, *, add_special_tokens=True):
        assert add_special_tokens is False
        return Encoding(self.real.encode(text) + MORE)

    def encode_batch(self, texts, *, add_special_tokens=True):
        return [self.encode(text, add_special_tokens=add_special_tokens) for text in texts]

    def decode(self, ids, skip_special_tokens=True):
        return self.real.decode(ids)
'''


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let pip take packages from a folder only, and keep environments in another one."""
    monkeypatch.setenv(venvs.VARIABLE, str(tmp_path / "venvs"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield
    sys.modules.pop(MODULE, None)


def wheel(folder: Path, version: str = "1.0.0rc3") -> None:
    """Write a wheel of a package called tokenizers."""
    info = f"tokenizers-{version}.dist-info"
    with zipfile.ZipFile(folder / f"tokenizers-{version}-py3-none-any.whl", "w") as file:
        file.writestr("tokenizers/__init__.py", PACKAGE)
        file.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tokenizers\nVersion: {version}\n"
        )
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


def test_a_package_in_an_environment_is_compared_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel(tmp_path)
    peer = Tokenizers1()
    before = sys.modules.get("tokenizers")
    assert peer.version() is None
    assert peer.missing() == ""
    assert peer.version() == "1.0.0-rc.3"
    assert sys.modules.get("tokenizers") is before
    site = next((tmp_path / "venvs" / "tokenizers-1").glob("[lL]ib/**/site-packages"))
    assert Path(sys.modules[MODULE].__file__ or "").is_relative_to(site)
    assert capfd.readouterr() == ("", "")  # a pipe shows no progress

    # The environment is used again.
    del sys.modules[MODULE]
    monkeypatch.setattr(subprocess, "run", None)
    assert Tokenizers1().missing() == ""

    subject = small_subject(tmp_path)
    found = list(bench_passes("t", TEXT, subject, [ARRAYS, LISTS], [peer], QUICK, nothing))
    found += bench_latency(subject, [peer], QUICK, nothing)
    assert all(one.peers() == ["tokenizers-1"] for one in found)

    sys.modules[MODULE].MORE.append(7)
    found = list(bench_passes("t", TEXT, subject, [ARRAYS, LISTS], [peer], LENIENT, nothing))
    for one in (*found, next(bench_latency(subject, [peer], LENIENT, nothing))):
        assert list(one.runs) == [OURS]
        assert one.absent["tokenizers-1"].startswith(OTHER_ANSWER)


def test_a_package_that_pip_cannot_install_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path, "0.9")
    why = f"pip cannot install {REQUIREMENT}: No matching distribution found for {REQUIREMENT}"
    assert installed(["tokenizers-1"]) == ([], {"tokenizers-1": why})
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # a port without a server
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    why = f"pip cannot install {REQUIREMENT}: the package index cannot be reached ("
    assert Tokenizers1().missing().startswith(why)
    (tmp_path / "file").touch()
    monkeypatch.setenv(venvs.VARIABLE, str(tmp_path / "file"))
    assert Tokenizers1().missing().startswith("no environment can be made in ")


def test_only_a_named_peer_gets_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venvs, "site_packages", None)
    peers, missing = installed()
    assert "tokenizers-1" in PEERS
    assert "tokenizers-1" not in {*missing, *(peer.name for peer in peers)}


def test_environments_are_in_a_temporary_folder_that_other_processes_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(venvs.VARIABLE, "")
    folder = venvs._folder()
    assert folder.is_dir()
    assert venvs._folder() == folder
    command = [sys.executable, "-c", f"import os; print(os.environ[{venvs.VARIABLE!r}])"]
    assert subprocess.check_output(command, text=True).strip() == str(folder)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_the_progress(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    with venvs._told("installing x"):
        shown: Any = "installing x ..." if is_terminal else ""
        assert capsys.readouterr() == ("", shown)
    assert capsys.readouterr() == ("", "\r\x1b[K" if is_terminal else "")
